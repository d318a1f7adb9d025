"""Kinks as one-sided pieces: `max`, `min`, `abs` unfolded to coordinates and gaps where that is exact.

A formula is read as S + Σ Cᵢ Kᵢ with S smooth, Cᵢ of parameters alone and Kᵢ a kink. In an energy

* C max(f, 0)²: a coordinate s ≥ 0 and C (f + s)², whose equilibrium is f + s = max(f, 0); for C < 0 it is
  C (2 f s − s²), with s = max(f, 0);
* C f |f| is 2 C max(f, 0)² − C f², and C f max(f, 0) is C max(f, 0)²; with higher powers of f they are smooth;
* C max(a, b), C > 0: a coordinate s with the gaps s − a ≥ 0, s − b ≥ 0 and the energy C s. The forces of both add up
  to C: between them the system can rest on the kink. So |f| = max(f, −f), and −C min(a, b) = C max(−a, −b).

A gap S + C min(a, b) ≥ 0, C > 0, is two gaps: S + C a and S + C b. Everything else is refused with the reason.
"""

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from onesided.formulas.formula import Formula, FormulaError, parse
from onesided.formulas.gate import ARITY
from onesided.formulas.kinks import KINKED, SMOOTH, SMOOTH_SIDE
from onesided.formulas.own_powers import factored
from onesided.formulas.written import ONE, ZERO, Text, binary, called, negative, number, raised

MAX_GAPS = 16  # that one formula may stand for
MAX_KINKS = 12  # of one energy: each is a coordinate


class Slack(NamedTuple):
    """A coordinate that unfolds a kink: its name, a formula of its start value, and its gaps by their endings."""

    name: str
    start: str
    gaps: Mapping[str, str]


@dataclass(frozen=True)
class Unfolded:
    """A formula without kinks, and the coordinates that it has in their place."""

    text: str
    slacks: tuple[Slack, ...]


class Kink(NamedTuple):
    """C · max(arguments), or C · max(argument, 0)²."""

    factor: Text
    arguments: tuple[Text, ...]
    square: bool = False
    word: str = "max"


class Sum(NamedTuple):
    """A smooth part (None: nothing) and kinks; whether the smooth part moves, and whether it is of parameters alone."""

    smooth: Text | None
    kinks: tuple[Kink, ...] = ()
    moves: bool = False
    constant: bool = False

    @property
    def alone(self) -> Kink | None:
        """The one kink that this is, if it is one."""
        return self.kinks[0] if self.smooth is None and len(self.kinks) == 1 and not self.kinks[0].square else None


def has_kinks(formula: Formula) -> bool:
    """Whether any of the functions with kinks is called."""
    return any(kind == "call" and value in KINKED for kind, value in formula.steps)


def unfolded_energy(
    text: str, constants: Mapping[str, float], control: Collection[str], taken: Collection[str] = ()
) -> Unfolded:
    """An energy with coordinates and gaps in place of its kinks.

    Parameters
    ----------
    constants : names that do not move, with their values: parameters.
    control : names that depend on the control parameter alone. All others move.
    taken : names that the new coordinates may not have.
    """
    formula = parse(text)
    if not has_kinks(formula):
        return Unfolded(text, ())
    whole = _Reader(formula, constants, control).read()
    terms = [] if whole.smooth is None else [whole.smooth]
    slacks: list[Slack] = []
    for kink in whole.kinks:
        name = _free_name(kink.word, {*taken, *formula.names, *(slack.name for slack in slacks)})
        term, slack = (_square if kink.square else _linear)(kink, name, formula, constants)
        terms.append(term)
        slacks.append(slack)
    total = terms[0]
    for term in terms[1:]:
        total = binary("+", total, term)
    return Unfolded(total.text, tuple(slacks))


def unfolded_gap(text: str, constants: Mapping[str, float], control: Collection[str]) -> tuple[str, ...]:
    """The gaps that one with kinks stands for: itself where it has none."""
    formula = parse(text)
    if not has_kinks(formula):
        return (text,)
    whole = _Reader(formula, constants, control).read()
    if not whole.kinks:
        return (text,)
    for kink in whole.kinks:
        if parse(kink.factor.text).names:
            what = f"`{kink.word}` times `{kink.factor.text}` is one gap or several, as the parameters are"
            raise _refused(formula, kink.word, what, "put the factor inside, or use a number")
        if kink.square or not _is_negative(kink.factor):
            what = f"as a gap `{kink.word}` asks for one of its arguments, not for all: no set of gaps ≥ 0 says that"
            raise _refused(formula, kink.word, what, "use min(a, b), c - max(a, b) or c - abs(x), or smooth it")
    choices = [[binary("*", kink.factor, one) for one in kink.arguments] for kink in whole.kinks]
    found = list(itertools.islice(itertools.product(*choices), MAX_GAPS + 1))
    if len(found) > MAX_GAPS:
        raise _refused(formula, whole.kinks[0].word, f"this stands for more than {MAX_GAPS} gaps", "state them apart")
    texts = []
    for choice in found:
        total = whole.smooth or ZERO
        for term in choice:
            total = binary("+", total, term)
        texts.append(total.text)
    return tuple(texts)


def _square(kink: Kink, name: str, formula: Formula, constants: Mapping[str, float]) -> tuple[Text, Slack]:
    """C max(f, 0)² by a coordinate s ≥ 0, for either sign of C."""
    f, s = kink.arguments[0], Text(name)
    stiff = raised(binary("+", f, s), 2)
    soft = binary("-", binary("*", number(2.0), binary("*", f, s)), raised(s, 2))
    factor = kink.factor
    beyond, within = (called("max", one, ZERO) for one in (f, negative(f)))
    if not parse(factor.text).names:
        positive = not _is_negative(factor)
        return binary("*", factor, stiff if positive else soft), Slack(
            name, (within if positive else beyond).text, {"": name}
        )
    if _value(factor, constants) == 0.0:
        raise _refused(formula, kink.word, f"`{factor.text}` is zero: the piece would have no force", "leave it out")
    sign = binary("/", factor, called("abs", factor))  # of parameters: it may change with them
    both = [binary("*", binary(mark, ONE, sign), one) for mark, one in (("+", stiff), ("-", soft))]
    start = within if _value(factor, constants) > 0.0 else beyond
    half = binary("/", factor, number(2.0))
    return binary("*", half, binary("+", *both)), Slack(name, start.text, {"": name})


def _linear(kink: Kink, name: str, formula: Formula, constants: Mapping[str, float]) -> tuple[Text, Slack]:
    """C max(a, b) by a coordinate above all arguments."""
    if _value(kink.factor, constants) <= 0.0:
        what = f"here `{kink.word}` makes an energy whose force leads away from the kink: nothing can rest there"
        raise _refused(formula, kink.word, what, "smooth it: sqrt(x**2 + c**2) for abs(x)")
    s, start = Text(name), kink.arguments[0]
    for one in kink.arguments[1:]:
        start = called("max", start, one)
    gaps = {f"_{i}": binary("-", s, one).text for i, one in enumerate(kink.arguments, 1)}
    return binary("*", kink.factor, s), Slack(name, start.text, gaps)


class _Reader:
    """Reads a formula as a sum of a smooth part and kinks, step by step, without recursion."""

    def __init__(self, formula: Formula, constants: Collection[str], control: Collection[str]) -> None:
        self.formula, self.constants, self.control = formula, constants, control

    def read(self) -> Sum:
        stack: list[Sum] = []
        for kind, value in self.formula.steps:
            if kind in {"number", "name"}:
                stack.append(self._leaf(kind, value))
                continue
            count = ARITY[value] if kind == "call" else 1 if kind in {"negate", "power"} else 2
            operands = stack[-count:]
            del stack[-count:]
            stack.append(self._applied(kind, value, operands))
        if len(stack[0].kinks) > MAX_KINKS:
            raise self._refuse(stack, f"more than {MAX_KINKS} kinks in one formula: each would be a coordinate")
        return stack[0]

    def _leaf(self, kind: str, value: object) -> Sum:
        if kind == "number":
            return Sum(number(float(str(value))), constant=True)
        name = str(value)
        constant = name in self.constants
        return Sum(Text(name), moves=not constant and name not in self.control, constant=constant)

    def _applied(self, kind: str, value: str, operands: list[Sum]) -> Sum:
        if kind == "call" and value in KINKED and any(one.moves or one.kinks for one in operands):
            return self._kink(value, operands)
        if not any(one.kinks for one in operands):
            return _plain(kind, value, operands)
        if kind == "negate":
            return _scaled(operands[0], number(-1.0))
        if kind in {"+", "-"}:
            return _added(kind, *operands)
        if kind in {"*", "/"}:
            return self._product(kind, *operands)
        if kind == "power" or (kind == "**" and operands[1].constant):
            return self._raised(float(value) if kind == "power" else _number(operands[1]), operands[0])
        raise self._refuse(operands, f"a kink inside of `{value or kind}` is no sum of one-sided pieces")

    def _kink(self, word: str, operands: list[Sum]) -> Sum:
        """A call of max, min or abs; max of max is one."""
        sign = number(-1.0) if word == "min" else ONE
        arguments: list[Text] = []
        for one in (operands[0], _scaled(operands[0], number(-1.0))) if word == "abs" else operands:
            inner = one.alone
            if inner is not None and inner.factor == sign and word == inner.word and word != "abs":
                arguments += inner.arguments
            elif one.kinks or one.smooth is None:
                raise self._refuse(operands, f"`{word}` of something that has a kink itself")
            else:
                arguments.append(negative(one.smooth) if word == "min" else one.smooth)
        moves = any(one.moves for one in operands)
        return Sum(None, (Kink(sign, tuple(arguments), word=word),), moves)

    def _product(self, kind: str, a: Sum, b: Sum) -> Sum:
        if kind == "*" and b.kinks:
            a, b = b, a
        own = self._with_own_power(a, b) if kind == "*" else None
        if own is not None:
            return own
        if b.kinks or not b.constant or b.smooth is None:
            with_p = not b.kinks and not b.moves
            why = "what depends on the control parameter" if with_p else "what moves"
            raise self._refuse([a, b], f"a kink times or divided by {why} is no one-sided piece: its sign may change")
        return _scaled(a, b.smooth if kind == "*" else binary("/", ONE, b.smooth))

    def _with_own_power(self, a: Sum, b: Sum) -> Sum | None:
        """A kink of f times a power of f itself; None where it is something else."""
        kink = a.alone
        if kink is None or b.kinks or b.smooth is None or not b.moves:
            return None
        two_sided = kink.word == "abs"
        sides = kink.arguments[:1] if two_sided else [one for one in kink.arguments if one != ZERO]
        if len(sides) != 1:
            return None
        f = sides[0]
        (scale, base, power), (unit, own, first) = (factored(parse(t.text), self.constants) for t in (b.smooth, f))
        if base != own or first != 1 or parse(unit.text).names or not _value(unit, {}):
            return None
        scale = binary("*", binary("*", number(_value(unit, {}) ** -power), scale), kink.factor)
        if power == 1:
            stiff = Kink(binary("*", number(2.0), scale) if two_sided else scale, (f,), square=True, word=kink.word)
            return Sum(negative(binary("*", scale, raised(f, 2))) if two_sided else None, (stiff,), moves=True)
        smooth = raised(called("abs", f), 3) if two_sided else raised(called("max", f, ZERO), power + 1)
        if two_sided and power > 2:
            smooth = binary("*", raised(f, power - 2), smooth)
        return Sum(binary("*", scale, smooth), moves=True)

    def _raised(self, exponent: float | None, base: Sum) -> Sum:
        kink = base.alone
        if kink is not None and exponent is not None and exponent >= SMOOTH:
            if kink.word == "abs":
                return Sum(raised(binary("*", kink.factor, called("abs", kink.arguments[0])), exponent), moves=True)
            sides = [one for one in kink.arguments if one != ZERO]
            if len(sides) == 1 and len(kink.arguments) == 2 and exponent == int(exponent):
                if exponent >= SMOOTH_SIDE:
                    return Sum(raised(binary("*", kink.factor, called("max", sides[0], ZERO)), exponent), moves=True)
                return Sum(None, (Kink(raised(kink.factor, 2), tuple(sides), square=True, word=kink.word),), moves=True)
        what = "of powers of kinks only max(f, 0)**2, min(f, 0)**2, abs(f)**2 and higher whole ones can be taken apart"
        raise self._refuse([base], what)

    def _refuse(self, operands: list[Sum], what: str) -> FormulaError:
        word = next((kink.word for one in operands for kink in one.kinks), "max")
        return _refused(self.formula, word, what, "state it as a gap in [unilateral], or smooth it")


def _number(one: Sum) -> float | None:
    """A constant as a number, where it is one."""
    formula = parse((one.smooth or ZERO).text)
    return None if formula.names else float(formula.evaluate({}))


def _plain(kind: str, value: str, operands: list[Sum]) -> Sum:
    texts = [one.smooth or ZERO for one in operands]
    moves, constant = any(one.moves for one in operands), all(one.constant for one in operands)
    if kind == "negate":
        return Sum(negative(texts[0]), (), moves, constant)
    if kind == "power":
        return Sum(raised(texts[0], int(value)), (), moves, constant)
    made = called(value, *texts) if kind == "call" else binary(kind, *texts)
    return Sum(made, (), moves, constant)


def _added(kind: str, a: Sum, b: Sum) -> Sum:
    b = _scaled(b, number(-1.0)) if kind == "-" else b
    smooth = a.smooth or b.smooth
    if a.smooth is not None and b.smooth is not None:
        smooth = binary("+", a.smooth, b.smooth)
    return Sum(smooth, a.kinks + b.kinks, a.moves or b.moves)


def _scaled(one: Sum, factor: Text) -> Sum:
    smooth = None if one.smooth is None else binary("*", factor, one.smooth)
    kinks = tuple(kink._replace(factor=binary("*", factor, kink.factor)) for kink in one.kinks)
    return Sum(smooth, kinks, one.moves, one.constant)


def _value(factor: Text, constants: Mapping[str, float]) -> float:
    try:
        return float(parse(factor.text).evaluate(constants))
    except (ArithmeticError, ValueError, TypeError):
        return 0.0


def _is_negative(factor: Text) -> bool:
    """Whether a factor is a negative number, not a formula."""
    return not parse(factor.text).names and _value(factor, {}) < 0.0


def _free_name(word: str, taken: Collection[str]) -> str:
    return next(name for i in itertools.count(1) if (name := f"{word}_{i}") not in taken)


def _refused(formula: Formula, word: str, what: str, advice: str) -> FormulaError:
    return FormulaError(what, formula=formula.text, offset=max(formula.text.find(word), 0), advice=advice)
