"""The table `[design]` of a model file: which parameters may change, and what is wanted."""

from typing import Annotated

from pydantic import Field

from onesided.files.schema_tables import MAX_ENTRIES, Name, Number, Table, Text

MOST_AIMS = 1000
TextList = Annotated[list[Text], Field(min_length=1, max_length=MOST_AIMS)]


class DesignTable(Table):
    """Variables with their bounds, goals and conditions, in the words of `onesided.design`."""

    variables: Annotated[
        dict[Name, Annotated[list[Number], Field(min_length=2, max_length=2)]],
        Field(min_length=1, max_length=MAX_ENTRIES),
    ] = Field(description="parameter = [low, high]")
    goal: Text | TextList = Field(description='what is wanted: "p at limit = 0.05", or a list')
    subject_to: Text | TextList = Field(
        default_factory=list, description='what must hold as well: "p at closes floor >= p at limit"'
    )
