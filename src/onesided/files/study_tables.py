"""The table `[study]` of a model file: what is varied, and what is done with every case."""

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from onesided.files.schema_tables import MAX_ENTRIES, Name, Number, Positive, Table, Text

MOST = 100_000  # values in a list of a file
List = Annotated[list[Number], Field(min_length=1, max_length=MOST)]
Count = Annotated[int, Field(ge=1, le=20_000_000)]
Seed = Annotated[int, Field(ge=0)]


class AxisTable(Table):
    """Evenly spaced values, both ends included."""

    from_: Number = Field(alias="from", description="first value")
    to: Number = Field(description="last value")
    count: Count = Field(description="how many")
    spacing: Literal["even", "log"] = Field(default="even", description="log: evenly spaced logarithms")

    @model_validator(mode="after")
    def _check(self) -> "AxisTable":
        if self.spacing == "log" and self.from_ * self.to <= 0:
            raise PydanticCustomError("axis", "logarithms need two ends of one sign")
        return self


class SampleTable(Table):
    """Random values, lists, or a table of cases: one of `of`, `lists` and `file`."""

    count: Count | None = Field(default=None, description="how many random cases")
    seed: Seed = Field(default=0, description="the same seed gives the same values")
    method: Literal["random", "latin hypercube", "sobol"] = Field(
        default="random", description="random: independent, as bounds of quantiles need; others fill the space evenly"
    )
    of: Annotated[dict[Name, list[Number] | dict[str, list[Number]]], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict,
        description="parameter = [low, high], or {normal = [mean, deviation]}, uniform, lognormal, triangular, weibull",
    )
    lists: Annotated[dict[Name, List], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="parameter = a value for every case"
    )
    file: Text | None = Field(default=None, description="CSV beside the model file, parameters in its first line")

    @model_validator(mode="after")
    def _check(self) -> "SampleTable":
        if (self.count is not None) != bool(self.of):
            raise PydanticCustomError("sample", "random values need `count` and `of`")
        if [bool(self.of), bool(self.lists), self.file is not None].count(True) != 1:
            raise PydanticCustomError("sample", "a sample is one of `of`, `lists` and `file`")
        return self


class ImperfectionTable(Table):
    """Random imperfections of the nodes of a structure."""

    count: Count = Field(description="how many")
    size: Positive = Field(description="standard deviation, or the largest value of uniform ones: a length")
    shapes: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="shapes of so many lowest modes; default: every component of every node by itself"
    )
    correlation: Positive | None = Field(default=None, description="a random field with this length of correlation")
    nodes: list[Text] | None = Field(default=None, description="nodes that may be off; default: all")
    p: Number | None = Field(default=None, description="where modes are taken; default: the start")
    kind: Literal["normal", "uniform"] = Field(default="normal", description="distribution")
    seed: Seed = Field(default=0, description="the same seed gives the same values")


class StudyTable(Table):
    """What `onesided study` does: a verb for many cases."""

    verb: Literal["trace", "drive", "diagram", "solve", "simulate", "modes", "design"] = Field(
        default="trace", description="what is done with every case"
    )
    over: Annotated[dict[Name, List | AxisTable], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="parameter = [values], or {from, to, count, spacing}: all combinations"
    )
    sample: SampleTable | None = Field(default=None, description="cases beside the grid")
    imperfections: ImperfectionTable | None = Field(default=None, description="random imperfections of nodes")
    keep: list[Text] = Field(default_factory=list, description='beside events and loads: "max NAME", "last NAME" …')
    results: bool = Field(default=False, description="keep whole results as well")

    @model_validator(mode="after")
    def _check(self) -> "StudyTable":
        if self.sample is not None and self.imperfections is not None:
            raise PydanticCustomError("study", "a study has one sample: `sample` or `imperfections`")
        if not self.over and self.sample is None and self.imperfections is None:
            raise PydanticCustomError("study", "nothing is varied: give `over`, `sample` or `imperfections`")
        return self
