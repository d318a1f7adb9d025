"""Kinks in formulas: energies and constraints of statics are smooth; `abs` of what moves is refused with the reason."""

from collections.abc import Collection

from onesided.formulas.formula import Formula, FormulaError, Operation
from onesided.formulas.gate import ARITY

SMOOTH = 2.0  # exponent from which on |x| to it has a slope that has none of the kink
ADVICE = (
    "an energy that is stiffer on one side is a `table`, a `cable` or a stop; "
    "a gap |x| ≤ c is two: c - x and c + x; or smooth it: sqrt(x**2 + c**2)"
)


def check_kinks(formula: Formula, moving: Collection[str]) -> None:
    """Refuse `abs` of something that moves, unless a power of two or more makes it smooth.

    Raises
    ------
    FormulaError
        At the first such `abs`.
    """
    stack: list[bool] = []  # whether the values on the stack move
    for number, (kind, value) in enumerate(formula.steps):
        if kind in {"number", "name"}:
            stack.append(kind == "name" and value in moving)
            continue
        count = ARITY[value] if kind == "call" else 1 if kind in {"negate", "power"} else 2
        moves = any(stack[-count:])
        del stack[-count:]
        if kind == "call" and value == "abs" and moves and not _smoothed(formula.steps[number + 1 :]):
            what = "`abs` has a kink where its argument changes sign: statics would not see it"
            raise FormulaError(what, formula=formula.text, offset=max(formula.text.find("abs"), 0), advice=ADVICE)
        stack.append(moves)


def _smoothed(rest: tuple[Operation, ...]) -> bool:
    """Whether a power of two or more follows at once."""
    if rest and rest[0].kind == "power":
        return bool(rest[0].value >= SMOOTH)
    raised = len(rest) > 1 and rest[0].kind == "number" and rest[1].kind == "**"
    return raised and bool(rest[0].value >= SMOOTH)
