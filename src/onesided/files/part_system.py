"""From a model file with parts to a `System`: parts and formulas are composed."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from onesided.base.errors import ModelFileError
from onesided.elements.contract import Element, Frame, Local, Quantity, Rate, Slot, Start
from onesided.elements.places import Body, Guided, Node, Place
from onesided.files.formula_system import Book, Recipe
from onesided.files.part_tables import ImportedPart, PartTables
from onesided.files.schema import FileModel
from onesided.files.toml_places import Source
from onesided.formulas.functions import jax_functions
from onesided.structures.part_measures import Statement, without_members
from onesided.structures.structure import Part, Structure
from onesided.system.sizes import Scales
from onesided.system.system import System

MAX_VARIANTS = 200  # groups of elements, each of which is compiled
MAX_VARIANT_TEXT = 50_000  # characters of formulas in them
FORMULAS = "formulas of the file"


@dataclass(frozen=True)
class FreePlace(Place):
    """Coordinates of the file's own, beside those of nodes and bodies; only formulas use it.

    It stands `at` another place, so that the structure's extent does not change.
    """

    starts: Mapping[str, float] = field(default_factory=dict)
    at: Sequence[Quantity] = (0.0, 0.0)
    units: Mapping[str, float] = field(default_factory=dict)

    moves_rigidly: ClassVar[bool] = False

    @property
    def dimension(self) -> int:
        """That of the other places."""
        return len(self.at)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """One slot for each coordinate of the file, with its start."""
        return tuple(Slot(name, start, unit=self.units.get(name, 1.0)) for name, start in self.starts.items())

    @property
    def numbers(self) -> dict[str, Sequence[Quantity]]:
        """The place at which pictures put it; nothing depends on it."""
        return {"at": self.at}

    def frame(self, values: Any, numbers: Any, xp: Any) -> Frame:
        """A frame that does not move, whatever the coordinates are."""
        return Frame(numbers["at"], xp.eye(len(self.at)), 0.0)

    def rate(self, values: Any, speeds: Any, numbers: Any, xp: Any) -> Rate:
        """That of a frame that does not move."""
        return Rate(xp.zeros(len(self.at)), xp.zeros(()) if len(self.at) == 2 else xp.zeros(3))


@dataclass(frozen=True)
class FormulaPart(Element):
    """All formulas of a file as one element: energy, equations and gaps of coordinates by name.

    Attributes
    ----------
    recipe : the formulas in the order energy (where `has_energy`), equations, gaps.
    equations, own_gaps : their names.
    coordinates, parameters, control : names that the formulas use.
    """

    recipe: Recipe | None = None
    has_energy: bool = False
    equations: tuple[str, ...] = ()
    own_gaps: tuple[str, ...] = ()
    coordinates: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """No place: formulas read coordinates directly."""
        return ()

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the coordinates in its formulas."""
        return self.coordinates

    @property
    def variant(self) -> Hashable:
        """There is one of it: nothing else has its formulas."""
        return self.name, id(self.recipe)

    def called(self, ending: str) -> str:
        """Constraints are called as in the file."""
        return ending

    def numbers(self, start: Start) -> dict[str, Any]:
        """Values of the parameters that its formulas use."""
        return {name: start.parameters[name] for name in self.parameters}

    @property
    def kinked(self) -> bool:
        """Whether functions with kinks are called in its formulas."""
        return self.recipe is not None and self.recipe.kinked

    def control_kinks(self, parameters: Mapping[str, float]) -> tuple[float, ...]:
        """Those of the file's formulas."""
        return () if self.recipe is None else self.recipe.control_kinks(self.control, parameters)

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Names of the equations, as in the file."""
        return self.equations

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Names of the gaps, as in the file."""
        return self.own_gaps

    def _values(self, at: Local) -> list[Any]:
        if self.recipe is None:
            return []
        names = dict(zip(self.coordinates, at.reads, strict=True))
        return self.recipe.values(names, {self.control: at.p}, {name: at.n[name] for name in self.parameters})

    def energy(self, at: Local) -> Any:
        """Value of the file's `energy`; 0 where it has none."""
        return self._values(at)[0] if self.has_energy else 0.0 * at.p

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Values of the file's `[bilateral]`, held at 0."""
        first = int(self.has_energy)
        return tuple(self._values(at)[first : first + len(self.equations)])

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Values of the file's `[unilateral]`, held ≥ 0."""
        return tuple(self._values(at)[int(self.has_energy) + len(self.equations) :])


def build_parts(file: FileModel, tables: Mapping[str, Any], rows: list[ImportedPart], source: Source) -> System:
    """Make the system that parts and formulas of a file state.

    Raises
    ------
    ModelFileError, FormulaError
        With the place in the file.
    """
    for table in ("kinetic", "mass", "forces"):
        if getattr(file, table):
            advice = "give nodes and bodies a `mass`"
            raise source.error((table,), f"`{table}` has no place beside parts", advice=advice)
    for table in ("nonholonomic", "contacts", "friction", "servo", "space"):
        if getattr(file, table):
            own = "`restitution`, `friction` and the like are keys of the contacts themselves"
            advice = own if table == "contacts" else "state the whole system by formulas, or add it in Python"
            raise source.error((table,), f"`{table}` has no place beside parts", advice=advice)
    if file.sketch is not None:
        raise source.error(("sketch",), "`sketch` has no place beside parts: they draw themselves")
    reader = PartTables(file, source)
    parts = reader.read(tables, rows)
    if not parts:
        raise source.error((), "the file holds neither formulas nor parts", advice='energy = "…", or [node.NAME]')
    with reader.located():
        _check_work(parts, source)
        structure = _with_formulas(parts, file, source)
        structure.stated = Statement(file.measures, file.define, source.formula_error)
        return structure.system(file.control.name, Scales(**file.scales.sizes))


def _with_formulas(parts: list[Part], file: FileModel, source: Source) -> Structure:
    if file.coordinates:
        at = next((part.at for part in parts if isinstance(part, (Node, Guided, Body))), (0.0, 0.0))
        units = dict(zip(file.coordinates, file.scales.units(file.coordinates), strict=True))
        parts = [*parts, FreePlace("coordinates of the file", file.coordinates, at, units)]
    structure = Structure(parts, file.parameters, file.control.name)
    if not (file.energy or file.define or file.unilateral or file.bilateral):
        return structure
    own = {"coordinates": dict.fromkeys(structure.coordinates, 0.0), "measures": {}}
    whole = file.model_copy(update=own | {"define": without_members(file.define)})
    book = Book(whole, source)
    book.check()
    formulas = _formula_part(whole, book)
    return structure if formulas is None else Structure([*parts, formulas], file.parameters, file.control.name)


def _formula_part(file: FileModel, book: Book) -> FormulaPart | None:
    energy = [("energy",)] if file.energy is not None else []
    paths = [*energy, *(("bilateral", n) for n in file.bilateral), *(("unilateral", n) for n in file.unilateral)]
    if not paths:
        return None
    recipe = book.recipe(paths, jax_functions())
    return FormulaPart(
        FORMULAS,
        recipe,
        has_energy=bool(energy),
        equations=tuple(file.bilateral),
        own_gaps=tuple(file.unilateral),
        coordinates=tuple(name for name in file.coordinates if name in recipe.names),
        parameters=tuple(name for name in file.parameters if name in recipe.names),
        control=file.control.name,
    )


def _check_work(parts: list[Part], source: Source) -> None:
    """Every variant is compiled: a file must not ask for thousands of different formulas."""
    variants = {(type(part), part.variant) for part in parts if isinstance(part, Element)}
    if len(variants) > MAX_VARIANTS or sum(len(repr(variant)) for _, variant in variants) > MAX_VARIANT_TEXT:
        raise ModelFileError(
            "the parts differ in too many ways",
            place=source.name,
            got=f"{len(variants)} groups of parts that can be evaluated together",
            expected=f"{MAX_VARIANTS} at most",
            advice="use parameters and formulas of the index in place of different laws",
        )
