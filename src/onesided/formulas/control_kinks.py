"""Kinks of the control parameter alone: `max`, `min`, `abs` of what is piecewise linear in p, and where they are.

Such a formula is smooth between the values of p found here. In a loading like min(p, 1) or max(p − 1, 0) they are where
one load case ends and the next begins.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from onesided.base.types import Array
from onesided.formulas.formula import MATH, Formula, FormulaError, parse
from onesided.formulas.gate import ARITY
from onesided.formulas.kinks import KINKED

MAX_BREAKS = 64  # of one formula
CALLED = re.compile(rf"\b(?:{'|'.join(KINKED)})\s*\(")


class Broken(NamedTuple):
    """A value as a function of p: the places of its kinks, and its lines a + b p between them.

    Attributes
    ----------
    breaks : where it may have kinks, growing.
    lines : (len(breaks) + 1, 2), rows (a, b); None where it is not piecewise linear.
    moves : whether coordinates are in it: its own kinks are not looked at then.
    """

    breaks: tuple[float, ...]
    lines: Array | None
    moves: bool = False


def control_kinks(
    formulas: Iterable[Formula],
    control: str,
    constants: Mapping[str, float],
    definitions: Iterable[tuple[str, Formula]] = (),
) -> tuple[float, ...]:
    """Values of p at which formulas have kinks, growing.

    Parameters
    ----------
    constants : names that do not change along a path, with their values. All others but `control` move.
    definitions : names with formulas of their own, each after those it uses.

    Raises
    ------
    FormulaError
        Where the argument of a kink is not piecewise linear in p: the places of its zeros are not known then.
    """
    known = {name: Broken((), np.array([[value, 0.0]])) for name, value in constants.items()}
    known[control] = Broken((), np.array([[0.0, 1.0]]))
    for name, formula in definitions:
        known[name] = _read(formula, known)
    found = {p for formula in formulas for p in _read(formula, known).breaks}
    return tuple(sorted(found))


def formulas_with_kinks(value: Any) -> Iterator[Formula]:
    """Formulas in which functions with kinks are called, in whatever holds them: a list, a mapping, a text itself."""
    if isinstance(value, str):
        if CALLED.search(value):
            with suppress(FormulaError):  # a name
                yield parse(str(value))
    elif isinstance(value, Mapping):
        yield from formulas_with_kinks(tuple(value.values()))
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from formulas_with_kinks(one)


def _read(formula: Formula, known: Mapping[str, Broken]) -> Broken:
    stack: list[Broken] = []
    for kind, value in formula.steps:
        if kind == "number":
            stack.append(Broken((), np.array([[value, 0.0]])))
        elif kind == "name":
            stack.append(known.get(value, Broken((), None, moves=True)))
        else:
            count = ARITY[value] if kind == "call" else 1 if kind in {"negate", "power"} else 2
            operands = stack[-count:]
            del stack[-count:]
            stack.append(_applied(formula, kind, value, operands))
            if len(stack[-1].breaks) > MAX_BREAKS:
                raise _refused(formula, f"more than {MAX_BREAKS} kinks in one formula", "state fewer")
    return stack[0]


def _applied(formula: Formula, kind: str, value: Any, operands: list[Broken]) -> Broken:
    breaks = tuple(sorted({p for one in operands for p in one.breaks}))
    moves = any(one.moves for one in operands)
    if moves or any(one.lines is None for one in operands):
        if kind == "call" and value in KINKED and not moves:
            what = f"`{value}` of what is not linear in the control parameter: where its kinks are is not known"
            raise _refused(formula, what, "use straight pieces: max(p - 1, 0), min(p, 1), abs(p - 2)", str(value))
        return Broken(breaks, None, moves)
    lines = [_lines_on(one, breaks) for one in operands]
    if kind == "call" and value in KINKED:
        return _kinked(value, breaks, lines)
    with np.errstate(all="ignore"):
        return _linear(kind, value, breaks, lines)


def _lines_on(one: Broken, breaks: tuple[float, ...]) -> Array:
    """Its lines between more breaks than its own."""
    cells = np.searchsorted(np.array(one.breaks), _middles(breaks))
    return np.empty((0, 2)) if one.lines is None else one.lines[cells]


def _linear(kind: str, value: Any, breaks: tuple[float, ...], lines: list[Array]) -> Broken:
    """Sums, products and functions of lines, where they are lines again."""
    a, b = lines[0], lines[-1]
    if kind == "negate":
        return Broken(breaks, -a)
    if kind in {"+", "-"}:
        return Broken(breaks, a + b if kind == "+" else a - b)
    if kind == "*" and not (np.any(a[:, 1]) and np.any(b[:, 1])):
        first, second = (a, b) if np.any(b[:, 1]) else (b, a)
        return Broken(breaks, first[:, :1] * second)
    if kind == "/" and not np.any(b[:, 1]):
        return Broken(breaks, a / b[:, :1])
    if any(np.any(one[:, 1]) for one in lines):
        return Broken(breaks, None)
    rows = [[_value(kind, value, row), 0.0] for row in np.column_stack([one[:, 0] for one in lines])]
    return Broken(breaks, np.array(rows))


def _value(kind: str, value: Any, numbers: Array) -> float:
    """A function of numbers; not a number where it has none."""
    functions: Mapping[str, Callable[..., Any]] = {"power": lambda x: x**value, "**": pow, "*": lambda a, b: a * b}
    try:
        return float((MATH[value] if kind == "call" else functions[kind])(*numbers.tolist()))
    except (ArithmeticError, ValueError, TypeError, KeyError):
        return float("nan")


def _kinked(word: str, breaks: tuple[float, ...], lines: list[Array]) -> Broken:
    """max, min or abs of lines: kinks where the two cross, besides those they have."""
    first, second = (lines[0], -lines[0]) if word == "abs" else (lines[0], lines[1])
    apart = first - second
    new = list(breaks)
    for (low, high), (a, b) in zip(pairwise((-np.inf, *breaks, np.inf)), apart, strict=True):
        place = -a / b if b else np.nan
        if low < place < high:
            new.append(float(place) + 0.0)
    whole = tuple(sorted(set(new)))
    middles = _middles(whole)
    one, other = (_lines_on(Broken(breaks, side), whole) for side in (first, second))
    apart = one - other
    upper = (apart[:, 0] + apart[:, 1] * middles > 0.0) != (word == "min")
    return _without_idle(whole, np.where(upper[:, None], one, other))


def _without_idle(breaks: tuple[float, ...], lines: Array) -> Broken:
    """The same without breaks at which the line goes on."""
    changes = np.any(lines[1:] != lines[:-1], axis=1)
    kept = tuple(p for p, real in zip(breaks, changes, strict=True) if real)
    return Broken(kept, lines[np.concatenate([[True], changes])])


def _middles(breaks: tuple[float, ...]) -> Array:
    """A place within each of the pieces that some values cut."""
    if not breaks:
        return np.zeros(1)
    inner = [0.5 * (a + b) for a, b in pairwise(breaks)]
    room = 1.0 + abs(breaks[0]) + abs(breaks[-1])
    return np.array([breaks[0] - room, *inner, breaks[-1] + room])


def _refused(formula: Formula, what: str, advice: str, word: str = "") -> FormulaError:
    return FormulaError(what, formula=formula.text, offset=max(formula.text.find(word), 0), advice=advice)
