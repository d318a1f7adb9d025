"""The gate before the formula parser: only short, flat, plain arithmetic in ASCII gets through.

The scan reads the text once, from left to right, and checks characters, numbers, names, the order of values
and operators, parentheses and towers of powers. What passes is small and well formed, so that `ast.parse` can
be called on it without fear of its recursion; what does not pass gets an error that points at the character.
"""

import keyword
import math
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from onesided.base.errors import ModelFileError
from onesided.base.names import nearest

ARITY = {
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh"), 1),
    **dict.fromkeys(("sqrt", "exp", "log", "abs"), 1),
    **dict.fromkeys(("atan2", "hypot", "max", "min"), 2),
    **dict.fromkeys(("turn_x", "turn_y", "turn_z"), 6),
}
CONSTANTS = {"pi": math.pi}
NAME_PATTERN = r"^[A-Za-z][A-Za-z0-9_]*$"
NAME_LENGTH = 64

_ALIASES = {
    "ln": "log",
    "arctan2": "atan2",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "fabs": "abs",
}
_WINDOW = 50
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|[-+*/(),])|(?P<other>.)",
    re.DOTALL | re.ASCII,
)
_REFUSED = {
    **dict.fromkeys("\"'`", ("text in quotes has no place in a formula", "write names without quotes")),
    **dict.fromkeys("<>=!", ("comparisons and assignments have no place in a formula", "use [unilateral] for `>= 0`")),
    **dict.fromkeys("[]{}", ("only round brackets are known", "write (…)")),
    **dict.fromkeys("&|~", ("bit operations are not known", "")),
    "^": ("`^` is not the power sign", "write x**2"),
    ".": ("a dot stands only inside a number: attributes are not known", ""),
    "%": ("the remainder `%` is not known", ""),
    "@": ("the matrix product `@` is not known", "write products of numbers with *"),
    ":": ("`:` has no place in a formula", ""),
    "#": ("a formula holds no comment", "put the comment after the closing quote"),
    "−": ("this is the typographic minus sign", "write -"),
    **dict.fromkeys("×·⋅", ("this is a typographic multiplication sign", "write *")),
    "÷": ("this is a typographic division sign", "write /"),
    "²": ("this is a superscript", "write **2"),
    "³": ("this is a superscript", "write **3"),
    "√": ("this is a root sign", "write sqrt(…)"),
}


@dataclass(frozen=True)
class FormulaLimits:
    """How large a formula may be; all are counts.

    Attributes
    ----------
    length, tokens : int
        Characters, and numbers + names + signs + brackets.
    nesting : int
        Open brackets at one place.
    tower : int
        Powers in the exponent of powers: `x**y**z` counts two.
    exponent : int
        Largest constant exponent, in magnitude.
    digits : int
        Characters of one number.
    signs : int
        Signs in a row before a value.
    """

    length: int = 4000
    tokens: int = 1500
    nesting: int = 32
    tower: int = 3
    exponent: int = 1000
    digits: int = 40
    signs: int = 3


DEFAULT_LIMITS = FormulaLimits()


class FormulaError(ModelFileError):
    """A formula is refused; knows the formula and the place in it.

    Parameters
    ----------
    what, place, advice : str
        As in `ModelFileError`.
    formula : str
        The whole text.
    offset : int
        Index of the offending character in `formula`.
    """

    def __init__(self, what: str, *, formula: str, offset: int, place: str = "", advice: str = "") -> None:
        super().__init__(what, place=place, advice=advice)
        self.formula, self.offset = formula, min(offset, len(formula))

    @property
    def line(self) -> int:
        """Line inside the formula, from 1."""
        return self.formula.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int:
        """Column inside its line of the formula, from 1."""
        return self.offset - self.formula.rfind("\n", 0, self.offset)

    def at(self, place: str) -> "FormulaError":
        """Return the same error with the place in the file added."""
        return FormulaError(self.what, formula=self.formula, offset=self.offset, place=place, advice=self.advice)

    def snippet(self) -> str:
        """Return the line of the formula and, below it, a caret under the offending character."""
        line = self.formula.split("\n")[self.line - 1]
        first = max(0, self.column - 1 - _WINDOW)
        shown = "".join(c if c.isprintable() else "?" for c in line[first : self.column + _WINDOW])
        head, tail = "…" if first else "", "…" if self.column + _WINDOW < len(line) else ""
        return f"    {head}{shown}{tail}\n    {' ' * (len(head) + self.column - 1 - first)}^"

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.snippet()}"


_ONE_SIDED = (
    "where(x > 0, k*x**2/2, 0) is k/2*max(x, 0)**2, which an energy may hold; other switches as a gap in [unilateral], "
    "or smoothed: (x + sqrt(x**2 + c**2))/2 for max(x, 0)"
)
_KINKED = {
    **dict.fromkeys(("where", "if", "clip", "heaviside", "step", "relu"), _ONE_SIDED),
    **dict.fromkeys(("floor", "ceil", "round", "sign", "mod"), "use a smooth function, such as tanh(x/c)"),
}


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return advice naming the known word closest to `name`, or an empty text."""
    words = sorted(set(known))
    if len(name) > NAME_LENGTH:
        return ""
    folded = {word.casefold(): word for word in reversed(words)}
    alias = _ALIASES.get(name.casefold(), "")
    guess = alias if alias in words else folded.get(nearest(name.casefold(), folded), "")
    return f"did you mean `{guess}`?" if guess else ""


def refusal_of_name(name: str) -> str:
    """Say why `name` cannot name a quantity, or return an empty text when it can."""
    if not re.fullmatch(NAME_PATTERN, name, re.ASCII) or len(name) > NAME_LENGTH:
        return f"a name is an ASCII letter, then letters, digits and `_`, {NAME_LENGTH} characters at most"
    if keyword.iskeyword(name):
        return f"`{name}` is a word of Python and cannot be a name"
    if name in ARITY or name in CONSTANTS:
        return f"`{name}` is the name of a {'function' if name in ARITY else 'constant'}"
    return ""


def scan(text: str, limits: FormulaLimits) -> None:
    """Check that `text` is plain arithmetic within `limits`.

    Raises
    ------
    FormulaError
        At the first character that does not fit.
    """
    if len(text) > limits.length:
        raise FormulaError(
            f"the formula has {len(text)} characters, {limits.length} are allowed",
            formula=text[: limits.length],
            offset=limits.length,
            advice="move parts of it to [define]",
        )
    gate = _Gate(text, limits)
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind != "space":
            gate.take(str(kind), match.group(), match.start(), text[match.end() : match.end() + 1])
    gate.finish()


class _Gate:
    """State of one scan: whether a value must come next, the open brackets and the powers on the way."""

    def __init__(self, text: str, limits: FormulaLimits) -> None:
        self.text, self.limits = text, limits
        self.wants_value = True
        self.last, self.at = "", 0  # the token before, and where it began
        self.tokens = self.signs = 0
        self.brackets: list[tuple[int, bool, int]] = []  # offset, call or not, tower outside
        self.base, self.tower = 0, 0

    def fail(self, what: str, offset: int, advice: str = "") -> FormulaError:
        return FormulaError(what, formula=self.text, offset=offset, advice=advice)

    def take(self, kind: str, token: str, offset: int, following: str) -> None:
        self.tokens += 1
        if self.tokens > self.limits.tokens:
            raise self.fail(f"more than {self.limits.tokens} terms and signs", offset, "move parts of it to [define]")
        if kind == "other":
            raise self.fail(*_refusal_of_character(token, offset))
        if kind in ("number", "name"):
            check = self._check_number if kind == "number" else self._check_name
            check(token, offset, following)
            self._check_order(token, offset)
            self.wants_value, self.signs = False, 0
        elif token == "(":
            self._open(offset)
        elif self.wants_value:
            self._take_sign(token, offset)
        elif token in "),":
            self._close_or_comma(token, offset)
        else:
            self._count_power(token, offset)
            self.wants_value = True
        self.last, self.at = token, offset

    def finish(self) -> None:
        end = len(self.text)
        if self.tokens == 0:
            raise self.fail("the formula is empty", 0, 'write "0" for nothing')
        if self.wants_value:
            raise self.fail("the formula ends where a value is missing", end)
        if self.brackets:
            raise self.fail("this bracket is never closed", self.brackets[-1][0])
        self._check_called()

    def _check_called(self) -> None:
        if self.last in ARITY:
            raise self.fail(f"`{self.last}` is a function", self.at, f"write {self.last}(…)")

    def _check_order(self, token: str, offset: int) -> None:
        if not self.wants_value:
            self._check_called()
            raise self.fail(f"an operator is missing before `{token[:NAME_LENGTH]}`", offset, "write * for a product")

    def _check_number(self, token: str, offset: int, following: str) -> None:
        if len(token) > self.limits.digits:
            raise self.fail(f"a number of {len(token)} characters, {self.limits.digits} are allowed", offset)
        if following in ("j", "J"):
            raise self.fail("complex numbers are not known", offset)
        if following.isalpha() or following in ("_", "."):
            raise self.fail("a number runs into what follows it", offset + len(token), "write 2*x for a product")
        mantissa = re.split("[eE]", token)[0]
        if re.match(r"0\d", token):
            raise self.fail("a number begins with a superfluous 0", offset)
        value = float(token)
        if not math.isfinite(value) or (value == 0 and mantissa.strip("0.")):
            raise self.fail("the number is outside the range of floating point", offset)

    def _check_name(self, token: str, offset: int, following: str) -> None:
        if following in ("'", '"'):
            raise self.fail(*_refusal_of_character(following, offset + len(token)))
        if token not in ARITY and token not in CONSTANTS and (why := refusal_of_name(token)):
            raise self.fail(why, offset, "use another name")

    def _open(self, offset: int) -> None:
        call = not self.wants_value
        if call and self.last not in ARITY:
            if not self.last[0].isalpha() or self.last in CONSTANTS:
                raise self.fail("an operator is missing before `(`", offset, "write * for a product")
            if self.last in _KINKED:
                raise self.fail(f"`{self.last}` has kinks: formulas are smooth", self.at, _KINKED[self.last])
            guess = suggestion(self.last, ARITY) if len(self.last) > 1 else ""
            advice = guess or f"write {self.last}*(…) for a product"
            raise self.fail(f"`{self.last}` is not a known function", self.at, advice)
        if len(self.brackets) >= self.limits.nesting:
            raise self.fail(f"more than {self.limits.nesting} brackets inside each other", offset)
        self.brackets.append((offset, call, self.base))
        self.base = self.tower
        self.wants_value, self.signs = True, 0

    def _take_sign(self, token: str, offset: int) -> None:
        if token not in "+-":
            floor = token == self.last == "/"
            raise self.fail("`//` is not known" if floor else f"a value is missing before `{token}`", offset)
        self.signs += 1
        if self.signs > self.limits.signs:
            raise self.fail(f"more than {self.limits.signs} signs in a row", offset)

    def _close_or_comma(self, token: str, offset: int) -> None:
        self._check_called()
        if not self.brackets:
            raise self.fail(f"`{token}` without an opening bracket", offset)
        _, call, outside = self.brackets[-1]
        if token == ",":
            if not call:
                raise self.fail("a comma stands only between the arguments of a function", offset)
            self.tower, self.wants_value = self.base, True
            return
        self.brackets.pop()
        self.tower, self.base = self.base, outside

    def _count_power(self, token: str, offset: int) -> None:
        self._check_called()
        if token != "**":
            self.tower = self.base
            return
        self.tower += 1
        if self.tower > self.limits.tower:
            raise self.fail(f"more than {self.limits.tower} powers on top of each other", offset)


def _refusal_of_character(character: str, offset: int) -> tuple[str, int, str]:
    if character in _REFUSED:
        what, advice = _REFUSED[character]
        return what, offset, advice
    words = unicodedata.name(character, "").split()
    plain = unicodedata.normalize("NFKC", character)
    if len(words) == 4 and words[0] == "GREEK" and words[2] == "LETTER":
        advice = f"write {words[3].lower()}"
    else:
        advice = f"write {plain}" if plain != character and plain.isascii() and plain.isprintable() else ""
    shown = f"`{character}`" if character.isprintable() and character.isascii() else f"U+{ord(character):04X}"
    return f"the character {shown} has no place in a formula", offset, advice
