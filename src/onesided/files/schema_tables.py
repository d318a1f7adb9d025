"""Tables of model files with their keys and types, except the file itself."""

import math
from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_core import PydanticCustomError

from onesided.formulas.gate import DEFAULT_LIMITS, NAME_LENGTH, NAME_PATTERN

MAX_ENTRIES = 500
TEXT_LENGTH = 10_000


class FormatError(Exception):
    """What does not fit the format: path of keys, message, what was expected, advice.

    `named` where a key itself is wrong or missing: its value says nothing.
    """

    def __init__(
        self, path: tuple[str, ...], what: str, *, expected: str = "", advice: str = "", named: bool = False
    ) -> None:
        super().__init__(what)
        self.path, self.what, self.expected, self.advice, self.named = path, what, expected, advice, named


def finite_number(value: Any) -> float:
    """Accept a finite real number; TOML has integers, floats, inf, nan, and booleans are not numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError((), "not a number: write it plainly, like 1.5, without quotes", expected="a number")
    try:
        number = float(value)
    except OverflowError:
        raise FormatError((), "the integer is too large", expected="a number") from None
    if not math.isfinite(number):
        raise FormatError((), "not a finite number", expected="a number")
    return number


def _number(value: Any) -> float:
    try:
        return finite_number(value)
    except FormatError as error:
        raise PydanticCustomError("number", str(error)) from None


def _positive(value: float) -> float:
    if value <= 0:
        raise PydanticCustomError("number", "not a positive number")
    return value


def _formula(value: Any) -> str:
    """The text of a formula; a number is one as well."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return repr(_number(value))
    if not isinstance(value, str):
        raise PydanticCustomError("formula", 'not a formula: write it in quotes, like "k*x**2/2"')
    return value


Number = Annotated[float, BeforeValidator(_number)]
Positive = Annotated[Number, AfterValidator(_positive), Field(json_schema_extra={"exclusiveMinimum": 0})]
Text = Annotated[str, Field(strict=True, max_length=TEXT_LENGTH)]
TEXT_OR_NUMBER: dict[str, Any] = {"type": ["string", "number"], "maxLength": DEFAULT_LIMITS.length}
FormulaText = Annotated[str, BeforeValidator(_formula), Field(json_schema_extra=TEXT_OR_NUMBER)]
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=NAME_LENGTH)]
SpacePart = Annotated[str, Field(strict=True, pattern=r"^(R[1-9][0-9]{0,2}|SO2|SE2|SO3|SE3)$")]
Numbers = dict[Name, Number]
Formulas = Annotated[dict[Name, FormulaText], Field(max_length=MAX_ENTRIES)]


class Table(BaseModel):
    """What all tables share: no other keys, values that do not change, no conversions."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ControlTable(Table):
    """The control parameter: what is turned up or down to drive the system."""

    name: str = Field(
        default="p",
        json_schema_extra={"pattern": NAME_PATTERN, "maxLength": NAME_LENGTH},
        description="its name in formulas",
    )
    range: Annotated[list[Number], Field(min_length=2, max_length=2)] = Field(
        description="smallest and largest value of interest"
    )
    start: Number | None = Field(default=None, description="first value; default: the end of the range it leaves from")
    direction: Literal["up", "down"] = Field(default="up", description="which way it moves first")
    programme: Annotated[list[Number], Field(min_length=2, max_length=1000)] | None = Field(
        default=None, description="values to be driven through in turn; default: to the end of the range and back"
    )

    @model_validator(mode="after")
    def _check(self) -> "ControlTable":
        low, high = self.range
        if not low < high:
            raise PydanticCustomError("range", "the range is empty or reversed")
        if not low <= self.value <= high:
            raise PydanticCustomError("start", "the start lies outside the range")
        if any(not low <= value <= high for value in self.programme or []):
            raise PydanticCustomError("programme", "a value of the programme lies outside the range")
        return self

    @property
    def value(self) -> float:
        """The first value of the control parameter."""
        if self.start is not None:
            return self.start
        return self.range[0] if self.direction == "up" else self.range[1]


class ScalesTable(Table):
    """Typical sizes that make tolerances relative; what is not given is estimated."""

    length: Positive | None = Field(default=None, description="a change of coordinates that matters")
    force: Positive | None = Field(default=None, description="a generalised force that matters")
    stiffness: Positive | None = Field(default=None, description="a typical second derivative of the energy")
    unit: Annotated[dict[Name, Positive], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="coordinate of the file = so many count as much as one of the others"
    )

    @property
    def sizes(self) -> dict[str, float | None]:
        """Those that are one number for all coordinates."""
        return {"length": self.length, "force": self.force, "stiffness": self.stiffness}

    def units(self, coordinates: Iterable[str]) -> tuple[float, ...]:
        """The unit of every coordinate: one where none is given."""
        return tuple(self.unit.get(name, 1.0) for name in coordinates)


class CircleTable(Table):
    """A circle of the drawing."""

    at: Name = Field(description="the point at its centre")
    radius: Number | FormulaText = Field(description="number or formula")
    angle: Number | FormulaText | None = Field(default=None, description="how it has turned, in radians")


class GroundTable(Table):
    """A wall or floor of the drawing."""

    at: Name = Field(description="a point on it")
    facing: Number = Field(
        description="direction of the free side in degrees: 90 for a floor, 0 for a wall on the left"
    )
    length: Positive | None = Field(default=None, description="default: as long as the picture")


class SolidTable(Table):
    """A body in space of the drawing: a box or a disc."""

    at: Name = Field(description="the point at its centre")
    turn: Annotated[list[Number | FormulaText], Field(min_length=3, max_length=3)] = Field(
        default_factory=lambda: list[float | str]([0.0, 0.0, 0.0]),
        description="rotation vector: three numbers or formulas",
    )
    box: Annotated[list[Positive], Field(min_length=3, max_length=3)] | None = Field(
        default=None, description="lengths of its edges along its axes"
    )
    disc: Annotated[list[Positive], Field(min_length=1, max_length=2)] | None = Field(
        default=None, description="radius and thickness, about its z axis"
    )

    @model_validator(mode="after")
    def _check(self) -> "SolidTable":
        if (self.box is None) == (self.disc is None):
            raise PydanticCustomError("solid", "a solid is either a box or a disc")
        return self


class LabelTable(Table):
    """What pictures call a quantity."""

    label: Annotated[str, Field(max_length=NAME_LENGTH)] = Field(default="", description="in place of its name")
    unit: Annotated[str, Field(max_length=NAME_LENGTH)] = Field(default="", description="as text, in brackets behind")


class LoadArrowTable(Table):
    """An arrow of the drawing that stands for a load."""

    at: Name = Field(description="the point it acts on")
    force: Annotated[list[Number], Field(min_length=2, max_length=3)] = Field(description="components, per unit of p")
    constant: bool = Field(default=False, description="whether it does not grow with p")


class SketchTable(Table):
    """How to draw the system; formulas are of coordinates, control, parameters and definitions."""

    points: dict[Name, Annotated[list[Number | FormulaText], Field(min_length=2, max_length=3)]] = Field(
        min_length=1, max_length=MAX_ENTRIES, description="point = [x, y] or [x, y, z]: numbers or formulas"
    )
    lines: dict[Literal["bar", "spring", "cable", "beam", "strut", "body"], list[Text]] = Field(
        default_factory=dict, description='style = ["point point", …]'
    )
    circles: dict[Name, CircleTable] = Field(default_factory=dict, description="circle = {at, radius, angle}")
    grounds: dict[Name, GroundTable] = Field(default_factory=dict, description="wall = {at, facing, length}")
    solids: dict[Name, SolidTable] = Field(
        default_factory=dict, description="body in space = {at, turn, box} or {at, turn, disc}"
    )
    marks: dict[Name, list[Text]] = Field(
        default_factory=dict, description='constraint = ["point", "point point", …], highlighted while closed'
    )
    loads: dict[Name, LoadArrowTable] = Field(default_factory=dict, description="arrow = {at, force, constant}")
    supports: dict[Name, Text] = Field(
        default_factory=dict, description='point = "xy": the axes along which it is held'
    )


class ContactTable(Table):
    """What a one-sided constraint does in motion."""

    restitution: Annotated[float, Field(ge=0, le=1)] = Field(default=0.0, description="of the velocity at an impact")
    friction: Annotated[float, Field(ge=0)] = Field(default=0.0, description="Coulomb's coefficient; inf: never slides")
    slip: FormulaText | None = Field(
        default=None, description="tangential velocity: formula of coordinates and velocities <name>_dot"
    )
    static_friction: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="coefficient of a contact that sticks; default: that of `friction`"
    )
    rolling_friction: Annotated[Number, Field(ge=0)] = Field(
        default=0.0, description="length: moment against rolling, as a share of the normal force"
    )
    rolling: FormulaText | None = Field(default=None, description="angular velocity about a tangent: formula")
    spinning_friction: Annotated[Number, Field(ge=0)] = Field(
        default=0.0, description="length: moment against spinning, as a share of the normal force"
    )
    spinning: FormulaText | None = Field(default=None, description="angular velocity about the normal: formula")
    kelvin_voigt: dict[Literal["stiffness", "damping"], Number] = Field(
        default_factory=dict, description="compliant instead of hard: force = stiffness*depth + damping*rate ≥ 0"
    )
    hunt_crossley: dict[Literal["stiffness", "dissipation", "exponent"], Number] = Field(
        default_factory=dict,
        description="compliant: force = stiffness*depth**exponent*(1 + 1.5*dissipation*rate) ≥ 0; exponent 1.5",
    )


class SurfaceTable(Table):
    """Two outlines that touch: points as formulas of coordinates and of s (of a surface s1 and s2)."""

    first: Annotated[list[FormulaText], Field(min_length=2, max_length=3)] = Field(
        description="outline of a body, whose tangent turned by +90° points into it"
    )
    second: Annotated[list[FormulaText], Field(min_length=2, max_length=3)] = Field(
        description="outline of the other body, or of the ground"
    )
    start: Annotated[list[Number], Field(min_length=2, max_length=4)] = Field(
        description="parameters near the start: two in the plane, four in space, three for an edge on a surface"
    )
    names: Annotated[list[Name], Field(min_length=2, max_length=4)] | None = Field(None, description="of parameters")
    rolls: bool = Field(default=False, description="whether the contact does not slip")
    opens: bool = Field(default=False, description="whether the bodies may part; otherwise they are held together")
    restitution: Annotated[float, Field(ge=0, le=1)] = Field(default=0.0, description="where they may part")


class SmallestTable(Table):
    """A gap that is the smallest of several distances: split exactly, or smoothed."""

    of: Annotated[list[FormulaText], Field(min_length=2, max_length=50)] = Field(description="the distances: formulas")
    sharpness: Positive | None = Field(
        default=None,
        description="default: split into the constraints NAME_1, NAME_2, …; given: one smooth constraint NAME, below "
        "the smallest distance by at most log(number)/sharpness",
    )


class ServoTable(Table):
    """A condition that an input meets, and where the input acts."""

    condition: FormulaText = Field(description="held at 0: formula of coordinates, control, parameters")
    input: Annotated[Formulas, Field(min_length=1)] = Field(
        description="coordinate = force on it for an input of 1: formula of coordinates, parameters"
    )


class MotionTable(Table):
    """What to simulate: time span, start velocities, method, and how the control parameter changes with time."""

    time: Annotated[list[Number], Field(min_length=2, max_length=2)] = Field(description="first and last time")
    velocities: Annotated[Numbers, Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="coordinate = start velocity; those left out are 0"
    )
    control: FormulaText | None = Field(
        default=None, description="the control parameter as a formula of t; default: it keeps its start value"
    )
    method: Literal["projected", "radau", "generalized-alpha", "baumgarte", "event-driven", "moreau"] | None = Field(
        default=None,
        description="projected: fast; radau: for stiff systems; event-driven, moreau: contacts; others to compare; "
        "default: event-driven for few gaps, moreau for many, projected without",
    )
    rtol: Positive | None = Field(default=None, description="accuracy of a step; default: that of the method")
    step: Positive | None = Field(default=None, description="a fixed step instead")
    theta: Annotated[float, Field(ge=0.5, le=1)] | None = Field(
        default=None, description="moreau only: implicit forces, for stiff springs; 0.5 keeps energy, 1 damps most"
    )

    @model_validator(mode="after")
    def _check(self) -> "MotionTable":
        if not self.time[0] < self.time[1]:
            raise PydanticCustomError("time", "the time span is empty or reversed")
        return self


class SteerMode(Table):
    """Gaps that are closed until a time."""

    until: Number = Field(description="time at which the mode ends")
    closed: Annotated[list[Name], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=list, description="one-sided constraints that are closed until then; the others are open"
    )


class SteerTable(Table):
    """Where inputs shall bring the system, in which time, at the least sum of their squares over time."""

    time: Annotated[list[Number], Field(min_length=2, max_length=2)] = Field(description="first and last time")
    inputs: Annotated[dict[Name, Name], Field(min_length=1, max_length=MAX_ENTRIES)] = Field(
        description="input = coordinate that it pushes"
    )
    goal: Annotated[Numbers, Field(min_length=1, max_length=MAX_ENTRIES)] = Field(
        description="coordinate, or velocity <coordinate>_dot = value at the end; those left out are free"
    )
    velocities: Annotated[Numbers, Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="coordinate = start velocity; those left out are 0"
    )
    weights: Annotated[dict[Name, Positive], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="input = weight of its square in the cost; default: 1"
    )
    bounds: Annotated[
        dict[Name, Annotated[list[Number], Field(min_length=2, max_length=2)]], Field(max_length=MAX_ENTRIES)
    ] = Field(default_factory=dict, description="coordinate, velocity <coordinate>_dot or input = [least, largest]")
    modes: Annotated[list[SteerMode], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=list, description="[{until, closed}, …]: gaps that are closed, one mode after the other"
    )
    intervals: Annotated[int, Field(ge=1, le=1000, strict=True)] | None = Field(
        default=None, description="of the first grid; default: 20"
    )
    accuracy: Positive | None = Field(default=None, description="of the motion under the inputs; default: 1e-4")

    @model_validator(mode="after")
    def _check(self) -> "SteerTable":
        if not self.time[0] < self.time[1]:
            raise PydanticCustomError("time", "the time span is empty or reversed")
        return self


class ImportTable(Table):
    """Nodes and members from other files, named relative to the model file's folder."""

    nodes: Text | None = Field(default=None, description="CSV with name, x, y (, z), fix")
    members: Text | None = Field(default=None, description="CSV with a, b, stiffness or EA, length, kind")
    truss: Text | None = Field(default=None, description="one CSV with both, below lines [nodes] and [members]")
    mesh: Text | None = Field(default=None, description="mesh of line elements (.msh, .vtk by meshio; .obj)")
    supports: Text | dict[str, bool | Text] | None = Field(
        default=None, description='CSV with node, fix; of a mesh: group = what is fixed there, like true or "y"'
    )
    loads: Text | dict[str, list[Number | Text]] | None = Field(
        default=None, description="CSV with node, fx, fy (, fz); of a mesh: group = force at each of its nodes"
    )
    kind: Text = Field(default="bar", description="kind of members for which the file gives none")
