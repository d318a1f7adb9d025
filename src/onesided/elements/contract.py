"""What an element is: a shape (a measure of the places it touches) times a law (an energy or a one-sided law of it).

An element is a frozen dataclass that names the places it is attached to and states, for one element alone, its energy,
the gaps that it keeps ≥ 0, or the equations that it keeps = 0. It knows nothing of global numbering or of other
elements: `assembly` differentiates, batches and adds up. A new kind is one small file with one subclass.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.types import Array
from onesided.formulas.control_kinks import control_kinks, formulas_with_kinks
from onesided.formulas.formula import Formula, parse

Quantity = float | str  # a number, or a formula of the parameters
LONG_NUMBER, LONGEST = 1024, 80  # bits of a whole number, characters of a wrong value that are shown


class Frame(NamedTuple):
    """Where a place is: position (d,), rotation matrix (d, d) and, in the plane, its angle (not wrapped)."""

    position: Any
    rotation: Any
    angle: Any


class Rate(NamedTuple):
    """How a place moves: velocity (d,) and spin, a number in the plane, (3,) in space; in fixed axes."""

    velocity: Any
    spin: Any


class Wrench(NamedTuple):
    """A force (d,) through a place and a moment, a number in the plane, (3,) in space; in fixed axes."""

    force: Any
    moment: Any


class Local(NamedTuple):
    """What the functions of an element see.

    Frames of its places; its internal coordinates; the coordinates it reads by name; the control parameter; its own
    numbers, by name.
    """

    frames: tuple[Frame, ...]
    inner: Any
    reads: Any
    p: Any
    n: Any


class Acting(NamedTuple):
    """What an element does at one point, for its results.

    Multipliers of its constraints (closures, then gaps), and, computed when called, its wrenches on its places, those
    of its energy and constraints, and those without a potential.
    """

    multipliers: tuple[Any, ...]
    wrenches: Callable[[], tuple[Wrench, ...]]
    loose: Callable[[], tuple[Wrench, ...]]


class Slot(NamedTuple):
    """One component of a place: free (a coordinate named after it, from `start`), or held at start + rate·p.

    A length is compared with others in units of the structure's extent, what is none in its own `unit`.
    """

    name: str
    start: Quantity
    free: bool = True
    rate: Quantity = 0.0
    is_length: bool = False
    unit: float = 1.0


class Words(NamedTuple):
    """How events of one-sided elements are reported: noun, what closing and what opening is called."""

    noun: str = "contact"
    closes: str = "closes"
    opens: str = "opens"


class Start:
    """The configuration from which a structure is built: frames of its places and values of quantities, as numbers."""

    def __init__(
        self, frames: Mapping[str, Frame], parameters: Mapping[str, float], places: Mapping[str, Any] | None = None
    ) -> None:
        self.frames, self.parameters, self.places = frames, parameters, places or {}
        self._formulas: dict[str, float] = {}

    @cached_property
    def size(self) -> float:
        """Largest extent of the structure."""
        points = np.array([frame.position for frame in self.frames.values()], dtype=np.float64)
        return float(np.max(np.ptp(points, axis=0))) if len(points) else 0.0

    def rotation(self, place: str) -> Array:
        """Rotation matrix of a place."""
        return np.asarray(self.frames[place].rotation, dtype=np.float64)

    def oriented(self, place: str) -> bool:
        """Whether a place has an orientation: bodies and markers."""
        return bool(self.places[place].oriented)

    def carrier(self, place: str) -> str:
        """The body a marker sits on; other places carry themselves."""
        return str(getattr(self.places[place], "on", place))

    def position(self, place: str) -> Array:
        """Coordinates of a place at the start, (2,) or (3,)."""
        return np.asarray(self.frames[place].position, dtype=np.float64)

    def distance(self, a: str, b: str) -> float:
        """Distance of two places at the start."""
        return math.dist(self.frames[a].position, self.frames[b].position)

    def value(self, quantity: Quantity) -> float:
        """A quantity as a number."""
        if not isinstance(quantity, str):
            return plain_quantity(quantity, self.parameters)
        if quantity not in self._formulas:
            self._formulas[quantity] = plain_quantity(quantity, self.parameters)
        return self._formulas[quantity]

    def vector(self, quantities: Sequence[Quantity]) -> Array:
        """Several quantities as an array."""
        return np.array([self.value(quantity) for quantity in quantities])


class RepeatedFormula(str):
    """The text of a formula in which numbers stand for indices; it also knows the one formula that all copies share."""

    __slots__ = ("indices", "shared")
    shared: Formula
    indices: Mapping[str, int]

    @classmethod
    def of(cls, text: str, shared: Formula, indices: Mapping[str, int]) -> "RepeatedFormula":
        """Text, the formula with the names of the indices, and their values."""
        self = cls(text)
        self.shared, self.indices = shared, indices
        return self


def plain_quantity(quantity: Quantity, parameters: Mapping[str, float]) -> float:
    """The finite number that a quantity is."""
    if isinstance(quantity, str):
        value = evaluate_quantity(quantity, parameters)
    else:
        try:
            value = float(quantity)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
    if not math.isfinite(value):
        expected = "a finite number, or a formula in quotes"
        raise ModelError("a quantity is not usable", got=_short(quantity), expected=expected)
    return value


def _short(value: Any) -> str:
    """A value that is no quantity, for a message."""
    text = "a very large number" if isinstance(value, int) and value.bit_length() > LONG_NUMBER else repr(value)
    return " ".join(text.split())[:LONGEST]


def evaluate_quantity(text: str, names: Mapping[str, float]) -> float:
    """The value of a formula of parameters."""
    if isinstance(text, RepeatedFormula):
        formula, names = text.shared, {**names, **text.indices}
    else:
        formula = parse(text)
    formula.require(names)
    try:
        return float(formula.evaluate(names))
    except (ArithmeticError, ValueError, TypeError) as error:
        at = ", ".join(f"{name} = {names[name]:.6g}" for name in sorted(formula.names))
        raise ModelError(f"the quantity '{text}' has no value", got=f"{at}: {_why(error)}") from error


def _why(error: Exception) -> str:
    """Python's words for a function outside its domain, said for a reader of formulas."""
    return "a root, logarithm or inverse outside its domain" if "domain" in str(error) else str(error)


@dataclass(frozen=True)
class Element(ABC):
    """Base of all elements; see the module's text. Subclasses override what they have.

    Attributes
    ----------
    name : unique in the structure; events and reactions carry it.
    kind : the element's name in model files.
    turns : whether its places must have an orientation (bodies, not nodes).
    dimensions : the dimensions it works in.
    words : how events of its one-sided constraints are reported.
    drawn_as : style of the line between its places in pictures (bar, spring, cable, beam, strut); empty: no line.
    repeats : whether it may be attached to one place more than once (a cable that runs to and fro).
    conservative : whether it has no force at rest but the gradient of its energy; statics refuses others.
    is_load : whether it is a load: what it does is not counted as a force of the machine that moves the structure.
    section_names : what `sections` gives, for beams: N, Q, M.
    inner_is_length : whether its internal coordinates are lengths: slack, elongations.
    control : what the control parameter is called in its formulas; set when the structure is composed.
    """

    name: str
    control: str = field(default="p", repr=False, kw_only=True)

    kind: ClassVar[str] = ""
    turns: ClassVar[bool] = False
    dimensions: ClassVar[tuple[int, ...]] = (2, 3)
    repeats: ClassVar[bool] = False
    words: ClassVar[Words] = Words()
    drawn_as: ClassVar[str] = ""
    conservative: ClassVar[bool] = True
    is_load: ClassVar[bool] = False
    section_names: ClassVar[tuple[str, ...]] = ()
    inner_is_length: ClassVar[bool] = True

    @property
    @abstractmethod
    def places(self) -> tuple[str, ...]:
        """Names of the places it is attached to."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of coordinates that it uses directly, for formulas."""
        return ()

    @property
    def variant(self) -> Hashable:
        """What besides numbers distinguishes elements of one kind: those of one variant are evaluated together."""
        return ()

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence["Element"]:
        """The elements it stands for, once the places and parameters are known: itself, or one per node it loads."""
        return (self,)

    def in_motion(self) -> "Element":
        """What takes its place in motion, where internal coordinates would have no inertia: by default itself."""
        return self

    def check(self, start: Start) -> None:  # noqa: B027 - many have nothing to refuse
        """Refuse what cannot work, with the element's name (zero length, a negative stiffness)."""

    def numbers(self, start: Start) -> dict[str, Any]:
        """The element's own numbers or arrays, by name: `at.n.<name>` in its functions."""
        return {}

    def inner(self, start: Start) -> dict[str, float]:
        """Internal coordinates with their start values."""
        return {}

    @property
    def history(self) -> dict[str, str]:
        """What it remembers: ending of a parameter → internal coordinate whose value it takes when a step is done.

        The parameter is called `<element>_<ending>`, is 0 unless the structure's parameters give it, and is read in
        `numbers`; `onesided.drive` renews it along the way.
        """
        return {}

    def energy(self, at: Local) -> Any:
        """Potential energy, a scalar; zero unless the element stores some."""
        return 0.0 * at.p

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Endings of the names of its one-sided constraints: ("",) for one that is called like the element."""
        return ()

    def called(self, ending: str) -> str:
        """Full name of a constraint."""
        return self.name + ending

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """Values held ≥ 0, one per gap name; the multiplier ≥ 0 is the reaction."""
        return ()

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Endings of the names of its equations."""
        return ()

    def closures(self, at: Local) -> tuple[Any, ...]:
        """Values held = 0, one per closure name."""
        return ()

    @property
    def rubs(self) -> bool:
        """Whether its gaps have friction in motion."""
        return False

    def gap_words(self, ending: str) -> Words:
        """How events of one of its gaps are reported."""
        return self.words

    def wrenches(self, at: Local, rates: tuple[Rate, ...]) -> tuple[Wrench, ...]:
        """Forces and moments without a potential, one per place, for motion: dampers, follower forces."""
        return ()

    @property
    def driven(self) -> bool:
        """Whether the control parameter moves it or its stress-free state: a machine does work on it."""
        return False

    @property
    def kinked(self) -> bool:
        """Whether functions with kinks are called in its formulas."""
        return any(True for _ in formulas_with_kinks(tuple(vars(self).values())))

    def control_kinks(self, parameters: Mapping[str, float]) -> tuple[float, ...]:
        """Values of the control parameter at which its formulas have kinks of their own."""
        return control_kinks(formulas_with_kinks(tuple(vars(self).values())), self.control, parameters)

    def result_names(self, dimension: int) -> tuple[str, ...]:
        """Endings of the names of what is read off it along a result: ".force", ".length"."""
        return ()

    def results(self, at: Local, acting: Acting) -> tuple[Any, ...]:
        """Values of the results, in the order of `result_names`."""
        return ()

    def sections(self, at: Local, acting: Acting, share: Any) -> tuple[Any, ...]:
        """Values of `section_names` at a share of its length, 0 to 1."""
        return ()

    def error(self, what: str, *, got: str = "", expected: str = "", advice: str = "") -> ModelError:
        """An error that names the element."""
        return ModelError(
            f"{self.kind} '{self.name}': {what}".lstrip(), about=self.name, got=got, expected=expected, advice=advice
        )


def kinds() -> dict[str, type[Element]]:
    """Kinds by their names in model files: of this package and of whatever program defines some."""
    return {cls.kind: cls for cls in subclasses(Element) if cls.__dict__.get("kind")}


def subclasses(cls: type[Any]) -> list[type[Any]]:
    """All classes made from one, in the order of their making, each before those made from it."""
    return [found for child in cls.__subclasses__() for found in (child, *subclasses(child))]
