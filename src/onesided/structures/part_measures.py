"""Measures of composed structures: formulas of coordinates, member results, the control parameter and parameters.

Names are those of coordinates (`top_y`, also of components that are held), of member results (`rafter.force`), of
definitions, of the control parameter and of parameters. They are evaluated along a result, in NumPy.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.names import joined
from onesided.base.types import Array
from onesided.formulas.formula import Formula, FormulaError, parse
from onesided.formulas.functions import NUMPY
from onesided.formulas.gate import suggestion
from onesided.structures.member_results import member_names
from onesided.system.measures import Elementwise, Measure, OfMembers
from onesided.system.system import System

_DOTTED = re.compile(r"[A-Za-z]\w*(?:\.[A-Za-z]\w*)+", re.ASCII)
_WORD = re.compile(r"[A-Za-z]\w*", re.ASCII)
Located = Callable[[tuple[str, str], FormulaError], Exception]


@dataclass(frozen=True)
class Statement:
    """Measures as they are stated: formulas (or functions of q, p, th) by name, and the definitions they may use.

    `located` gives an error its place in a file.
    """

    measures: Mapping[str, Any]
    define: Mapping[str, str]
    located: Located = lambda path, error: error


def with_measures(system: System, stated: Statement) -> System:
    """The system with the stated measures beside those that its drawing needs."""
    if not stated.measures:
        return system
    scope = _Scope(system, stated)
    found: dict[str, Measure] = {name: scope.measure(name, given) for name, given in stated.measures.items()}
    return replace(system, measures=joined("measure", system.measures, found))


@dataclass(frozen=True)
class _Scope:
    """What the names in formulas of measures mean."""

    system: System
    stated: Statement

    def measure(self, name: str, given: Any) -> Measure:
        if callable(given):
            checked: Measure = given
            return checked
        if not isinstance(given, str):
            what = f"measure '{name}' is neither a formula nor a function"
            raise ModelError(what, got=repr(given), expected='text like "top_y - 2*p", or a function (q, p, th)')
        steps = tuple(self._steps(("measures", name), given, ()))
        recipe = _Recipe(steps, self.system)
        members = {_plain(member) for member in self._members()}
        return OfMembers(recipe.value) if members & recipe.names else Elementwise(recipe.value)

    def _steps(self, path: tuple[str, str], text: str, above: tuple[str, ...]) -> Iterator[tuple[str, Formula]]:
        """The definitions a formula needs, each before those that use it, and itself."""
        try:
            self._check_members(text)
            formula = parse(_DOTTED.sub(self._replaced, text))
            formula.require({*self._known(), *self.stated.define})
        except FormulaError as error:
            raise self.stated.located(path, self._with_dots(error, text)) from None
        for name in formula.offsets:
            if name in self.stated.define and name not in above:
                yield from self._steps(("define", name), self.stated.define[name], (*above, name))
        yield path[1], formula

    def _check_members(self, text: str) -> None:
        for match in _DOTTED.finditer(text):
            if match[0] not in self._members():
                what, advice = f"no member result is called `{match[0]}`", suggestion(match[0], self._members())
                raise FormulaError(what, formula=text, offset=match.start(), advice=advice)

    def _with_dots(self, error: FormulaError, text: str) -> FormulaError:
        """The error in the words of the user: member results have dots."""
        names = {_plain(name): name for name in self._members()}

        def told(words: str) -> str:
            return _WORD.sub(lambda match: names.get(match[0], match[0]), words)

        offset = len(told(error.formula[: error.offset]))
        return FormulaError(told(error.what), formula=text, offset=offset, advice=told(error.advice))

    def _replaced(self, match: re.Match[str]) -> str:
        """A member result as a plain name; others stay, and are refused with their dot."""
        return _plain(match[0]) if match[0] in self._members() else match[0]

    def _members(self) -> frozenset[str]:
        return frozenset(member_names(self.system))

    def _known(self) -> set[str]:
        members, system = {_plain(name) for name in self._members()}, self.system
        held = _held(system, system.parameters)
        return {*system.coordinates, *held, *system.parameters, system.control, *members}


@dataclass(frozen=True)
class _Recipe:
    """Formulas in the order in which they are evaluated; the last is what is wanted."""

    steps: tuple[tuple[str, Formula], ...]
    system: System

    @property
    def names(self) -> frozenset[str]:
        """All names that the formulas read, of coordinates, parameters and members."""
        return frozenset(name for _, formula in self.steps for name in formula.names)

    def value(self, q: Any, p: Any, th: Any, members: Mapping[str, Array] | None = None) -> Any:
        """The measure along a result: q (n, N), p (N,)."""
        env: dict[str, Any] = {name: base + rate * p for name, (base, rate) in _held(self.system, th).items()}
        env |= dict(zip(self.system.coordinates, q, strict=True)) | dict(th) | {self.system.control: p}
        needed = self.names
        env |= {_plain(name): (members or {})[name] for name in members or () if _plain(name) in needed}
        for name, formula in self.steps[:-1]:
            env[name] = formula.evaluate(env, NUMPY)
        return np.asarray(self.steps[-1][1].evaluate(env, NUMPY)) + 0.0 * p


def _held(system: System, parameters: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Value and rate with p of every component that is held, by name."""
    structure = system.structure
    held = structure.held(dict(parameters))
    places = ((place, structure.slots[place.name]) for place in structure.free_standing)
    slots = ((slot.name, int(n)) for place, numbers in places for slot, n in zip(place.slots, numbers, strict=True))
    return {name: held[number] for name, number in slots if number in held}


def without_members(define: Mapping[str, str]) -> dict[str, str]:
    """Definitions that use no member result, nor a definition that does: those that energies and gaps may use."""
    left = {name: text for name, text in define.items() if not _DOTTED.search(text)}
    while gone := [n for n, text in left.items() if set(_WORD.findall(text)) & (set(define) - set(left))]:
        for name in gone:
            del left[name]
    return left


def _plain(name: str) -> str:
    return name.replace(".", "__")
