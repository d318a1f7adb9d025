"""What commands are given: model files, bundled models, changed parameters, numbers."""

from pathlib import Path
from typing import TYPE_CHECKING

import onesided
from onesided import zoo
from onesided.base.errors import UsageError
from onesided.base.names import nearest

if TYPE_CHECKING:
    from onesided.files.reading import Model


def load_model(file: Path, change: list[str] | None) -> "Model":
    """Read a model file, or a bundled model where there is no such file, and change parameters."""
    bundled = not file.exists() and str(file) in zoo.names()
    if not bundled and not file.exists() and not file.suffix and nearest(str(file), zoo.names()):
        raise UsageError(
            f"there is no file and no bundled model '{file}'", advice=f"did you mean {nearest(str(file), zoo.names())}?"
        )
    model = zoo.load(str(file)) if bundled else onesided.load(file)
    if not change:
        return model
    pairs = [item.partition("=") for item in change]
    values = {name.strip(): number(value, f"--set {name}") for name, _, value in pairs}
    return model.with_parameters(values)


def number(text: str, label: str) -> float:
    """A number given as text; `label` names what it is for."""
    try:
        return float(text)
    except ValueError:
        raise UsageError(f"{label} is not a number", got=repr(text), expected="a number") from None
