"""Kinks in formulas: energies and constraints of statics are smooth; those of what moves are refused."""

import math
from collections.abc import Collection

from onesided.formulas.formula import Formula, FormulaError, Operation
from onesided.formulas.gate import ARITY

KINKED = ("abs", "max", "min")
SMOOTH_SIDE = 3  # whole exponent from which on max(x, 0) to it has no kink in its slope and stiffness
SMOOTH = 2.0  # exponent from which on |x| to it has a slope that has none of the kink
ADVICE = (
    "terms k*max(f, 0)**2, k*f*abs(f) and c*abs(f) of energies and laws are taken apart, min(a, b) of gaps; "
    "or smooth it: sqrt(x**2 + c**2)"
)


def check_kinks(formula: Formula, moving: Collection[str]) -> None:
    """Refuse `abs`, `max` and `min` of something that moves, unless a power makes it smooth.

    Raises
    ------
    FormulaError
        At the first of them.
    """
    stack: list[tuple[bool, bool]] = []  # of the values on the stack: whether it moves, whether it is zero
    for number, (kind, value) in enumerate(formula.steps):
        if kind in {"number", "name"}:
            stack.append((kind == "name" and value in moving, kind == "number" and value == 0.0))
            continue
        count = ARITY[value] if kind == "call" else 1 if kind in {"negate", "power"} else 2
        operands = stack[-count:]
        moves, beside_zero = any(one[0] for one in operands), any(one[1] for one in operands)
        del stack[-count:]
        if kind == "call" and value in KINKED and moves:
            least = SMOOTH if value == "abs" else SMOOTH_SIDE if beside_zero else math.inf
            if not smooth_power(formula.steps[number + 1 :], least, whole=value != "abs"):
                what = f"`{value}` has a kink where its argument changes sign: statics would not see it"
                offset = max(formula.text.find(value), 0)
                raise FormulaError(what, formula=formula.text, offset=offset, advice=ADVICE)
        stack.append((moves, False))


def smooth_power(rest: tuple[Operation, ...], least: float, *, whole: bool) -> bool:
    """Whether a power of `least` or more, a whole one where that is asked for, follows at once."""
    if rest and rest[0].kind == "power":
        return bool(rest[0].value >= least)
    raised = len(rest) > 1 and rest[0].kind == "number" and rest[1].kind == "**"
    return raised and not whole and bool(rest[0].value >= least)
