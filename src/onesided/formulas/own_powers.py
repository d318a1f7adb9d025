"""A formula as a constant times a power of one thing that moves."""

from collections.abc import Collection
from typing import Any, NamedTuple

from onesided.formulas.formula import Formula
from onesided.formulas.gate import ARITY
from onesided.formulas.written import ONE, Text, binary, called, negative, number, raised


class Power(NamedTuple):
    """scale · base ** power; without a base a constant. `whole` is the same as one text."""

    scale: Text
    base: Text | None
    power: int
    whole: Text


def factored(formula: Formula, constants: Collection[str]) -> tuple[Text, Text, int]:
    """Constant, what moves, and its power: 2*k*(x - a)**2 is (2*k, x - a, 2); powers are positive."""
    stack: list[Power] = []
    for kind, value in formula.steps:
        if kind in {"number", "name"}:
            leaf = number(float(value)) if kind == "number" else Text(str(value))
            still = kind == "number" or value in constants
            stack.append(Power(leaf, None, 0, leaf) if still else Power(ONE, leaf, 1, leaf))
            continue
        count = ARITY[value] if kind == "call" else 1 if kind in {"negate", "power"} else 2
        operands = stack[-count:]
        del stack[-count:]
        stack.append(_applied(kind, value, operands))
    found = stack[0]
    return (found.scale, found.base, found.power) if found.base is not None else (ONE, found.whole, 1)


def _applied(kind: str, value: Any, operands: list[Power]) -> Power:
    whole = _whole(kind, value, [one.whole for one in operands])
    if all(one.base is None for one in operands):
        return Power(whole, None, 0, whole)
    a, b = operands[0], operands[-1]
    if kind == "negate":
        return Power(negative(a.scale), a.base, a.power, whole)
    if kind == "power" and int(value) > 0:
        return Power(raised(a.scale, int(value)), a.base, a.power * int(value), whole)
    if kind == "/" and b.base is None:
        return Power(binary("/", a.scale, b.scale), a.base, a.power, whole)
    if kind == "*" and (a.base is None or b.base is None or a.base == b.base):
        return Power(binary("*", a.scale, b.scale), a.base or b.base, a.power + b.power, whole)
    return Power(ONE, whole, 1, whole)


def _whole(kind: str, value: Any, texts: list[Text]) -> Text:
    if kind == "negate":
        return negative(texts[0])
    if kind == "power":
        return raised(texts[0], int(value))
    return called(value, *texts) if kind == "call" else binary(kind, *texts)
