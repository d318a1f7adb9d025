"""Systems and model files in a notebook."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from onesided.base.types import Array
from onesided.report.tables import beside, bold, drawing, paragraph, table
from onesided.results import Shape

if TYPE_CHECKING:
    from onesided.files.reading import Model, Task
    from onesided.system.system import System

MOST_NAMES = 24


def system_html(system: "System") -> str:
    """Names and numbers of a system, and where it was composed in space a drawing of it."""
    picture = "" if system.structure is None else _picture(system, system.start, 0.0)
    return bold("System") + beside(picture, _names(system))


def model_html(model: "Model") -> str:
    """A loaded file: title, what it is about, the system drawn at its start, and its names."""
    system, task = model
    low, high = task.p_bounds
    about = f"{system.control} from {task.p:g}, between {low:g} and {high:g}"
    picture = _picture(system, system.point(task.start), task.p)
    words = paragraph(task.description) + paragraph(about)
    return bold(task.title or "Model") + words + beside(picture, _names(system))


def task_html(task: "Task") -> str:
    """What a model file asks for, in a few lines."""
    head, *rest = repr(task).splitlines()
    return bold(head.strip("<>")) + "".join(paragraph(line.strip()) for line in rest)


def _names(system: "System") -> str:
    parameters = [f"{name} = {value:g}" for name, value in system.parameters.items()]
    drawn = set() if system.sketch is None else set(system.sketch.names())
    rows = [
        ("coordinates", _some(system.coordinates)),
        ("control", system.control),
        ("one-sided constraints", _some(tuple(system.unilateral))),
        ("two-sided constraints", _some(tuple(system.bilateral))),
        ("parameters", _some(tuple(parameters))),
        ("measures", _some(tuple(name for name in system.measures if "." not in name and name not in drawn))),
    ]
    return table([(label, words) for label, words in rows if words])


def _some(names: tuple[str, ...]) -> str:
    if len(names) <= MOST_NAMES:
        return ", ".join(names)
    return f"{', '.join(names[:MOST_NAMES])}, … ({len(names)})"


def _picture(system: "System", q: Array, p: float) -> str:
    """A drawing which says nothing of contacts: whether they are closed is not known here."""
    if system.sketch is None:
        return ""
    plain = replace(system.sketch, marks={})
    measures = system.measured(q[None, :], np.array([p]))
    return drawing(Shape(plain, system.coordinates, system.control, (), q, p, np.zeros(0, dtype=bool), measures))
