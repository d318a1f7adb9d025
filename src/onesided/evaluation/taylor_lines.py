"""Straight lines of operations differentiated along a direction, to any order, without tracing them again.

A number that moves with s is a series Σ cₖ sᵏ; every operation makes the series of its result from those of what it
takes. Rules of derivatives are those of JAX, at kinks as well: half of both sides where two numbers are equal.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from onesided.base.collecting import collection_held_back
from onesided.evaluation.machine_code import NativeFunction
from onesided.evaluation.straight import TRUTHS, LineMaker, NotStraightError, Scalar, StraightLine

WAVES = {"sin": ("cos", -1.0), "sinh": ("cosh", 1.0)}  # a function, its partner, and the sign of the partner's slope
PARTNERS = {partner: name for name, (partner, _) in WAVES.items()}
STEPWISE = frozenset({"floor", "ceil", "sign"})  # slope zero
MOST = 6_000  # operations beyond which JAX's compiler is left to it
Series = list[Any]  # coefficients; zero beyond the last


class AlongLines:
    """A function of vectors differentiated along straight lines, by machine code of its own for every order.

    Parameters
    ----------
    line : returns the operations of the function; raises NotStraightError where there is no such line.
    sizes : lengths of the vectors that it takes.
    moving : which of their numbers move.
    """

    def __init__(self, line: Callable[[], StraightLine], sizes: Sequence[int], moving: Sequence[int]) -> None:
        self._make, self._sizes, self._moving = line, tuple(sizes), tuple(moving)
        self._line: StraightLine | None = None
        self._known: dict[int, NativeFunction | None] = {}

    def of(self, order: int) -> NativeFunction | None:
        """The derivative of this order, for rows of the vectors and a direction; None where there is no line."""
        if order not in self._known:
            self._known[order] = self._made(order)
        return self._known[order]

    def _made(self, order: int) -> NativeFunction | None:
        with collection_held_back(), suppress(NotStraightError):
            if self._line is None:
                self._line = self._make()
            sizes = *self._sizes, len(self._moving)
            return NativeFunction(along_line(self._line, self._moving, order), sizes, [False] * len(sizes))
        return None


def along_line(line: StraightLine, moving: Sequence[int], order: int) -> StraightLine:
    """The derivative of `order` of all outputs at s = 0, where the inputs `moving` are xᵢ + s dᵢ.

    The directions dᵢ are further inputs, behind those of the line.

    Raises
    ------
    NotStraightError : for functions with derivatives of their own, and where too many operations would be needed.
    """
    if line.ruled:
        raise NotStraightError("derivatives of its own")
    maker = LineMaker(MOST)
    given = maker.given(line.inputs + len(moving))
    known: dict[int, Series] = {i: [given[i]] for i in range(line.inputs)}
    for place, i in enumerate(moving):
        known[i] = _trimmed([given[i], given[line.inputs + place]][: order + 1])
    expansion = Expansion(maker, order)
    for index, operation in line.operations:
        taken = [known[one.index] if isinstance(one, Scalar) else [one] for one in operation.inputs]
        known[index] = _trimmed(expansion.of(operation.name, taken))
        if maker.full:
            raise NotStraightError("too many operations")
    results = [known[one.index] if isinstance(one, Scalar) else [one] for one in line.outputs]
    whole = float(math.factorial(order))
    made = [maker.do("mul", whole, series[order]) if len(series) > order else 0.0 for series in results]
    return maker.ended(line.inputs + len(moving), made)


def of_outputs(line: StraightLine, chosen: slice) -> StraightLine:
    """The same line for some of its outputs alone, with the operations that they need."""
    outputs = line.outputs[chosen]
    kept, needed = [], {one.index for one in outputs if isinstance(one, Scalar)}
    for index, operation in reversed(line.operations):
        if index in needed:
            kept.append((index, operation))
            needed.update(one.index for one in operation.inputs if isinstance(one, Scalar))
    return line._replace(operations=tuple(reversed(kept)), outputs=outputs)


def _trimmed(series: Series) -> Series:
    """Without zeros at the end, but for the first."""
    while len(series) > 1 and not isinstance(series[-1], Scalar) and series[-1] == 0.0:
        series.pop()
    return series


class Expansion:
    """What every operation makes of series, up to one order."""

    def __init__(self, maker: LineMaker, order: int) -> None:
        self.do, self._order = maker.do, order
        self._rules: Mapping[str, Callable[..., Series]] = {
            "add": lambda a, b: self.added("add", a, b),
            "sub": lambda a, b: self.added("sub", a, b),
            "mul": lambda a, b: self.product(a, b, order),
            "div": lambda a, b: self.quotient(a, b, order),
            "neg": lambda a: [self.do("neg", one) for one in a],
            "sqrt": lambda a: self.root(a, order),
            "abs": self._absolute,
            "max": lambda a, b: self._extreme("max", "gt", a, b),
            "min": lambda a, b: self._extreme("min", "lt", a, b),
            "pow": lambda a, b: self._power(a, b, order),
            "select": self._chosen,
            "rem": self._remainder,
            "atan2": self._angle,
        }

    def of(self, name: str, given: list[Series]) -> Series:
        """The series of the result."""
        if all(len(series) == 1 for series in given):
            return [self.do(name, *(series[0] for series in given))]
        if name in self._rules:
            return self._rules[name](*given)
        if name in WAVES or name in PARTNERS:
            return self._wave(name, given[0])
        if name in SLOPES:
            return self._integrated(name, given[0])
        if name in STEPWISE or name in TRUTHS:
            return [self.do(name, *(series[0] for series in given))]
        raise NotStraightError(name)

    def _sum(self, terms: Sequence[Any]) -> Any:
        total: Any = 0.0
        for term in terms:
            total = self.do("add", total, term)
        return total

    def added(self, name: str, a: Series, b: Series) -> Series:
        """Sum or difference."""
        size = max(len(a), len(b))
        return [self.do(name, *pair) for pair in zip(_filled(a, size), _filled(b, size), strict=True)]

    def product(self, a: Series, b: Series, order: int) -> Series:
        """Σ aⱼ bₖ₋ⱼ."""
        last = min(order, len(a) + len(b) - 2)
        return [self._sum(self._pairs(a, b, k)) for k in range(last + 1)]

    def _pairs(self, a: Series, b: Series, k: int, first: int = 0) -> list[Any]:
        """Terms aⱼ bₖ₋ⱼ from j = first on."""
        places = range(max(first, k - len(b) + 1), min(k, len(a) - 1) + 1)
        return [self.do("mul", a[j], b[k - j]) for j in places]

    def quotient(self, a: Series, b: Series, order: int) -> Series:
        """The series whose product with b is a."""
        if len(b) == 1:
            return [self.do("div", one, b[0]) for one in a]
        made: Series = []
        for k, one in enumerate(_filled(a, order + 1)):
            rest = self._sum([self.do("mul", b[j], made[k - j]) for j in range(1, min(k, len(b) - 1) + 1)])
            made.append(self.do("div", self.do("sub", one, rest), b[0]))
        return made

    def root(self, a: Series, order: int) -> Series:
        """The series whose square is a."""
        made = [self.do("sqrt", a[0])]
        twice = self.do("mul", 2.0, made[0])
        for k, one in enumerate(_filled(a, order + 1)[1:], 1):
            rest = self._sum([self.do("mul", made[j], made[k - j]) for j in range(1, k)])
            made.append(self.do("div", self.do("sub", one, rest), twice))
        return made

    def _absolute(self, a: Series) -> Series:
        side = self.do("sign", a[0])
        return [self.do("abs", a[0]), *(self.do("mul", side, one) for one in a[1:])]

    def _extreme(self, name: str, order: str, a: Series, b: Series) -> Series:
        """The larger or smaller of two; where they are equal the mean of what they do."""
        tie = self.do("select", self.do("eq", a[0], b[0]), 0.0, 0.5)
        first = self.do("select", self.do(order, a[0], b[0]), tie, 1.0)
        second = self.do("sub", 1.0, first)
        size = max(len(a), len(b))
        rest = zip(_filled(a, size)[1:], _filled(b, size)[1:], strict=True)
        mixed = [self.do("add", self.do("mul", first, x), self.do("mul", second, y)) for x, y in rest]
        return [self.do(name, a[0], b[0]), *mixed]

    def _power(self, a: Series, b: Series, order: int) -> Series:
        """aʸ for a constant y: its slope is y aʸ⁻¹, whatever a is."""
        if len(b) > 1:
            raise NotStraightError("an exponent that moves")
        y, start = b[0], self.do("pow", a[0], b[0])
        if order == 0:
            return [start]
        less = self.do("select", self.do("eq", y, 0.0), self.do("sub", y, 1.0), 1.0)
        slope = [self.do("mul", y, one) for one in self._power(a, [less], order - 1)]
        return [start, *(self._gained(a, slope, k) for k in range(1, order + 1))]

    def _chosen(self, which: Series, *cases: Series) -> Series:
        size = max(map(len, cases))
        return [self.do("select", which[0], *two) for two in zip(*(_filled(one, size) for one in cases), strict=True)]

    def _remainder(self, a: Series, b: Series) -> Series:
        if len(b) > 1:
            raise NotStraightError("a divisor that moves")
        return [self.do("rem", a[0], b[0]), *a[1:]]

    def _angle(self, y: Series, x: Series) -> Series:
        """The angle atan2(y, x), of slope (x y' − y x') / (x² + y²)."""
        order = self._order
        square = self.added("add", self.product(x, x, order), self.product(y, y, order))
        turn = self.added("sub", *(self.product(a, self._slope(b), order - 1) for a, b in ((x, y), (y, x))))
        rate = self.quotient(turn, square, order - 1)
        return [self.do("atan2", y[0], x[0]), *(self.do("div", one, k + 1.0) for k, one in enumerate(rate))]

    def _slope(self, series: Series) -> Series:
        return [self.do("mul", float(k), one) for k, one in enumerate(series)][1:] or [0.0]

    def _gained(self, a: Series, slope: Series, k: int) -> Any:
        """Coefficient k of a function of a with this slope: Σ j aⱼ gₖ₋ⱼ / k."""
        places = range(max(1, k - len(slope) + 1), min(k, len(a) - 1) + 1)
        terms = [self.do("mul", self.do("mul", float(j), a[j]), slope[k - j]) for j in places]
        return self.do("div", self._sum(terms), float(k))

    def _wave(self, name: str, a: Series) -> Series:
        """A sine or cosine, hyperbolic or not, which are made together."""
        first = name if name in WAVES else PARTNERS[name]
        second, sign = WAVES[first]
        up, down = [self.do(first, a[0])], [self.do(second, a[0])]
        for k in range(1, self._order + 1):
            up_k, down_k = self._gained(a, down, k), self.do("mul", sign, self._gained(a, up, k))
            up.append(up_k)
            down.append(down_k)
        return up if name == first else down

    def _integrated(self, name: str, a: Series) -> Series:
        """A function whose slope follows from itself and from what it is taken of."""
        made, slope = [self.do(name, a[0])], SLOPES[name]
        for k in range(1, self._order + 1):
            made.append(self._gained(a, _filled(slope(self, a, made, k - 1), k), k))
        return made

    def reciprocal(self, a: Series, order: int) -> Series:
        """The series of 1/a."""
        return self.quotient([1.0], a, order)

    def one_and_square(self, a: Series, order: int, name: str = "add") -> Series:
        """1 + a² or 1 − a²."""
        return self.added(name, [1.0], self.product(a, a, order))


def _filled(series: Series, size: int) -> Series:
    return [*series, *[0.0] * (size - len(series))]


def _inverse_root(e: Expansion, inside: Series, order: int) -> Series:
    return e.reciprocal(e.root(_filled(inside, order + 1), order), order)


# slopes of functions: (expansion, what is taken, the function as far as it is known, up to which order) → series
SLOPES: dict[str, Callable[[Expansion, Series, Series, int], Series]] = {
    "exp": lambda e, a, f, k: f,
    "exp2": lambda e, a, f, k: [e.do("mul", math.log(2.0), one) for one in f],
    "expm1": lambda e, a, f, k: e.added("add", f, [1.0]),
    "log": lambda e, a, f, k: e.reciprocal(a, k),
    "log1p": lambda e, a, f, k: e.reciprocal(e.added("add", a, [1.0]), k),
    "tan": lambda e, a, f, k: e.one_and_square(f, k),
    "tanh": lambda e, a, f, k: e.one_and_square(f, k, "sub"),
    "atan": lambda e, a, f, k: e.reciprocal(e.one_and_square(a, k), k),
    "atanh": lambda e, a, f, k: e.reciprocal(e.one_and_square(a, k, "sub"), k),
    "asin": lambda e, a, f, k: _inverse_root(e, e.one_and_square(a, k, "sub"), k),
    "acos": lambda e, a, f, k: [e.do("neg", one) for one in _inverse_root(e, e.one_and_square(a, k, "sub"), k)],
    "asinh": lambda e, a, f, k: _inverse_root(e, e.one_and_square(a, k), k),
    "acosh": lambda e, a, f, k: _inverse_root(e, e.added("sub", e.product(a, a, k), [1.0]), k),
    "cbrt": lambda e, a, f, k: e.quotient(f, [e.do("mul", 3.0, one) for one in a], k),
}
