"""Repetition in model files: one entry stands for many, with indices in names and in formulas.

An entry with `repeat = {i = [1, 100]}` is made for i = 1, …, 100. Inside its texts `{…}` holds integer arithmetic of
the indices (`{i}`, `{i-1}`, `{(i+1)%6}`: signs + - * // %), and the formulas of its quantities may use `i` as a number.
"""

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from onesided.elements.contract import RepeatedFormula
from onesided.files.schema import shown
from onesided.files.schema_tables import FormatError
from onesided.formulas.formula import Formula, FormulaError, parse, refusal_of_name
from onesided.formulas.written import replace_names

MAX_INDICES = 3
MAX_INDEX = 10_000_000
MAX_HOLE = 60  # characters between braces

Values = Mapping[str, int]
Binder = Callable[[Values], Any]

_HOLE = re.compile(r"\{([^{}]*)\}")
_INTEGER_SIGNS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
}


@dataclass(frozen=True)
class Repeat:
    """The indices of an entry with their ranges, both ends included; no index means: once."""

    ranges: Mapping[str, tuple[int, int]]

    @property
    def count(self) -> int:
        """How many parts the entry stands for."""
        return math.prod(last - first + 1 for first, last in self.ranges.values())

    def __iter__(self) -> Iterator[Values]:
        names = tuple(self.ranges)
        for values in itertools.product(*(range(first, last + 1) for first, last in self.ranges.values())):
            yield dict(zip(names, values, strict=True))


def read_repeat(value: Any, taken: Mapping[str, str]) -> Repeat:
    """Check `repeat = {i = [first, last]}`; `taken` are names that mean something else already."""
    if not isinstance(value, dict) or not 1 <= len(value) <= MAX_INDICES:
        raise FormatError((), "not a repetition", expected=f"{{i = [1, 10]}}, with {MAX_INDICES} indices at most")
    for name, ends in value.items():
        if why := refusal_of_name(name):
            raise FormatError((name,), f"the index {shown(name)} needs another name: {why}")
        if name in taken:
            raise FormatError((name,), f"the index `{name}` is a {taken[name]} already", advice="rename one")
        whole = isinstance(ends, list) and len(ends) == 2 and all(type(end) is int for end in ends)
        if not whole or max(map(abs, ends)) > MAX_INDEX or ends[0] > ends[1]:
            raise FormatError((name,), "not a range", expected="[first, last]: two integers, the smaller first")
    return Repeat({name: (ends[0], ends[1]) for name, ends in value.items()})


def text_binder(text: str, indices: Repeat) -> Binder:
    """A text with `{…}` filled in."""
    if "{" not in text and "}" not in text:
        return lambda values: text
    pieces = _HOLE.split(text)
    if any("{" in piece or "}" in piece for piece in pieces[::2]):
        raise FormatError((), "a brace has no partner", expected="{i}, {i-1}, …")
    holes = [_integer(piece, indices) for piece in pieces[1::2]]
    fixed = pieces[::2]

    def bind(values: Values) -> str:
        filled = [str(hole(values)) for hole in holes]
        return "".join(itertools.chain.from_iterable(itertools.zip_longest(fixed, filled, fillvalue="")))

    return bind


def quantity_binder(text: str, indices: Repeat, inline: Callable[[str], str]) -> Binder:
    """A formula of indices: a number where nothing else is in it, otherwise text with numbers for the indices.

    `inline` writes out definitions.
    """
    if "{" in text or "}" in text:
        fill = text_binder(text, indices)
        return lambda values: _bound(_parse(inline(fill(values))), values)
    formula = parse(inline(text))
    if not formula.names & set(indices.ranges) and formula.names:
        return lambda values: formula.text
    return lambda values: _bound(formula, values)


_parse = lru_cache(maxsize=4096)(parse)


def _bound(formula: Formula, values: Values) -> float | str:
    if formula.names <= set(values):
        try:
            number = float(formula.evaluate({name: float(value) for name, value in values.items()}))
        except (ArithmeticError, ValueError, TypeError):
            number = math.nan
        if not math.isfinite(number):
            raise FormulaError("this has no finite value" + _where(values), formula=formula.text, offset=0)
        return number
    text = replace_names(formula.text, {name: f"({value})" for name, value in values.items()})
    return RepeatedFormula.of(text, formula, values)


def _where(values: Values) -> str:
    return " at " + ", ".join(f"{name} = {value}" for name, value in values.items()) if values else ""


def _integer(text: str, indices: Repeat) -> Callable[[Values], int]:
    """Integer arithmetic of the indices, from the text between two braces."""
    expected = (
        "integers and " + ", ".join(indices.ranges) if indices.ranges else "`repeat = {i = [1, 10]}` in the entry"
    )
    refusal = FormatError((), f"{shown('{' + text + '}')} cannot be filled in", expected=expected)
    if len(text) > MAX_HOLE or not re.fullmatch(r"[A-Za-z0-9_+\-*/%() ]+", text):
        raise refusal
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise refusal from None
    if not _allowed(tree, indices):
        raise refusal

    def value(values: Values) -> int:
        try:
            found = _evaluate(tree, values)
        except ZeroDivisionError:
            raise refusal from None
        if abs(found) > MAX_INDEX**2:
            raise refusal
        return found

    return value


def _allowed(node: ast.expr, indices: Repeat) -> bool:
    match node:
        case ast.Constant(value=int() as value):
            return not isinstance(value, bool) and abs(value) <= MAX_INDEX
        case ast.Name(id=name):
            return name in indices.ranges
        case ast.UnaryOp(op=ast.USub()):
            return _allowed(node.operand, indices)
        case ast.BinOp() if type(node.op) in _INTEGER_SIGNS:
            return _allowed(node.left, indices) and _allowed(node.right, indices)
    return False


def _evaluate(node: ast.expr, values: Values) -> int:
    match node:
        case ast.Constant(value=int() as value):
            return value
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp():
            return -_evaluate(node.operand, values)
        case ast.BinOp():
            return _INTEGER_SIGNS[type(node.op)](_evaluate(node.left, values), _evaluate(node.right, values))
    raise TypeError(node)  # pragma: no cover - `_allowed` has refused it
