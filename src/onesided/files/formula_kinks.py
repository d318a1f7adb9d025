"""Kinks in the formulas of a file: unfolded to coordinates and gaps before the formulas are checked and built."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from onesided.files.schema import FileModel
from onesided.files.toml_places import Path, Source
from onesided.formulas.formula import Formula, FormulaError, parse
from onesided.formulas.gate import DEFAULT_LIMITS
from onesided.formulas.kinks import KINKED
from onesided.formulas.unfolding import MAX_GAPS as IN_ONE
from onesided.formulas.unfolding import has_kinks, unfolded_energy, unfolded_gap
from onesided.formulas.written import replace_names

MAX_GAPS = 4 * IN_ONE  # of a file
T = TypeVar("T")


def without_kinks(file: FileModel, source: Source) -> FileModel:
    """The file with one-sided pieces of its energy as coordinates and gaps, and gaps with kinks as several.

    Raises
    ------
    FormulaError
        Where a kink is no such piece, with the place in the file.
    """
    file = _written_out(file, source)
    texts = [("energy",), *(("unilateral", name) for name in file.unilateral)]
    kinked = {path for path in texts if _has_kinks(_at(file, path))}
    if not kinked:
        return file
    known = _Known(file)
    gaps: dict[str, str] = {}
    for name, text in file.unilateral.items():
        found = _located(source, ("unilateral", name), partial(unfolded_gap, text, known.constants, known.with_p))
        new = {name: text} if len(found) == 1 else {f"{name}_{i}": one for i, one in enumerate(found, 1)}
        _check_new(new, {*gaps, *file.unilateral} - {name}, ("unilateral", name), source)
        gaps |= new
    if len(gaps) > max(MAX_GAPS, len(file.unilateral)):
        raise source.error(
            ("unilateral",), "kinks make too many gaps", got=str(len(gaps)), expected=f"{MAX_GAPS} at most"
        )
    whole = file.model_copy(update={"unilateral": gaps})
    return _with_slacks(whole, known, source) if ("energy",) in kinked else whole


def _written_out(file: FileModel, source: Source) -> FileModel:
    """The file with definitions that move and have kinks written out in its energy and gaps."""
    parsed = {name: formula for name, text in file.define.items() if (formula := _parsed(text)) is not None}
    if not any(has_kinks(formula) for formula in parsed.values()):
        return file
    known = _Known(file)
    still = {*known.constants, *known.with_p}
    kinked = {name for name, formula in parsed.items() if has_kinks(formula) and not formula.names <= still}
    while more := {name for name, formula in parsed.items() if formula.names & kinked} - kinked:
        kinked |= more
    waiting, texts = set(kinked), dict[str, str]()
    while ready := [name for name in waiting if not parsed[name].names & waiting]:
        for name in ready:
            texts[name] = f"({_filled(file.define[name], texts, ('define', name), source)})"
        waiting -= {*ready}
    gaps = {name: _filled(text, texts, ("unilateral", name), source) for name, text in file.unilateral.items()}
    energy = None if file.energy is None else _filled(file.energy, texts, ("energy",), source)
    return file.model_copy(update={"energy": energy, "unilateral": gaps})


def _filled(text: str, known: dict[str, str], path: Path, source: Source) -> str:
    """A text with definitions written out; refused where that makes it too long."""
    whole = replace_names(text, known) if known else text
    if len(whole) > DEFAULT_LIMITS.length:
        what = "this is too long when the definitions with kinks that it uses are written out"
        raise source.error(path, what, expected=f"{DEFAULT_LIMITS.length} characters")
    return whole


def _with_slacks(file: FileModel, known: "_Known", source: Source) -> FileModel:
    taken = {*known.values, *file.define, *file.unilateral}
    text = file.energy or ""
    found = _located(source, ("energy",), partial(unfolded_energy, text, known.constants, known.with_p, taken))
    if found.slacks and (file.kinetic is not None or file.mass):
        error = FormulaError(
            "a kink in the energy is a coordinate without a mass: it has no place in a file for motion",
            formula=text,
            offset=0,
            advice="state it as a gap with a spring behind it, as a force in [forces], or leave the masses out",
        )
        raise source.formula_error(("energy",), error)
    starts = {slack.name: known.start(slack.start) for slack in found.slacks}
    gaps = {f"{slack.name}{ending}": one for slack in found.slacks for ending, one in slack.gaps.items()}
    _check_new(gaps, set(file.unilateral), ("energy",), source)
    new = {
        "energy": found.text,
        "coordinates": {**file.coordinates, **starts},
        "unilateral": {**file.unilateral, **gaps},
    }
    return file.model_copy(update=new)


class _Known:
    """Values at the start of what formulas name, as far as they have one, and what depends on what."""

    def __init__(self, file: FileModel) -> None:
        given = {**file.coordinates, **file.start}
        self.values: dict[str, float] = {**given, **file.parameters, file.control.name: file.control.value}
        constants, with_p = set(file.parameters), {file.control.name}
        pending = {name: formula for name, text in file.define.items() if (formula := _parsed(text)) is not None}
        while ready := [name for name, formula in pending.items() if formula.names <= {*self.values, *constants}]:
            for name in ready:
                formula = pending.pop(name)
                self.values[name] = _evaluated(formula, self.values)
                constants |= {name} if formula.names <= constants else set()
                with_p |= {name} if formula.names <= constants | with_p and name not in constants else set()
        self.constants = {name: self.values[name] for name in constants}
        self.with_p = frozenset(with_p)

    def start(self, text: str) -> float:
        """Start value of a new coordinate; 0 where it depends on coordinates of parts."""
        formula = parse(text)
        return _evaluated(formula, self.values) if formula.names <= set(self.values) else 0.0


def _located(source: Source, path: Path, function: Callable[[], T]) -> T:
    try:
        return function()
    except FormulaError as error:
        raise source.formula_error(path, error) from None


def _check_new(new: dict[str, str], given: set[str], path: Path, source: Source) -> None:
    for name in new:
        if name in given:
            raise source.error(path, f"its kink makes a gap `{name}`, and there is one", advice=f"rename `{name}`")


def _at(file: FileModel, path: Path) -> str:
    return file.energy or "" if path == ("energy",) else file.unilateral[path[1]]


def _has_kinks(text: str) -> bool:
    formula = _parsed(text) if any(word in text for word in KINKED) else None
    return formula is not None and has_kinks(formula)


def _parsed(text: str) -> Formula | None:
    """A formula, or None where it cannot be read: the error is reported later, with its place."""
    try:
        return parse(text)
    except FormulaError:
        return None


def _evaluated(formula: Formula, values: dict[str, float]) -> float:
    try:
        return float(formula.evaluate(values))
    except (ArithmeticError, ValueError, TypeError):
        return 0.0
