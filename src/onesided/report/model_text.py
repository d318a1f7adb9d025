"""What a stored model file says of itself, and of what a page shows; read as data, never as a model."""

import tomllib

from onesided.base.errors import visible
from onesided.files.new_numbers import carrying, differing
from onesided.report.stories import Story


def title_of(model: str) -> str:
    """The `title` of a model file; "" if it has none."""
    return _text(model, "title")


def description_of(model: str) -> str:
    """The `description` of a model file; "" if it has none."""
    return _text(model, "description")


def text_of(model: str, told: Story) -> str:
    """The text with the parameters that all of a result was computed with."""
    own = [strand.parameters for strand in told.strands]
    first = own[0] if own else {}
    return carrying(model, {k: value for k, value in first.items() if all(one.get(k) == value for one in own)})


def changed_of(model: str, told: Story) -> tuple[list[dict[str, str]], list[int]]:
    """Sets of parameters that the text does not say, each once, and the number of each strand's; all without a text."""
    own = [differing(model, strand.parameters) if model else strand.parameters for strand in told.strands]
    texts = [{name: repr(float(value)) for name, value in one.items()} for one in own]
    known = list({repr(one): one for one in texts}.values())
    return known, [known.index(one) for one in texts]


def _text(model: str, key: str) -> str:
    try:
        value = tomllib.loads(model).get(key, "")
    except (ValueError, RecursionError):
        return ""
    return visible(value) if isinstance(value, str) else ""
