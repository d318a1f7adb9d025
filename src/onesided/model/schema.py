"""The format of model files: tables, keys and types, as pydantic models.

A file is TOML. Keys at the top: `title`, `description`, `energy`, `kinetic`, `space`; tables: `[coordinates]`,
`[parameters]`, `[control]`, `[define]`, `[unilateral]`, `[bilateral]`, `[smallest]`, `[surfaces]`, `[nonholonomic]`,
`[contacts]`, `[scales]`, `[mass]`, `[forces]`, `[friction]`, `[servo]`, `[motion]`, `[start]`, `[import]`, `[sketch]`,
and one per kind of part (see `part_kinds`). Only `[control]` is needed, and either `energy` with `[coordinates]`, or
parts. `json_schema` gives the same for editors.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from onesided.model.formula_scan import DEFAULT_LIMITS, NAME_LENGTH, NAME_PATTERN, suggestion

MAX_ENTRIES = 500
TEXT_LENGTH = 10_000


class FormatError(Exception):
    """What does not fit the format: path of keys, message, what was expected, advice."""

    def __init__(self, path: tuple[str, ...], what: str, *, expected: str = "", advice: str = "") -> None:
        super().__init__(what)
        self.path, self.what, self.expected, self.advice = path, what, expected, advice


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
    if not isinstance(value, str):
        raise PydanticCustomError("formula", 'not a formula: write it in quotes, like "k*x**2/2"')
    return value


Number = Annotated[float, BeforeValidator(_number)]
Positive = Annotated[Number, AfterValidator(_positive), Field(json_schema_extra={"exclusiveMinimum": 0})]
Text = Annotated[str, Field(strict=True, max_length=TEXT_LENGTH)]
FormulaText = Annotated[str, BeforeValidator(_formula), Field(json_schema_extra={"maxLength": DEFAULT_LIMITS.length})]
Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=NAME_LENGTH)]
SpacePart = Annotated[str, Field(strict=True, pattern=r"^(R[1-9][0-9]{0,2}|SO2|SE2|SO3|SE3)$")]
Numbers = dict[Name, Number]
Formulas = Annotated[dict[Name, FormulaText], Field(max_length=MAX_ENTRIES)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ControlTable(_Table):
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


class ScalesTable(_Table):
    """Typical sizes that make tolerances relative; what is not given is estimated."""

    length: Positive | None = Field(default=None, description="a change of coordinates that matters")
    force: Positive | None = Field(default=None, description="a generalised force that matters")
    stiffness: Positive | None = Field(default=None, description="a typical second derivative of the energy")


class CircleTable(_Table):
    """A circle of the drawing."""

    at: Name = Field(description="the point at its centre")
    radius: Number | FormulaText = Field(description="number or formula")
    angle: Number | FormulaText | None = Field(default=None, description="how it has turned, in radians")


class GroundTable(_Table):
    """A wall or floor of the drawing."""

    at: Name = Field(description="a point on it")
    facing: Number = Field(
        description="direction of the free side in degrees: 90 for a floor, 0 for a wall on the left"
    )
    length: Positive | None = Field(default=None, description="default: as long as the picture")


class SolidTable(_Table):
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


class SketchTable(_Table):
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


class ContactTable(_Table):
    """What a one-sided constraint does in motion."""

    restitution: Annotated[float, Field(ge=0, le=1)] = Field(default=0.0, description="of the velocity at an impact")
    friction: Annotated[float, Field(ge=0)] = Field(default=0.0, description="Coulomb's coefficient; inf: never slides")
    slip: FormulaText | None = Field(
        default=None, description="tangential velocity: formula of coordinates and velocities <name>_dot"
    )


class SurfaceTable(_Table):
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


class SmallestTable(_Table):
    """A gap that is the smallest of several distances: split exactly, or smoothed."""

    of: Annotated[list[FormulaText], Field(min_length=2, max_length=50)] = Field(description="the distances: formulas")
    sharpness: Positive | None = Field(
        default=None,
        description="default: split into the constraints NAME_1, NAME_2, …; given: one smooth constraint NAME, below "
        "the smallest distance by at most log(number)/sharpness",
    )


class ServoTable(_Table):
    """A condition that an input meets, and where the input acts."""

    condition: FormulaText = Field(description="held at 0: formula of coordinates, control, parameters")
    input: Annotated[Formulas, Field(min_length=1)] = Field(
        description="coordinate = force on it for an input of 1: formula of coordinates, parameters"
    )


class MotionTable(_Table):
    """What to simulate: time span, start velocities, method, and how the control parameter changes with time."""

    time: Annotated[list[Number], Field(min_length=2, max_length=2)] = Field(description="first and last time")
    velocities: Annotated[Numbers, Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="coordinate = start velocity; those left out are 0"
    )
    control: FormulaText | None = Field(
        default=None, description="the control parameter as a formula of t; default: it keeps its start value"
    )
    method: Literal["projected", "radau", "generalized-alpha", "baumgarte", "event-driven", "moreau"] = Field(
        default="projected",
        description="projected: fast; radau: for stiff systems; event-driven, moreau: with contacts; others to compare",
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


class ImportTable(_Table):
    """Nodes and members from other files, named relative to the model file's folder."""

    nodes: Text | None = Field(default=None, description="CSV with name, x, y (, z), fix")
    members: Text | None = Field(default=None, description="CSV with a, b, stiffness or EA, length, kind")
    truss: Text | None = Field(default=None, description="one CSV with both, below lines [nodes] and [members]")
    mesh: Text | None = Field(default=None, description="mesh of line elements (.msh or .vtk), read by meshio")
    kind: Text = Field(default="bar", description="kind of members for which the file gives none")


class FileModel(_Table):
    """A mechanical system, stated by formulas, by parts (one table per kind: `[bar.NAME]`), or by both."""

    model_config = ConfigDict(title="onesided model file")

    title: Text = Field(default="", description="one line")
    description: Text = Field(default="", description="what the model shows")
    energy: FormulaText | None = Field(
        default=None, description="potential energy U: formula of coordinates, control, parameters"
    )
    kinetic: FormulaText | None = Field(
        default=None,
        description="kinetic energy: formula of coordinates, their velocities <name>_dot, parameters",
    )
    coordinates: Annotated[Numbers, Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="coordinate = start value, beside those of nodes and bodies"
    )
    start: Annotated[Numbers, Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="coordinate = start value, where nodes and bodies should start elsewhere"
    )
    import_: ImportTable | None = Field(default=None, alias="import", description="nodes and members from other files")
    parameters: Annotated[Numbers, Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="parameter = value"
    )
    control: ControlTable = Field(description="the control parameter")
    define: Formulas = Field(default_factory=dict, description="intermediate quantity = formula; any order")
    unilateral: Formulas = Field(default_factory=dict, description="constraint = formula of a gap, ≥ 0")
    smallest: Annotated[dict[Name, SmallestTable], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="constraint = {of = [formula, …], sharpness}: the smallest of them, ≥ 0"
    )
    surfaces: Annotated[dict[Name, SurfaceTable], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="contact = {first, second, start, rolls, opens, restitution}: two outlines"
    )
    bilateral: Formulas = Field(default_factory=dict, description="constraint = formula that is held at 0")
    scales: ScalesTable = Field(default_factory=ScalesTable, description="typical sizes")
    nonholonomic: Formulas = Field(
        default_factory=dict, description="constraint = formula of coordinates and velocities <name>_dot, held at 0"
    )
    contacts: Annotated[dict[Name, ContactTable], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="one-sided constraint = {restitution, friction, slip}"
    )
    motion: MotionTable | None = Field(default=None, description="what `onesided simulate` does")
    mass: Formulas = Field(
        default_factory=dict,
        description="coordinate = mass: formula of coordinates, parameters; or give `kinetic`",
    )
    forces: Formulas = Field(
        default_factory=dict,
        description="coordinate = force beside the energy: of t, coordinates, velocities, p, parameters",
    )
    friction: Formulas = Field(
        default_factory=dict,
        description="coordinate = force that depends on multipliers of [bilateral], called <constraint>_force",
    )
    servo: Annotated[dict[Name, ServoTable], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="name = {condition, input}: conditions that inputs meet"
    )
    space: Annotated[list[SpacePart], Field(min_length=1, max_length=MAX_ENTRIES)] | None = Field(
        default=None, description='spaces of the coordinates in turn: "R3" (plain), "SO2", "SE2", "SO3", "SE3"'
    )
    sketch: SketchTable | None = Field(default=None, description="how to draw the system")


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of model files, with a table for every kind of part (imports JAX)."""
    from onesided.model.part_kinds import part_kinds

    schema = FileModel.model_json_schema()
    own = schema["properties"]
    for name, kind in part_kinds().items():
        own[name] = {"anyOf": [own[name], kind.schema()]} if name in own else kind.schema()
    formulas = {"required": ["energy", "coordinates"]}
    choices = [formulas, *({"required": [name]} for name in ("import", *part_kinds()))]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "anyOf": choices}


def part_tables(data: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of parsed TOML that are not of the fixed format: kinds of parts, if they are right."""
    known = {field.alias or name for name, field in FileModel.model_fields.items()}
    return {
        key: value for key, value in data.items() if key not in known or (key == "energy" and isinstance(value, dict))
    }


def read_format(data: Mapping[str, Any], *, parts: bool = False) -> FileModel:
    """Check parsed TOML, without the tables of parts, against the format; with `parts`, formulas may be missing.

    Raises
    ------
    FormatError
        For the first thing that does not fit.
    """
    try:
        file = FileModel.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False, include_context=True)
    else:
        if not parts:
            _need_formulas(data)
        return file
    # an unknown key often explains a missing one, so it goes first
    details.sort(key=lambda detail: detail["type"] != "extra_forbidden")
    if not parts and details[0]["type"] != "extra_forbidden":
        _need_formulas(data)
    raise _explain(details[0]["type"], details[0]["loc"], details[0]["msg"])


def _need_formulas(data: Mapping[str, Any]) -> None:
    for name in ("energy", "coordinates"):
        if name not in data:
            raise FormatError((), f"`{name}` is missing in the file", advice=_EXAMPLES[name])
    if data["coordinates"] == {}:
        expected = f"1 to {MAX_ENTRIES} entries"
        raise FormatError(("coordinates",), "wrong number of entries in `coordinates`", expected=expected)


_MESSAGES = {
    "dict_type": ("not a table", "a table"),
    "model_type": ("not a table", "a table"),
    "list_type": ("not an array", "an array of two numbers"),
    "string_type": ("not text", "text in quotes"),
    "literal_error": ("not a direction", '"up" or "down"'),
    "string_too_long": ("the text is too long", f"{TEXT_LENGTH} characters at most"),
}


def _explain(kind: str, loc: tuple[int | str, ...], message: str) -> FormatError:
    path = tuple(str(part) for part in loc if not isinstance(part, int) and part != "[key]")
    here = f"[{path[0]}]" if len(path) > 1 else "the file"
    name = path[-1] if path else ""
    if kind == "extra_forbidden":
        known = _fields(path[:-1])
        misplaced = name in FileModel.model_fields
        advice = "move it to the top, above the first table" if misplaced else suggestion(name, known)
        return FormatError(path, f"unknown key {shown(name)} in {here}", expected=", ".join(known), advice=advice)
    if kind == "missing":
        return FormatError(path[:-1], f"`{name}` is missing in {here}", advice=_EXAMPLES.get(name, ""))
    if loc[-1] == "[key]":
        rule = f"an ASCII letter, then letters, digits and `_`, {NAME_LENGTH} characters at most"
        return FormatError(path, f"the name {shown(name)} cannot be used", expected=rule)
    if kind in ("too_short", "too_long"):
        expected = "two numbers" if name in ("range", "time") else f"1 to {MAX_ENTRIES} entries"
        return FormatError(path, f"wrong number of entries in `{name}`", expected=expected)
    if kind == "literal_error" and name != "direction":
        return FormatError(
            path, f"`{name}` is none of the words known here", expected=message[len("Input should be ") :]
        )
    if path[:1] == ("space",) and kind.startswith("string"):
        return FormatError(
            ("space",), "not a configuration space", expected='words like "R3", "SO2", "SE2", "SO3", "SE3"'
        )
    what, expected = _MESSAGES.get(kind, (message, ""))
    return FormatError((*path, kind) if kind in ("range", "start") else path, what, expected=expected)


_EXAMPLES = {
    "energy": 'energy = "k*x**2/2 - p*x", above the first table',
    "coordinates": "[coordinates] with a line like x = 0.0",
    "control": "[control] with a line like range = [0.0, 1.0]",
    "range": "range = [0.0, 1.0]",
    "condition": 'condition = "x - p"',
    "input": 'input = {x = "1"}',
    "time": "time = [0, 10]",
}


def _fields(path: tuple[str, ...]) -> list[str]:
    tables: dict[tuple[str, ...], type[BaseModel]] = {
        ("control",): ControlTable,
        ("scales",): ScalesTable,
        ("motion",): MotionTable,
        ("import",): ImportTable,
        ("sketch",): SketchTable,
        ("sketch", "circles"): CircleTable,
        ("sketch", "grounds"): GroundTable,
        ("sketch", "solids"): SolidTable,
    }
    entries: dict[str, type[BaseModel]] = {"contacts": ContactTable, "servo": ServoTable}
    table = entries[path[0]] if len(path) == 2 and path[0] in entries else tables.get(path[:2], FileModel)
    return [field.alias or name for name, field in table.model_fields.items()]


def shown(value: Any, most: int = 60) -> str:
    """Return a value from a file as short printable text."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print integers of more than some thousand digits
        text = "a number of very many digits"
    text = "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= most else text[:most] + "…"
