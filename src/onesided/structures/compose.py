"""`compose`: places and elements to a `System`."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from onesided.base.arguments import checked, examine
from onesided.base.errors import ModelError
from onesided.elements.contract import Element
from onesided.elements.places import Place
from onesided.structures.part_measures import Statement
from onesided.structures.structure import Part, Structure
from onesided.system.sizes import Scales
from onesided.system.system import System
from onesided.system.travel import made_by

MAX_PARTS, MAX_DEPTH = 200_000, 16  # of lists within lists
MISFITS = TypeError, ValueError, AttributeError, ArithmeticError, LookupError  # what wrong values of parts lead to


@checked
def compose(
    *parts: Part | Iterable[Part],
    parameters: Mapping[str, float] | None = None,
    control: str = "p",
    scales: Scales | None = None,
    sparse: bool | None = None,
    measures: Mapping[str, Any] | None = None,
) -> System:
    """Make a system of places (nodes, bodies, markers) and elements.

    Parameters
    ----------
    parts : places and elements in any order; lists of them are welcome.
    parameters : named numbers; quantities of parts may be formulas of them ("2*k").
    control : name of the control parameter.
    scales : typical sizes; what is not given is estimated.
    sparse : large systems have sparse matrices: paths with all events, branches, diagrams and jumps. By default
        beyond 300 coordinates and constraints.
    measures : name → formula of coordinates, member results, control and parameters ("left.force - right.force"), or
        function (q, p, th): results hold their values.

    Returns
    -------
    System
        Its `start` is the configuration in which the parts were given. Coordinates are called `<place>_x` and so on,
        constraints like the elements they come from.

    Examples
    --------
    >>> import onesided
    >>> from onesided.elements import Bar, Force, Node
    >>> truss = onesided.compose(
    ...     Node("a", (0.0, 0.0), fixed=True), Node("top", (1.0, 0.5), fixed="x"),
    ...     Bar("rafter", ("a", "top"), stiffness="k"), Force("load", "top", (0.0, -1.0)), parameters={"k": 1.0})
    >>> truss.coordinates
    ('top_y',)
    """
    flat, given, looked = _flatten(parts), dict(parameters or {}), dict(measures or {})
    try:
        structure = Structure(flat, given, control)
        structure.stated = Statement(looked, {})
        system = structure.system(control, scales or Scales(), sparse=sparse)
    except MISFITS:
        for part in flat:
            examine(part)
        raise
    said = {"parameters": given, "control": control, "scales": scales, "sparse": sparse, "measures": looked}
    return made_by(system, compose, *flat, **said)


def _flatten(parts: Iterable[Part | Iterable[Part]]) -> list[Part]:
    flat = list(islice(_single(parts), MAX_PARTS + 1))
    if len(flat) > MAX_PARTS:
        raise ModelError(f"more than {MAX_PARTS} parts", expected="a list, or an iterator that ends")
    return flat


def _single(parts: Iterable[Part | Iterable[Part]], depth: int = 0) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, (Place, Element)):
            yield part
        elif isinstance(part, Iterable) and not isinstance(part, (str, Mapping)) and depth < MAX_DEPTH:
            yield from _single(part, depth + 1)
        else:
            raise ModelError("this is neither a place nor an element", got=repr(part), expected="Node(…), Bar(…), …")
