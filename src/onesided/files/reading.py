"""Model files: `load` reads a TOML file and returns the system and the task it states.

::

    title = "Bar on a stop, pulled by a spring"
    energy = "k/2*((d - L*cos(phi))**2 + (p - L*sin(phi))**2)"

    [coordinates]            # name = start value
    phi = 0.0
    [parameters]             # name = value
    k = 1.0
    L = 1.0
    d = -1.0
    [control]                # the parameter that drives the system
    name = "p"               # "p" by default
    range = [-2.0, 2.0]
    start = -1.0             # default: the end of the range that `direction` leaves from
    direction = "up"         # or "down"
    [define]                 # intermediate quantities, in any order
    height = "L*sin(phi)"
    [unilateral]             # gaps, held ≥ 0
    stop = "sin(phi)"
    [bilateral]              # held = 0
    [scales]                 # typical sizes: length, force, stiffness, unit = {x = 1000}; what is left out is estimated

A structure is stated by parts instead, or as well: one table per kind of place or element, with the names and keys of
the Python classes (`onesided.elements`); `onesided schema` lists them all. ::

    [node.a]                 # Node("a", at=(0, 0), fixed=True)
    at = [0, 0]
    fixed = true
    [node.top]
    at = ["b", "h"]          # quantities are numbers or formulas of parameters (and definitions that rest on them)
    fixed = "x"
    [bar]
    stiffness = "k"          # a key of the kind beside its entries: a default for all of them
    left = {ends = ["a", "top"]}
    [force.load]
    at = "top"
    force = [0, -1]          # grows with p

Formulas under `energy`, `[define]`, `[unilateral]`, `[bilateral]` may use the coordinates of parts (`top_y`) and are
added to them; `[start]` gives coordinates another start value. `energy` and `[coordinates]` may then be missing.

Repetition: an entry with `repeat` stands for many. ::

    [node."n{i}"]            # n0, …, n100
    repeat = {i = [0, 100]}  # both ends included; up to three indices
    at = ["a*i", 0]          # the index is a number in formulas
    [node.n0]                # a later entry of the same name changes what it states
    fixed = true
    [bar."b{i}"]
    repeat = {i = [1, 100]}
    ends = ["n{i-1}", "n{i}"]    # integer arithmetic (+ - * // %) between braces; a ring: "n{(i+1)%6}"

`[import]` takes nodes and members from other files in the same folder: `truss = "truss.csv"`, or `nodes` and
`members`, or `mesh = "net.msh"` (see `onesided.files.imports`); `kind = "cable"` is the kind of members that have none.

For motion: `kinetic = "…"` beside `energy` (velocities are called `<coordinate>_dot`), or `[mass]` with a
formula for each coordinate; `[forces]` with formulas of `t`, coordinates, velocities, control and parameters;
`[nonholonomic]` with formulas of coordinates and velocities, held at 0. Forces of friction may depend on the
multipliers of bilateral constraints, called `<constraint>_force`; conditions can be met by inputs (servo constraints);
coordinates can be put on rotations. `onesided simulate` reads ::

    space = ["R3", "SO3"]        # at the top: three plain coordinates, then a rotation vector; also SO2, SE2, SE3
    [friction]
    x = "-f*abs(guide_force)*tanh(1000*x_dot)"
    [servo.follow]
    condition = "load - p"       # held at 0
    input = {trolley = "1"}      # by a force on these coordinates, times what is given here

    [motion]
    time = [0, 10]
    velocities = {x = 1.0}       # the others are 0
    control = "0.1*sin(2*t)"     # p as a formula of t: constraints that depend on p move; default: p stays
    method = "projected"         # or "radau", "generalized-alpha", "baumgarte"; rtol = …, step = …

Gaps that are not differentiable, and bodies with curved outlines::

    [smallest]                   # min(x, y) ≥ 0: constraints corner_1 and corner_2; with sharpness = … one smooth one
    corner = {of = ["x", "y"]}
    [surfaces.road]              # two outlines as functions of s (in space s1, s2); see `onesided.system.surfaces`
    first = ["x + r*cos(s + phi)", "y + r*sin(s + phi)"]
    second = ["s", "h*cos(w*s)"]
    start = [-1.5708, 0]         # parameters near the start
    rolls = true                 # and opens, restitution, names

Formulas turn vectors with `turn_x(a, b, c, x, y, z)`, `turn_y`, `turn_z`: components of (x, y, z) turned by the
rotation vector (a, b, c).

A file from a stranger is safe to load: formulas are arithmetic and nothing else (see
`onesided.formulas.formula`), and size, nesting and work are bounded.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from onesided import files
from onesided.base.arguments import checked
from onesided.base.errors import visible
from onesided.base.names import nearest
from onesided.base.types import Array
from onesided.base.views import views
from onesided.files.design_table import DesignTable
from onesided.files.new_numbers import carrying
from onesided.files.schema import FileModel, part_tables, read_format, shown
from onesided.files.schema_tables import FormatError
from onesided.files.steer_table import SteerTask, steer_task
from onesided.files.study_tables import StudyTable
from onesided.files.toml_places import Source
from onesided.files.toml_text import MAX_BYTES, decode, parse, read_text, too_large
from onesided.formulas.gate import suggestion
from onesided.results.wording import short
from onesided.system.travel import made_by

if TYPE_CHECKING:
    from onesided.system.system import System


@dataclass(frozen=True, eq=False)
class MotionTask:
    """What a file says about motion: time span, start velocities, p(t), name and knobs of the method; or None."""

    time: tuple[float, float]
    velocities: Mapping[str, float]
    control: Callable[[Any], Any] | None
    method: str | None
    rtol: float | None
    step: float | None
    theta: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """What a model file asks for: where to start and which way to go.

    Attributes
    ----------
    start : (n,) array
        Start values of the coordinates, read-only.
    p : float
        First value of the control parameter.
    p_bounds : (float, float)
        Its range.
    direction : int
        +1 up, −1 down.
    title, description : str
        From the file, may be empty.
    programme : tuple of float
        Values of the control parameter to be driven through, the first included.
    source : str
        The text of the file.
    given : mapping
        Start values that the file gives by name; the others are where the parts are.
    motion : MotionTask or None
        What to simulate.
    study : StudyTable or None
        What to vary.
    design : DesignTable or None
        Which parameters may change, and what is wanted.
    steer : SteerTask or None
        Where to steer.
    """

    start: Array
    p: float
    p_bounds: tuple[float, float]
    direction: int
    title: str
    description: str
    source: str
    programme: tuple[float, ...] = ()
    given: Mapping[str, float] = field(default_factory=dict)
    motion: MotionTask | None = None
    study: StudyTable | None = None
    design: DesignTable | None = None
    steer: SteerTask | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Copied and sent to other processes with start values as a plain table."""
        return {**self.__dict__, "given": dict(self.given)}

    def __repr__(self) -> str:
        low, high = self.p_bounds
        way = "up" if self.direction > 0 else "down"
        lines = [
            f"<Task: {self.title or 'no title'}>",
            f"  from p = {self.p:g} {way}, between {low:g} and {high:g}; programme {short(np.array(self.programme))}",
            f"  start {short(np.asarray(self.start))}",
        ]
        if self.motion is not None:
            span = "from t = {:g} to {:g}".format(*self.motion.time)
            lines.append(f"  motion {span}" + (f", {self.motion.method}" if self.motion.method else ""))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return str(views("report").task_html(self))


class Model(NamedTuple):
    """A loaded file: `system, task = load(path)`."""

    system: "System"
    task: Task

    def __repr__(self) -> str:
        return f"<Model: {self.system!r}>\n{self.task!r}"

    def _repr_html_(self) -> str:
        return str(views("report").model_html(self))

    @property
    def text(self) -> str:
        """The text of the file with the parameters as they are now."""
        return carrying(self.task.source, self.system.parameters)

    def with_parameters(self, parameters: Mapping[str, float]) -> "Model":
        """The same with other parameter values; parts whose places depend on them start elsewhere."""
        system = self.system.replace(parameters=parameters)
        task = replace(self.task, start=_start(system, self.task.given))
        system._set("task", task)
        return Model(system, task)


@checked
def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file.

    Parameters
    ----------
    path : path-like
        A TOML file in UTF-8; the format is described at the top of this module.

    Returns
    -------
    Model
        The system and the task.

    Raises
    ------
    ModelFileError
        With file, key, line and column where known; a FormulaError also shows the formula with a caret.
    """
    name = os.fspath(path)
    return loads(decode(read_text(Path(path), name), name), name, folder=Path(path).parent)


@checked
def loads(text: str, name: str = "<string>", *, folder: Path | None = None) -> Model:
    """Read a model from text; `name` stands for the file in messages. Otherwise like `load`.

    `folder` is where the files of `[import]` lie; without it there is no import.
    """
    if len(text) > MAX_BYTES:
        raise too_large(name)
    source = Source(name, text.replace("\r\n", "\n"))
    data = parse(source)
    parts = part_tables(data)
    fixed = {key: value for key, value in data.items() if key not in parts}
    try:
        if parts:
            files.part_tables.check_tables(parts)
        file = read_format(fixed, parts=bool(parts) or "import" in data)
    except FormatError as error:
        got = shown(value) if (value := _lookup(data, error.path)) is not None else ""
        raise source.error(
            error.path, error.what, got="" if error.named else got, expected=error.expected, advice=error.advice
        ) from None
    file = files.formula_kinks.without_kinks(file, source)
    system = _build(file, parts, source, folder) if parts or file.import_ else files.formula_system.build(file, source)
    made_by(system, _system_of, text, name, folder)
    task = _task(file, system, source)
    system._set("task", task)
    system._set("labels", _labels(file, system, source))
    _check_units(file, system, source)
    return Model(system, task)


def _check_units(file: FileModel, system: "System", source: Source) -> None:
    for name in file.scales.unit:
        if name not in file.coordinates:
            known = name in system.coordinates
            what = f"the unit of `{name}` is known: it belongs to a part" if known else f"`{name}` is not a coordinate"
            advice = "remove it" if known else suggestion(name, file.coordinates)
            raise source.error(("scales", "unit", name), what, advice=advice)


def _labels(file: FileModel, system: "System", source: Source) -> Mapping[str, tuple[str, str]]:
    """What the file calls quantities; names that no result will hold are refused."""
    known = {system.control, *system.coordinates, *system.measures, *system.parameters, "energy", "t"}
    known |= {f"{what} {name}" for what in ("reaction", "gap") for name in system.unilateral}
    known |= {f"velocity {name}" for name in system.coordinates}
    for name in file.labels:
        if name not in known and "." not in name:
            advice = f"did you mean '{guess}'?" if (guess := nearest(name, known)) else ""
            raise source.error(("labels", name), f"there is no quantity '{name}' to be labelled", advice=advice)
    return MappingProxyType({name: (one.label, one.unit) for name, one in file.labels.items()})


def _system_of(text: str, name: str, folder: Path | None) -> "System":
    return loads(text, name, folder=folder).system


def _build(file: FileModel, parts: dict[str, Any], source: Source, folder: Path | None) -> "System":
    for table in ("surfaces", "smallest"):
        if getattr(file, table):
            raise source.error((table,), f"[{table}] is for files of formulas", advice="state the model without parts")
    rows = [] if file.import_ is None else files.imports.import_rows(file.import_, source, folder)
    return files.part_system.build_parts(file, parts, rows, source)


def _task(file: FileModel, system: "System", source: Source) -> Task:
    for name in file.start:
        if name not in system.coordinates:
            advice = suggestion(name, system.coordinates)
            raise source.error(("start", name), f"`{name}` is not a coordinate", advice=advice)
    given = {**file.coordinates, **files.formula_contacts.contact_points(file), **file.start}
    start = _start(system, given)
    low, high = file.control.range
    direction = 1 if file.control.direction == "up" else -1
    there = high if direction > 0 else low
    programme = tuple(file.control.programme or (file.control.value, there, file.control.value))
    return Task(
        start,
        file.control.value,
        (low, high),
        direction,
        visible(file.title),
        visible(file.description),
        source.text,
        programme,
        MappingProxyType(given),
        _motion(file),
        steer=steer_task(file, system, source),
        study=file.study,
        design=file.design,
    )


def _motion(file: FileModel) -> MotionTask | None:
    asked = file.motion
    if asked is None:
        return None
    control = None if asked.control is None else files.formula_system.time_function(asked.control)
    first, last = asked.time
    return MotionTask((first, last), dict(asked.velocities), control, asked.method, asked.rtol, asked.step, asked.theta)


def _start(system: "System", given: Mapping[str, float]) -> Array:
    """Start values: those given by name, otherwise where the parts are."""
    own = system.start if system.has_start else np.zeros(system.n)
    number = {name: i for i, name in enumerate(system.coordinates)}
    for name, value in given.items():
        own[number[name]] = value
    own.setflags(write=False)
    return own


def _lookup(data: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return None if isinstance(data, dict) else data
