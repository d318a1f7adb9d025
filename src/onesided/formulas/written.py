"""Formulas put together as text, with brackets only where they are needed: chains of sums stay flat."""

import re
from collections.abc import Mapping
from typing import NamedTuple

SUM, PRODUCT, POWER, ATOM = range(4)
_LEVELS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "**": POWER}
_NAME = re.compile(r"(?<![A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class Text(NamedTuple):
    """A piece of a formula and how strongly its last operation binds."""

    text: str
    level: int = ATOM

    def within(self, level: int) -> str:
        """The text, in brackets where it binds less than `level`."""
        return self.text if self.level >= level else f"({self.text})"


def number(value: float) -> Text:
    """Text of a number, from which the same number is read back."""
    return Text(repr(value + 0.0), ATOM if value >= 0.0 else SUM)


ZERO, ONE = number(0.0), number(1.0)


def negative(one: Text) -> Text:
    """−x, of a number as a number."""
    return number(-float(one.text)) if _is_number(one) else Text(f"-{one.within(PRODUCT)}", SUM)


def raised(one: Text, exponent: float) -> Text:
    """A power with a number as its exponent."""
    power = repr(int(exponent) if exponent == int(exponent) else exponent)
    return ONE if one == ONE else Text(f"{one.within(ATOM)}**{power if exponent >= 0 else f'({power})'}", POWER)


def called(function: str, *arguments: Text) -> Text:
    """Text of a function called with arguments."""
    return Text(f"{function}({', '.join(one.text for one in arguments)})")


def binary(mark: str, a: Text, b: Text) -> Text:
    """Two pieces joined; products with 1 and −1 are left out."""
    if mark == "*" and ONE in (a, b):
        return b if a == ONE else a
    if mark == "*" and a.text == "-1.0":
        return negative(b)
    level = _LEVELS[mark]
    left, right = (ATOM, ATOM) if mark == "**" else (level, level + (mark in "-/"))
    return Text(f"{a.within(left)} {mark} {b.within(right)}", level)


def _is_number(one: Text) -> bool:
    try:
        float(one.text)
    except ValueError:
        return False
    return True


def replace_names(text: str, replacements: Mapping[str, str]) -> str:
    """A formula with some names replaced by text."""
    return _NAME.sub(lambda match: replacements.get(match[0], match[0]), text) if replacements else text
