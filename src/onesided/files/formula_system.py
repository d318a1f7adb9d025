"""From the formulas of a model file to a `System`: names checked, definitions ordered, JAX functions made."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from graphlib import CycleError, TopologicalSorter
from typing import Any

import jax.numpy as jnp
import numpy as np

from onesided.base.names import joined
from onesided.files.formula_contacts import add_surfaces, made_names, more_texts, smallest_gaps, surface_names
from onesided.files.formula_motion import (
    RATES,
    actuation_of,
    columns,
    contacts_of,
    force_of,
    friction_of,
    kinetic_of,
    mass_of,
    space_of,
    space_size,
)
from onesided.files.schema import FileModel, shown
from onesided.files.sketch_formulas import measures_of, sketch_formulas, sketch_of
from onesided.files.toml_places import Path, Source
from onesided.formulas.control_kinks import control_kinks
from onesided.formulas.formula import Formula, FormulaError, parse, refusal_of_name, suggestion
from onesided.formulas.functions import Table, jax_functions
from onesided.formulas.kinks import check_kinks
from onesided.formulas.unfolding import has_kinks
from onesided.system.sizes import Scales
from onesided.system.system import System

MAX_WORK = 10_000
MAX_SHOWN = 12
_TABLES = ("unilateral", "bilateral", "nonholonomic", "mass", "forces", "friction", "measures")
STATICS = ("energy", "unilateral", "bilateral", "smallest")  # formulas that paths depend on
_CONSTRAINTS = ("unilateral", "bilateral", "nonholonomic", "servo")


def build(file: FileModel, source: Source) -> System:
    """Check the formulas of a file and make the system they state.

    Raises
    ------
    ModelFileError, FormulaError
        With the place in the file.
    """
    book = Book(file, source)
    book.check()
    return _make_system(file, book)


@dataclass(frozen=True)
class Recipe:
    """Formulas to evaluate together: first the definitions they need, each once, in order.

    Attributes
    ----------
    definitions : tuple of (name, Formula)
        In an order in which each needs only earlier ones.
    results : tuple of Formula
        What is wanted.
    table : mapping
        The functions.
    """

    definitions: tuple[tuple[str, Formula], ...]
    results: tuple[Formula, ...]
    table: Table

    @cached_property
    def names(self) -> frozenset[str]:
        """All names read: free names and definitions."""
        formulas = [*(formula for _, formula in self.definitions), *self.results]
        return frozenset[str]().union(*(formula.names for formula in formulas))

    def values(self, *groups: Mapping[str, Any]) -> list[Any]:
        """Return the results as JAX scalars; `groups` hold the values of the free names."""
        env = {name: jnp.asarray(group[name], float) for group in groups for name in group if name in self.names}
        for name, formula in self.definitions:
            env[name] = formula.evaluate(env, self.table)
        return [jnp.asarray(formula.evaluate(env, self.table), float) for formula in self.results]

    @property
    def kinked(self) -> bool:
        """Whether functions with kinks are called."""
        return any(has_kinks(formula) for formula in (*(one for _, one in self.definitions), *self.results))

    def control_kinks(self, control: str, parameters: Mapping[str, float]) -> tuple[float, ...]:
        """Values of the control parameter at which the results have kinks."""
        return control_kinks(self.results, control, parameters, self.definitions)

    def arrays(self, *groups: Mapping[str, Any]) -> list[Any]:
        """Return the results as NumPy arrays, over arrays of values; the table must be NumPy's."""
        env = {name: np.asarray(group[name], float) for group in groups for name in group if name in self.names}
        for name, formula in self.definitions:
            env[name] = formula.evaluate(env, self.table)
        return [formula.evaluate(env, self.table) for formula in self.results]


class Book:
    """All formulas of a file, parsed, and what each depends on.

    Parameters
    ----------
    file : FileModel
        The checked file.
    source : Source
        Its text, for the places of errors.
    """

    def __init__(self, file: FileModel, source: Source) -> None:
        self.file, self.source = file, source
        slips = any(getattr(c, kind) is not None for c in file.contacts.values() for kind in RATES)
        moving = file.kinetic is not None or bool(file.forces or file.nonholonomic or file.friction) or slips
        self.joint_forces = {f"{name}_force": name for name in file.bilateral} if file.friction else {}
        self.velocities = {f"{name}_dot": name for name in file.coordinates} if moving else {}
        self.places = surface_names(file)
        self.time = {"t"} if file.forces or (file.motion and file.motion.control) else set()
        self.bases: dict[str, frozenset[str]] = {}  # definition → coordinates, parameters, … it rests on
        self.parts: dict[str, frozenset[str]] = {}  # definition → definitions it rests on, itself included

    def check(self) -> None:
        """Check names, then formulas, then who may use what."""
        self._check_names()
        self._check_keys()
        self.formulas = {path: self._parse(path, text) for path, text in _texts(self.file).items()}
        self.order = self._order()
        self._check_uses()
        self._check_kinks()
        work = sum(self._work(path) for path in self.formulas if path[0] != "define")
        if work > MAX_WORK:
            raise self.source.error((), "the formulas are too much work", got=f"{work} steps", expected=f"{MAX_WORK}")

    def recipe(self, paths: Iterable[Path], table: Table) -> Recipe:
        """Return what it takes to evaluate the formulas at `paths`."""
        results = tuple(self.formulas[path] for path in paths)
        needed = self._needed(frozenset[str]().union(*(formula.names for formula in results)))
        steps = tuple((name, self.formulas["define", name]) for name in self.order if name in needed)
        return Recipe(steps, results, table)

    def _needed(self, names: Iterable[str]) -> frozenset[str]:
        return frozenset[str]().union(*(self.parts[name] for name in names if name in self.parts))

    def _work(self, path: Path) -> int:
        formula = self.formulas[path]
        return len(formula.steps) + sum(
            len(self.formulas["define", name].steps) for name in self._needed(formula.names)
        )

    def _parse(self, path: Path, text: str) -> Formula:
        try:
            return parse(text)
        except FormulaError as error:
            raise self.source.formula_error(path, error) from None

    def _check_names(self) -> None:
        """Check that every name may be used, and means one thing."""
        file = self.file
        owners: dict[str, str] = {}
        groups: list[tuple[str, list[tuple[str, Path]]]] = [
            ("coordinate", [(name, ("coordinates", name)) for name in file.coordinates]),
            ("parameter", [(name, ("parameters", name)) for name in file.parameters]),
            ("control parameter", [(file.control.name, ("control", "name"))]),
            ("definition", [(name, ("define", name)) for name in file.define]),
        ]
        reserved = {**dict.fromkeys(self.velocities, "velocity"), **dict.fromkeys(self.time, "time")}
        reserved |= dict.fromkeys(self.places, "parameter of an outline")
        reserved |= dict.fromkeys(self.joint_forces, "joint force")
        for kind, entries in groups:
            for name, path in entries:
                if why := refusal_of_name(name):
                    raise self.source.error(path, f"the {kind} {shown(name)} needs another name: {why}")
                taken = owners.get(name) or reserved.get(name)
                if taken:
                    raise self.source.error(path, f"`{name}` names two things: {taken} and {kind}", advice="rename one")
                owners[name] = kind
        self._check_constraint_names()

    def _check_constraint_names(self) -> None:
        """Check that every constraint, given or made, has a name of its own."""
        given = [(name, (table, name)) for table in _CONSTRAINTS for name in getattr(self.file, table)]
        known: dict[str, Path] = {}
        for name, path in [*given, *made_names(self.file)]:
            if name in known:
                what = f"`{name}` names two constraints: one of {'.'.join(known[name])} and one of {'.'.join(path)}"
                raise self.source.error(path, what, advice="rename one")
            known[name] = path

    def _check_keys(self) -> None:
        """Check that keys that stand for coordinates are some, and that masses and spaces are complete."""
        file = self.file
        keys: list[Path] = [(table, name) for table in ("mass", "forces", "friction") for name in getattr(file, table)]
        keys += [("servo", name, "input", key) for name, servo in file.servo.items() for key in servo.input]
        for path in keys:
            if path[-1] not in file.coordinates:
                advice = suggestion(path[-1], file.coordinates)
                raise self.source.error(path, f"`{path[-1]}` is not a coordinate", advice=advice)
        if file.friction and not file.bilateral:
            raise self.source.error(("friction",), "there is no joint to rub in", expected="constraints in [bilateral]")
        self._check_space()
        if file.mass and file.kinetic is not None:
            raise self.source.error(("mass",), "both `kinetic` and [mass] are given", advice="keep one of them")
        for name in file.motion.velocities if file.motion else ():
            if name not in file.coordinates:
                advice = suggestion(name, file.coordinates)
                raise self.source.error(("motion", "velocities", name), f"`{name}` is not a coordinate", advice=advice)
        missing = [name for name in file.coordinates if name not in file.mass]
        if file.mass and missing:
            raise self.source.error(("mass",), f"the mass of `{missing[0]}` is missing", advice='write "0" for none')

    def _check_space(self) -> None:
        file = self.file
        if file.space is None:
            return
        sizes, count = [space_size(part) for part in file.space], len(file.coordinates)
        if sum(sizes) != count:
            got = " + ".join(f"{part} ({size})" for part, size in zip(file.space, sizes, strict=True))
            raise self.source.error(
                ("space",), "`space` does not fit the coordinates", got=got, expected=f"{count} coordinates in all"
            )

    def _order(self) -> tuple[str, ...]:
        """Sort the definitions so that each comes after those it uses; work out what each rests on."""
        known = {*self._given(), *self.file.define}
        for name in self.file.define:
            self._require(("define", name), known)
        uses = {
            name: [n for n in self.formulas["define", name].offsets if n in self.file.define]
            for name in self.file.define
        }
        try:
            order = tuple(TopologicalSorter(uses).static_order())
        except CycleError as error:
            cycle = [str(name) for name in reversed(error.args[1])]
            seen = cycle if len(cycle) <= MAX_SHOWN else [*cycle[: MAX_SHOWN - 2], "…", cycle[-1]]
            what = f"definitions go in a circle: {' → '.join(seen)}"
            found = self.formulas["define", cycle[0]].error(what, cycle[1], advice="break the circle at one of them")
            raise self.source.formula_error(("define", cycle[0]), found) from None
        for name in order:
            names = self.formulas["define", name].names
            self.parts[name] = frozenset({name}).union(*(self.parts[n] for n in uses[name]))
            self.bases[name] = (names - set(uses[name])).union(*(self.bases[n] for n in uses[name]))
        return order

    def _given(self) -> set[str]:
        file = self.file
        fixed = {*file.coordinates, *file.parameters, file.control.name}
        return fixed | {*self.velocities, *self.time, *self.joint_forces, *self.places}

    def _require(self, path: Path, known: set[str]) -> None:
        try:
            self.formulas[path].require(known)
        except FormulaError as error:
            raise self.source.formula_error(path, error) from None

    def _check_uses(self) -> None:
        """Check that each formula uses only what it is given: no velocities in the energy, and so on."""
        file = self.file
        fixed = {*file.coordinates, *file.parameters}
        statics = {*fixed, file.control.name}
        moving = fixed | set(self.velocities)
        allowed = {"kinetic": moving, "nonholonomic": moving, "contacts": moving, "mass": fixed}
        allowed |= {"forces": self._given() - set(self.joint_forces) - self.places, "motion": {"t"}}
        allowed |= {"friction": moving | set(self.joint_forces), "surfaces": fixed | self.places}
        for path in self.formulas:
            if path[0] != "define":
                inputs = path[0] == "servo" and path[2] == "input"
                self._check_use(path, fixed if inputs else allowed.get(path[0], statics))

    def _check_kinks(self) -> None:
        """Check that energies and constraints, and definitions they use, are smooth in the coordinates."""
        moving = {*self.file.coordinates, *(n for n in self.bases if self.bases[n] & set(self.file.coordinates))}
        smooth = [path for path in self.formulas if path[0] in STATICS]
        used = self._needed(name for path in smooth for name in self.formulas[path].names)
        for path in (*smooth, *(("define", name) for name in self.order if name in used)):
            try:
                check_kinks(self.formulas[path], moving)
            except FormulaError as error:
                raise self.source.formula_error(path, error) from None

    def _check_use(self, path: Path, allowed: set[str]) -> None:
        formula, here = self.formulas[path], path[0] if path[0] == "energy" else f"`{'.'.join(path)}`"
        for name in formula.offsets:
            if name in self.bases and (hidden := sorted(self.bases[name] - allowed)):
                what = f"`{name}` depends on `{hidden[0]}`, which has no place in {here}"
            elif name in self._given() - allowed:
                what = f"`{name}` has no place in {here}"
            else:
                continue
            raise self.source.formula_error(path, formula.error(what, name))
        self._require(path, {*allowed, *self.file.define})


def _texts(file: FileModel) -> dict[Path, str]:
    """Return all formulas by their path in the file, definitions first."""
    texts: dict[Path, str] = {("define", name): text for name, text in file.define.items()}
    if file.energy is not None:
        texts["energy",] = file.energy
    if file.kinetic is not None:
        texts["kinetic",] = file.kinetic
    if file.motion is not None and file.motion.control is not None:
        texts["motion", "control"] = file.motion.control
    for table in _TABLES:
        texts.update({(table, name): text for name, text in getattr(file, table).items()})
    for kind in RATES:
        found = {name: getattr(c, kind) for name, c in file.contacts.items()}
        texts |= {("contacts", name, kind): text for name, text in found.items() if text is not None}
    texts |= more_texts(file)
    for name, servo in file.servo.items():
        texts["servo", name, "condition"] = servo.condition
        texts |= {("servo", name, "input", key): text for key, text in servo.input.items()}
    texts.update({path: text for _, path, text in sketch_formulas(file)})
    return texts


def _make_system(file: FileModel, book: Book) -> System:
    table = jax_functions()

    def scalar(*path: str) -> Callable[[Any, Any, Any], Any]:
        recipe = book.recipe([path], table)
        return lambda q, p, th: recipe.values(columns(file.coordinates, q), {file.control.name: p}, th)[0]

    statics = [path for path in book.formulas if path[0] in STATICS]
    stated = book.recipe(statics, table)
    system = System(
        coordinates=tuple(file.coordinates),
        energy=scalar("energy"),
        unilateral=joined(
            "constraint", {name: scalar("unilateral", name) for name in file.unilateral}, smallest_gaps(file, scalar)
        ),
        bilateral={name: scalar("bilateral", name) for name in file.bilateral},
        parameters=dict(file.parameters),
        control=file.control.name,
        scales=Scales(**file.scales.sizes, unit=file.scales.units(file.coordinates) if file.scales.unit else None),
        kinetic=None if file.kinetic is None else kinetic_of(file, book.recipe([("kinetic",)], table)),
        mass=mass_of(file, book.recipe([("mass", name) for name in file.coordinates], table)) if file.mass else None,
        force=force_of(file, book, table) if file.forces else None,
        measures=measures_of(file, book),
        sketch=sketch_of(file, book),
        contacts=contacts_of(file, book, table),
        nonholonomic={
            name: kinetic_of(file, book.recipe([("nonholonomic", name)], table)) for name in file.nonholonomic
        },
        friction=friction_of(file, book, table) if file.friction else None,
        servo={name: scalar("servo", name, "condition") for name in file.servo},
        actuation=actuation_of(file, book, table) if file.servo else None,
        space=None if file.space is None else space_of(file.space),
        kinks=partial(stated.control_kinks, file.control.name) if stated.kinked else (),
    )
    return system if not file.surfaces else add_surfaces(system, file, book, table)


class _TimeFunction:
    """A formula of t as a function, copied and sent to other processes as its text."""

    def __init__(self, text: str) -> None:
        self._text, self._formula, self._table = text, parse(text), jax_functions()

    def __call__(self, t: Any) -> Any:
        """The value of the formula at a time."""
        return jnp.asarray(self._formula.evaluate({"t": jnp.asarray(t, float)}, self._table), float)

    def __reduce__(self) -> tuple[Any, ...]:
        return _TimeFunction, (self._text,)


def time_function(text: str) -> Callable[[Any], Any]:
    """A checked formula of t as a function."""
    return _TimeFunction(text)
