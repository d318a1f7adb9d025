"""Formulas as text: parsed by a whitelist, kept as a list of steps, evaluated with any table of functions.

A formula is arithmetic on numbers and names: `+ - * / **`, signs, brackets, the functions in `FUNCTIONS`, and
`pi`. Nothing else exists: no attribute, subscript, comparison, text, call of anything unknown. The text goes
through `formula_scan.scan`, then `ast.parse`, then a translation that knows five kinds of node; nothing is
ever executed but the steps below. The parser needs no JAX: the caller brings the functions.
"""

import ast
import builtins
import math
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from onesided.formulas.gate import (
    ARITY,
    CONSTANTS,
    DEFAULT_LIMITS,
    FormulaError,
    FormulaLimits,
    refusal_of_name,
    scan,
    suggestion,
)
from onesided.formulas.rotating import turned

__all__ = ["FUNCTIONS", "Formula", "FormulaError", "FormulaLimits", "parse", "refusal_of_name", "suggestion"]

FUNCTIONS = tuple(ARITY)
MATH: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(math, name, getattr(builtins, name, abs)) for name in ARITY},
    **turned(np),
}

_BINARY: Mapping[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.Pow: ("**", operator.pow),
}
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = dict(_BINARY.values())


_UNARY = {"negate", "power"}
KEPT_LENGTH = 500  # characters of formulas that are parsed once: longer ones would take room


class Operation(NamedTuple):
    """One step of a stack machine: push a number, load a name, or apply something to the topmost values."""

    kind: str  # "number", "name", "negate", "power" (integer exponent), "call", or an operator sign
    value: Any = None


@dataclass(frozen=True)
class Formula:
    """A parsed formula.

    Attributes
    ----------
    text : str
        As written.
    steps : tuple of Step
        The formula in postfix order, constant parts folded.
    offsets : mapping of str to int
        Where in `text` each free name stands first.
    """

    text: str
    steps: tuple[Operation, ...]
    offsets: Mapping[str, int]

    @property
    def names(self) -> frozenset[str]:
        """The free names: everything but functions and `pi`."""
        return frozenset(self.offsets)

    def evaluate(self, env: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]] = MATH) -> Any:
        """Compute the value.

        Parameters
        ----------
        env : mapping
            A value for every free name: numbers, NumPy or JAX arrays.
        functions : mapping
            A callable for every function name; by default those of `math`.

        Notes
        -----
        A constant integer exponent is applied as an integer, so that `x**2` and `x**3` have derivatives at 0.
        """
        stack: list[Any] = []
        known: dict[tuple[Any, ...], Any] = {}  # what is written twice is computed once; holds the operands by `id`
        for kind, value in self.steps:
            if kind == "number":
                stack.append(value)
            elif kind == "name":
                stack.append(env[value])
            else:
                count = ARITY[value] if kind == "call" else 1 if kind in _UNARY else 2
                operands = stack[-count:]
                del stack[-count:]
                key = (kind, value, *map(id, operands))
                if key not in known:
                    known[key] = _applied(kind, value, operands, functions), operands
                stack.append(known[key][0])
        return stack[0]

    def require(self, known: Collection[str]) -> None:
        """Raise a FormulaError at the first free name that is not `known`, suggesting the nearest."""
        for name, offset in self.offsets.items():
            if name not in known:
                advice = suggestion(name, [*known, *FUNCTIONS, *CONSTANTS]) or "known: " + _listing(known)
                raise FormulaError(f"unknown name `{name}`", formula=self.text, offset=offset, advice=advice)

    def error(self, what: str, name: str, *, advice: str = "") -> FormulaError:
        """Return an error that points at the first use of `name`."""
        return FormulaError(what, formula=self.text, offset=self.offsets.get(name, 0), advice=advice)


def _applied(kind: str, value: Any, operands: list[Any], functions: Mapping[str, Callable[..., Any]]) -> Any:
    """One step applied to its operands."""
    if kind == "negate":
        return -operands[0]
    if kind == "power":
        return operands[0] ** value
    return functions[value](*operands) if kind == "call" else _OPERATORS[kind](*operands)


def parse(text: str, *, limits: FormulaLimits = DEFAULT_LIMITS) -> Formula:
    """Parse a formula.

    Parameters
    ----------
    text : str
        The formula; line breaks count as blanks.
    limits : Limits
        How large it may be.

    Raises
    ------
    FormulaError
        With the place of the first thing that is not plain arithmetic, is too large, or has no finite value.

    Examples
    --------
    >>> f = parse("k/2*(x - sin(y))**2")
    >>> sorted(f.names)
    ['k', 'x', 'y']
    >>> f.evaluate({"k": 4.0, "x": 3.0, "y": 0.0})
    18.0
    """
    short = isinstance(text, str) and len(text) <= KEPT_LENGTH
    return _kept(str(text), limits) if short else _parse(text, limits)


def _parse(text: str, limits: FormulaLimits) -> Formula:
    scan(text, limits)
    flat = text.translate({ord(c): " " for c in "\t\r\n"})
    margin = len(flat) - len(flat.lstrip())
    try:
        tree = ast.parse(flat.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        offset = margin + max(0, (getattr(error, "offset", None) or 1) - 1)
        raise FormulaError("the formula cannot be read here", formula=text, offset=offset) from error
    return _Translation(text, margin, limits).run(tree.body)


_kept = lru_cache(maxsize=4096)(_parse)  # a structure is composed anew for every change of its parameters


def _listing(names: Collection[str], most: int = 12) -> str:
    shown = ", ".join(sorted(names)[:most])
    return f"{shown}, …" if len(names) > most else shown or "nothing"


class _Translation:
    """From Python's syntax tree to steps, without recursion; constant parts are computed on the way."""

    def __init__(self, text: str, margin: int, limits: FormulaLimits) -> None:
        self.text, self.margin, self.limits = text, margin, limits
        self.steps: list[Operation] = []
        self.offsets: dict[str, int] = {}

    def run(self, root: ast.expr) -> Formula:
        pending: list[tuple[ast.expr, bool]] = [(root, False)]
        while pending:
            node, ready = pending.pop()
            children = self._children(node)
            if ready or not children:
                self._emit(node)
            else:
                pending.append((node, True))
                pending.extend((child, False) for child in reversed(children))
        return Formula(self.text, tuple(self.steps), dict(sorted(self.offsets.items(), key=lambda item: item[1])))

    def _fail(self, what: str, node: ast.expr) -> FormulaError:
        return FormulaError(what, formula=self.text, offset=self.margin + node.col_offset)

    def _children(self, node: ast.expr) -> list[ast.expr]:
        """Return the operands of a node of a known kind; refuse every other kind."""
        match node:
            case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
                return []
            case ast.Name():
                return []
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                return [node.operand]
            case ast.BinOp() if type(node.op) in _BINARY:
                return [node.left, node.right]
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in ARITY:
                if len(node.args) != ARITY[name]:
                    count = f"{ARITY[name]} argument{'s' if ARITY[name] > 1 else ''}"
                    raise self._fail(f"`{name}` takes {count}, {len(node.args)} given", node)
                return list(node.args)
        raise self._fail(f"{type(node).__name__} has no place in a formula", node)

    def _emit(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value=int() | float() as value):
                self.steps.append(Operation("number", float(value)))
            case ast.Name(id=name) if name in CONSTANTS:
                self.steps.append(Operation("number", CONSTANTS[name]))
            case ast.Name(id=name):
                place = self.margin + node.col_offset
                self.offsets[name] = min(place, self.offsets.get(name, place))
                self.steps.append(Operation("name", name))
            case ast.UnaryOp(op=ast.USub()):
                self._apply(Operation("negate"), 1, node)
            case ast.BinOp():
                self._binary(node)
            case ast.Call(func=ast.Name(id=name)):
                self._apply(Operation("call", name), ARITY[name], node)

    def _binary(self, node: ast.BinOp) -> None:
        sign, exponent = _BINARY[type(node.op)][0], self.steps[-1]
        if sign == "**" and exponent.kind == "number":
            if abs(exponent.value) > self.limits.exponent:
                raise self._fail(f"the exponent is larger than {self.limits.exponent}", node.right)
            if exponent.value.is_integer() and self.steps[-2].kind != "number":
                self.steps[-1] = Operation("power", int(exponent.value))
                return
        self._apply(Operation(sign), 2, node.right)

    def _apply(self, step: Operation, count: int, node: ast.expr) -> None:
        """Append a step, or the number it gives when all its operands are numbers."""
        operands = self.steps[-count:]
        if any(operand.kind != "number" for operand in operands):
            self.steps.append(step)
            return
        try:
            value = Formula("", (*operands, step), {}).evaluate({})
        except (ArithmeticError, ValueError):
            value = math.nan
        if isinstance(value, complex) or not math.isfinite(value):
            raise self._fail("this constant part has no finite value", node)
        self.steps[-count:] = [Operation("number", float(value))]
