"""The format of model files: tables, keys and types, as pydantic models.

A file is TOML. Keys at the top: `title`, `description`, `energy`, `kinetic`, `space`; tables: `[coordinates]`,
`[parameters]`, `[control]`, `[define]`, `[measures]`, `[unilateral]`, `[bilateral]`, `[smallest]`, `[surfaces]`,
`[nonholonomic]`, `[contacts]`, `[scales]`, `[mass]`, `[forces]`, `[friction]`, `[servo]`, `[motion]`, `[steer]`,
`[start]`, `[import]`, `[sketch]`, `[labels]`, `[study]`, `[design]`, and one per kind of part (see `part_kinds`).
Only `[control]` is needed, and either `energy` with `[coordinates]`, or parts. `json_schema` gives it for editors.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
)

from onesided import files
from onesided.files.design_table import DesignTable
from onesided.files.schema_tables import (
    MAX_ENTRIES,
    TEXT_LENGTH,
    CircleTable,
    ContactTable,
    ControlTable,
    FormatError,
    Formulas,
    FormulaText,
    GroundTable,
    ImportTable,
    LabelTable,
    LoadArrowTable,
    MotionTable,
    Name,
    Numbers,
    ScalesTable,
    ServoTable,
    SketchTable,
    SmallestTable,
    SolidTable,
    SpacePart,
    SteerTable,
    SurfaceTable,
    Table,
    Text,
)
from onesided.files.study_tables import AxisTable, ImperfectionTable, SampleTable, StudyTable
from onesided.formulas.gate import NAME_LENGTH, suggestion


class FileModel(Table):
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
    measures: Formulas = Field(
        default_factory=dict,
        description="name = formula that is looked at along results: coordinates, p, parameters, definitions; with "
        "parts also member results like left.force",
    )
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
    steer: SteerTable | None = Field(default=None, description="what `onesided steer` does")
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
    design: DesignTable | None = Field(default=None, description="what `onesided design` looks for")
    sketch: SketchTable | None = Field(default=None, description="how to draw the system")
    labels: Annotated[dict[Text, LabelTable], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=dict, description="quantity = {label, unit}: what pictures call it"
    )
    study: StudyTable | None = Field(default=None, description="what `onesided study` does")


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of model files, with a table for every kind of part (imports JAX)."""
    schema = FileModel.model_json_schema()
    own = schema["properties"]
    for name, kind in files.part_kinds.part_kinds().items():
        own[name] = {"anyOf": [own[name], kind.schema()]} if name in own else kind.schema()
    formulas = {"required": ["energy", "coordinates"]}
    choices = [formulas, *({"required": [name]} for name in ("import", *files.part_kinds.part_kinds()))]
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
            raise FormatError((), f"`{name}` is missing in the file", advice=_EXAMPLES[name], named=True)
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
        return FormatError(
            path, f"unknown key {shown(name)} in {here}", expected=", ".join(known), advice=advice, named=True
        )
    if kind == "missing":
        return FormatError(path[:-1], f"`{name}` is missing in {here}", advice=_EXAMPLES.get(name, ""), named=True)
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
    "inputs": 'inputs = {pull = "x"}',
    "goal": "goal = {x = 1.0, x_dot = 0.0}",
}


def _fields(path: tuple[str, ...]) -> list[str]:
    tables: dict[tuple[str, ...], type[BaseModel]] = {
        ("control",): ControlTable,
        ("scales",): ScalesTable,
        ("motion",): MotionTable,
        ("steer",): SteerTable,
        ("import",): ImportTable,
        ("sketch",): SketchTable,
        ("labels",): LabelTable,
        ("design",): DesignTable,
        ("study",): StudyTable,
        ("study", "over"): AxisTable,
        ("study", "sample"): SampleTable,
        ("study", "imperfections"): ImperfectionTable,
        ("sketch", "circles"): CircleTable,
        ("sketch", "grounds"): GroundTable,
        ("sketch", "solids"): SolidTable,
        ("sketch", "loads"): LoadArrowTable,
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
