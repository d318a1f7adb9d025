"""Copies of parts: `repeat`, `mirror` and `rotate` a list of nodes and members, as `repeat` does in model files.

Each returns the parts together with their copies, for `compose`. Copies are called `<name>_1`, `<name>_2`, …. A node of
a copy that falls onto a node that is there already is that node, which stays as it is; an element that would be there
twice, a load as well as a bar, is made once. Quantities may be formulas: a moved node is at "(h)+1.5".
"""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, get_args, get_type_hints

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import ModelError, UsageError
from onesided.base.tolerances import HALF_DIGITS, MOST_DIGITS
from onesided.base.types import Array
from onesided.elements.contract import Element, Quantity
from onesided.elements.expressions import Written
from onesided.elements.places import AXES, Body, Marker, Place
from onesided.formulas.formula import parse

Part = Place | Element
_POSITIONS = frozenset({"at", "through"})
_DIRECTIONS = frozenset({"along", "normal", "force", "load", "acceleration", "down", "up", "axis", "cross_axis"})
_SLIDES = frozenset({"prismatic", "cylindrical", "screw", "rack", "on_line", "driven_travel", "travel_stop"})
_HANDED = frozenset(
    {"curvature", "moment", "angle", "turned", "axis", "cross_axis", "pitch", "ratio"}
)  # change in a mirror
_WORDS = frozenset({"name", "fixed", "moves", "law", "formula", "kind"})  # texts that name no place
TOUCHING = HALF_DIGITS  # distance of places that are one, relative to the size of all
EXACT = MOST_DIGITS  # entries of a turn that are 0 or ±1 but for round-off


@dataclass(frozen=True)
class _Move:
    """x → A x + b; `angle` of the turn in the plane; `mirrors` where left and right change.

    `carried` are places whose axes turn with them: what is given in their axes stays as it is.
    """

    A: Array
    b: Array
    angle: float = 0.0
    mirrors: bool = False
    carried: frozenset[str] = frozenset()

    def position(self, x: Sequence[Quantity]) -> tuple[Quantity, ...]:
        """Coordinates of a point after the move, as numbers or formulas."""
        return tuple(_plus(part, float(shift)) for part, shift in zip(self.direction(x), self.b, strict=True))

    def direction(self, x: Sequence[Quantity]) -> tuple[Quantity, ...]:
        """Components of a vector after the move, which turns it and shifts nothing."""
        return tuple(_combined(row, x) for row in self.A)


@checked
def repeat(parts: Sequence[Any], times: int, shift: Sequence[float]) -> list[Part]:
    """The parts `times` times in all, each copy displaced by `shift` from the one before.

    Examples
    --------
    >>> from onesided.elements import Bar, Node, repeat
    >>> bay = [Node("a", (0.0, 0.0)), Node("b", (1.0, 0.0)), Bar("ab", ("a", "b"), stiffness=1.0)]
    >>> [part.name for part in repeat(bay, 3, (1.0, 0.0))]
    ['a', 'b', 'ab', 'b_1', 'ab_1', 'b_2', 'ab_2']
    """
    _check_times(times)
    size = _dimension(parts, shift)
    return _arranged(parts, [_Move(np.eye(size), k * np.array(shift, dtype=float)) for k in range(1, times)])


@checked
def mirror(parts: Sequence[Any], normal: Sequence[float], through: Sequence[float] | None = None) -> list[Part]:
    """The parts and their image in the line or plane through a point (default: the origin) with this normal."""
    size = _dimension(parts, normal)
    unit = np.array(normal, dtype=float)
    length = float(np.linalg.norm(unit))
    if not length > 0 or not math.isfinite(length):
        raise UsageError("the normal of the mirror is not usable", got=repr(tuple(normal)), expected="a direction")
    unit /= length
    point = np.zeros(size) if through is None else np.array(through, dtype=float)
    A = _exact(np.eye(size) - 2.0 * np.outer(unit, unit))
    return _arranged(parts, [_Move(A, point - A @ point, mirrors=True)])


@checked
def rotate(
    parts: Sequence[Any],
    times: int,
    about: Sequence[float] | None = None,
    *,
    angle: float | None = None,
    axis: Sequence[float] | None = None,
) -> list[Part]:
    """The parts `times` times in all, each copy turned from the one before.

    Parameters
    ----------
    about : a point of the axis; default: the origin.
    angle : of one turn [rad]; default: the copies make a full circle.
    axis : direction of the axis in space; default: z.
    """
    _check_times(times)
    size = _dimension(parts, about or axis)
    point = np.zeros(size) if about is None else np.array(about, dtype=float)
    one = 2.0 * math.pi / times if angle is None else angle
    turns = [_exact(_turn(size, k * one, axis)) for k in range(1, times)]
    return _arranged(parts, [_Move(A, point - A @ point, k * one) for k, A in enumerate(turns, 1)])


def _check_times(times: int) -> None:
    if times < 1:
        raise UsageError("`times` is too small", got=repr(times), expected="at least 1: the parts themselves")


def _dimension(parts: Sequence[Any], vector: Sequence[float] | None) -> int:
    sizes = {part.dimension for part in parts if isinstance(part, Place)}
    if len(sizes) != 1:
        raise ModelError("the parts hold no places, or some of the plane and some of space", expected="nodes or bodies")
    size = sizes.pop()
    if vector is not None and len(vector) != size:
        raise UsageError("a vector does not fit the parts", got=repr(tuple(vector)), expected=f"{size} numbers")
    return int(size)


def _turn(size: int, angle: float, axis: Sequence[float] | None) -> Array:
    cos, sin = math.cos(angle), math.sin(angle)
    if size == 2:
        return np.array([[cos, -sin], [sin, cos]])
    u = np.array([0.0, 0.0, 1.0] if axis is None else axis, dtype=float)
    length = float(np.linalg.norm(u))
    if len(u) != 3 or not length > 0 or not math.isfinite(length):
        raise UsageError("the axis of the turn is not usable", got=repr(axis), expected="a direction in space")
    u /= length
    cross = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return np.asarray(np.eye(3) + sin * cross + (1.0 - cos) * cross @ cross)


def _exact(A: Array) -> Array:
    """Entries that are 0 or ±1 but for round-off made so: coincident nodes coincide, and axes stay axes."""
    near = np.round(A)
    return np.where(np.abs(A - near) <= EXACT, near + 0.0, A)


def _arranged(parts: Sequence[Any], moves: Sequence[_Move]) -> list[Part]:
    whole: list[Part] = list(parts)
    own = {part.name for part in parts}
    carried = frozenset(part.name for part in parts if isinstance(part, Body | Marker))
    for number, move in enumerate((replace(move, carried=carried) for move in moves), 1):
        names = {name: f"{name}_{number}" for name in own}
        places = [_moved(part, move, names) for part in parts if isinstance(part, Place)]
        for place in places:
            twin = _twin(place, whole)
            if twin is None:
                whole.append(place)
            else:
                names = {old: twin if new == place.name else new for old, new in names.items()}
        there = {_signature(part) for part in whole if isinstance(part, Element)}
        given = [part for part in parts if isinstance(part, Element) and _touches(part, own)]
        copies = [_moved(part, move, names) for part in given]
        whole += [copy for copy in copies if _signature(copy) not in there]
    return whole


def _touches(part: Element, own: Set[str]) -> bool:
    """Whether an element belongs to places that are copied: by them, or by their coordinates."""
    read = parse(part.formula).names if isinstance(part, Written) else part.reads
    return any(name in own for name in part.places) or any(name.rpartition("_")[0] in own for name in read)


def _keys(part: Any) -> dict[str, bool]:
    """Keys of a part, and whether each holds quantities (numbers or formulas) rather than names."""
    kind: Any = part.__class__
    return _keys_of(kind)


@cache
def _keys_of(kind: Any) -> dict[str, bool]:
    hints = get_type_hints(kind)
    return {f.name: _holds_quantities(hints[f.name]) for f in fields(kind) if f.init and f.repr}


def _holds_quantities(hint: Any) -> bool:
    inside = get_args(hint)
    return {float, str} <= set(inside) or any(_holds_quantities(one) for one in inside)


def _signature(part: Element) -> tuple[Any, ...]:
    """What distinguishes an element from others at the same places, in whichever order these are named."""
    numbers = [_plainly(getattr(part, key)) for key, quantity in _keys(part).items() if quantity]
    return part.kind, frozenset(part.places), part.reads, *numbers


def _plainly(value: Any) -> str:
    """A quantity, or several, in so many digits that round-off does not show."""
    if isinstance(value, list | tuple):
        return ",".join(_plainly(one) for one in value)
    return f"{value + 0.0:.9g}" if isinstance(value, float | int) else str(value)


def _twin(place: Place, whole: Sequence[Part]) -> str | None:
    """The name of a node that is where this one would be."""
    others = [other for other in whole if type(other) is type(place) and not isinstance(other, Body | Marker)]
    at: Any = getattr(place, "at", ())
    points = [other.at for other in others if hasattr(other, "at")]
    numbers = [float(x) for point in points for x in point if not isinstance(x, str)]
    size = max((abs(x) for x in numbers), default=1.0) or 1.0
    for other in others:
        if all(_same(x, y, TOUCHING * size) for x, y in zip(at, getattr(other, "at", ()), strict=True)):
            return other.name
    return None


def _same(x: Quantity, y: Quantity, tolerance: float) -> bool:
    if isinstance(x, str) or isinstance(y, str):
        return x == y
    return abs(x - y) <= tolerance


def _moved(part: Any, move: _Move, names: Mapping[str, str]) -> Any:
    """A copy of a part, renamed and moved."""
    known = _keys(part)
    local = isinstance(part, Marker) or bool(getattr(part, "on", "") and getattr(part, "normal", ""))
    changes: dict[str, Any] = {"name": names[part.name]}
    for f in (f for f in fields(part) if f.init and f.repr and f.name != "name"):
        given = getattr(part, f.name)
        if move.mirrors and (local or isinstance(part, Body) or (f.name in _HANDED and given not in (f.default, None))):
            raise ModelError(
                f"the {part.kind} '{part.name}' cannot be mirrored", got=f"`{f.name}`", advice="add it by hand"
            )
        if f.name == "formula":
            raise ModelError(f"the {part.kind} '{part.name}' cannot be copied", got="a formula of coordinates")
        if f.name not in _WORDS and not known[f.name]:
            changes[f.name] = _renamed(given, names)
        elif not local and given is not None and not isinstance(given, str) and len(np.shape(given)) == 1:
            bearer = _bearer(part, f.name)
            if bearer in move.carried:
                continue
            if f.name in _POSITIONS and not bearer:
                changes[f.name] = move.position(given)
            elif f.name in _POSITIONS | _DIRECTIONS and len(given):
                changes[f.name] = move.direction(given)
        elif f.name == "axis" and given is None and part.kind in _SLIDES and _bearer(part, "axis") not in move.carried:
            changes["axis"] = move.direction(np.eye(len(move.A))[0 if len(move.A) == 2 else 2].tolist())
    if isinstance(part, Place) and not isinstance(part, Marker):
        changes |= _supports(part, move)
    return replace(part, **changes, **_absolute(part, move))


def _bearer(part: Any, key: str) -> str:
    """The place in whose axes, from whose position, a key of an element is given; empty for fixed axes."""
    if isinstance(part, Place) or (key == "through" and hasattr(part, "normal")):
        return ""
    if key in {"axis", "through"} or (key in {"force", "moment"} and not part.conservative):
        return str(part.places[0])
    return str(part.places[1]) if key == "cross_axis" else ""


def _absolute(part: Any, move: _Move) -> dict[str, Any]:
    """Values of coordinates and angles against the ground, which the move shifts."""
    if getattr(part, "coordinate", ""):
        letter = part.coordinate.rpartition("_")[2]
        keys = {"value", "lower", "upper"}
        if letter in AXES[: len(move.A)]:
            i = AXES.index(letter)
            if move.A[i, i] != 1.0:
                what = f"the {part.kind} '{part.name}' cannot be turned or mirrored"
                raise ModelError(what, got=f"`{part.coordinate}`", advice="add it by hand")
            shift = float(move.b[i])
        else:
            shift = move.angle if letter == "angle" else 0.0
    elif len(move.A) == 2 and isinstance(part, Element) and part.turns and len(part.places) == 1:
        keys = {"angle"} if not getattr(part, "absolute", False) else {"lower", "upper"}
        shift = move.angle
    else:
        return {}
    given = {key: getattr(part, key, None) for key in keys}
    return {key: _plus(value, shift) for key, value in given.items() if value is not None and shift}


def _renamed(given: Any, names: Mapping[str, str]) -> Any:
    """Names of places, and of coordinates such as `top_y`."""
    if isinstance(given, str):
        place, _, rest = given.rpartition("_")
        return names.get(given, f"{names[place]}_{rest}" if place in names else given)
    return tuple(_renamed(one, names) for one in given) if isinstance(given, list | tuple) else given


def _supports(part: Any, move: _Move) -> dict[str, Any]:
    """What is fixed and what moves, along the turned axes; a body's angle."""
    found: dict[str, Any] = {}
    held = getattr(part, "fixed", False)
    if not isinstance(held, bool) and held != "all":
        found["fixed"] = tuple(_axis(part, move, letter)[0] for letter in held)
    if getattr(part, "moves", None):
        turned = {letter: (*_axis(part, move, letter), rate) for letter, rate in part.moves.items()}
        found["moves"] = {new: _combined([sign], [rate]) for new, sign, rate in turned.values()}
    if isinstance(part, Body) and move.angle != 0.0:
        if part.dimension == 3:
            raise ModelError(f"the body '{part.name}' cannot be turned in space", advice="add the copies by hand")
        found["angle"] = _plus(part.angle, move.angle)
    return found


def _axis(part: Any, move: _Move, letter: str) -> tuple[str, float]:
    """Where an axis goes, and its sign; one that goes between the axes cannot be fixed."""
    if letter not in AXES[: len(move.A)]:
        return letter, 1.0
    column = move.A[:, AXES.index(letter)]
    if np.count_nonzero(column) != 1:
        raise ModelError(
            f"'{part.name}' would be fixed in a direction between the axes", got=repr(part.fixed), advice="use Guided"
        )
    return AXES[int(np.flatnonzero(column)[0])], float(column.sum())


def _combined(row: Sequence[float] | Array, x: Sequence[Quantity]) -> Quantity:
    """Σ a x, as a number where all x are, otherwise as a formula."""
    terms = [(float(a), value) for a, value in zip(row, x, strict=True) if a != 0.0]
    total = sum(a * value for a, value in terms if not isinstance(value, str))
    texts = [value if a == 1.0 else f"{a!r}*({value})" for a, value in terms if isinstance(value, str)]
    return _plus("+".join(texts), total) if texts else total + 0.0


def _plus(x: Quantity, shift: float) -> Quantity:
    if isinstance(x, str):
        return f"({x})+{shift!r}" if shift else x
    return float(x) + shift
