"""The command line: argument parsing only; anything it does is two lines of Python."""

import io
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

import onesided
from onesided import cli, dynamics, files, zoo
from onesided._version import __version__
from onesided.base import caches
from onesided.base.errors import UsageError
from onesided.base.interrupt import EXIT_INTERRUPTED, INTERRUPT
from onesided.cli.cable_commands import cables
from onesided.cli.design_commands import designs
from onesided.cli.exits import clear_errors, diagram_code, exit_code
from onesided.cli.given import load_model, number
from onesided.cli.live_command import lives
from onesided.cli.options import Care, Change, File, High, Json, Low, Output, Quiet, Report
from onesided.cli.search_commands import searches
from onesided.cli.study_commands import studies
from onesided.cli.view_commands import views
from onesided.cli.work import results_folder, work

if TYPE_CHECKING:
    from onesided.files.reading import Model

app = typer.Typer(
    help="Equilibrium paths and motion of mechanical systems whose constraints act on one side only.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(views)
app.add_typer(studies)
app.add_typer(searches)
app.add_typer(cables)
app.add_typer(designs)
app.add_typer(lives)


def main() -> None:
    """Run the command line; a terminal that lacks a sign gets a question mark instead of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    INTERRUPT.listen()
    try:
        app()
    except SystemExit:
        if INTERRUPT.asked:
            sys.exit(EXIT_INTERRUPTED)
        raise


def _version(value: bool) -> None:
    if value:
        sys.stdout.write(f"onesided {__version__}\n")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
]


@app.callback()
def _root(version: VersionOption = False) -> None:
    """Equilibrium paths and motion of mechanical systems whose constraints act on one side only."""


@app.command()
def examples(
    name: Annotated[str | None, typer.Argument(help="Print this model file, to be copied: NAME > my.toml")] = None,
) -> None:
    """List the bundled models, or print one."""
    with clear_errors():
        if name is not None:
            sys.stdout.write(zoo.text(name))
            return
        cli.event_table.facts({key: zoo.summary(key) for key in zoo.names()})
        sys.stdout.write("\nCopy one out with: onesided examples NAME > my.toml\n")


@app.command()
def schema() -> None:
    """Print the JSON schema of the model file format."""
    sys.stdout.write(json.dumps(files.schema.json_schema(), indent=2) + "\n")


@app.command()
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove it; it is made again as models are used.")] = False,
) -> None:
    """Say where compiled code is kept between runs and how much there is, or remove it."""
    with clear_errors():
        if clear:
            sys.stdout.write(f"{caches.clear() / cli.environment.MEGABYTE:.1f} MB removed\n")
        else:
            sys.stdout.write(f"{cli.environment.kept_code()}\n")


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Model file, or a bundled model.")] = None,
    environment: Annotated[
        bool, typer.Option("--environment", help="Versions, caches, devices and programs instead.")
    ] = False,
) -> None:
    """Validate a model file: names, formulas, values at the start; or look at the installation."""
    with clear_errors():
        if environment == (file is not None):
            raise UsageError("nothing to check", expected="a model file, or --environment")
        cli.event_table.facts(cli.environment.environment() if file is None else cli.model_facts.model_facts(file))


@app.command()
def solve(
    file: File,
    p: Annotated[float | None, typer.Option("--p", help="Value of p; default: the file's start.")] = None,
    change: Change = None,
    as_json: Json = False,
) -> None:
    """Find an equilibrium at fixed p from the file's start, also one that is infeasible or far away."""
    with clear_errors(as_json):
        model = load_model(file, change)
        found = onesided.solve(model.system, p=_within(model, p), throw=False)
        cli.listing.solution(found, as_json=as_json)
        raise typer.Exit(exit_code(found.status))


@app.command()
def trace(  # noqa: PLR0913, PLR0917 - one option each
    file: File,
    direction: Annotated[str | None, typer.Option(help="up or down; default: the file's.")] = None,
    p_min: Low = None,
    p_max: High = None,
    max_events: Annotated[int | None, typer.Option(help="Stop after so many events.")] = None,
    max_points: Annotated[int | None, typer.Option(help="Stop after so many points.")] = None,
    first_order: Annotated[bool, typer.Option("--first-order", help="Integrate, as the papers do.")] = False,
    care: Care = "normal",
    change: Change = None,
    output: Output = None,
    report: Report = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Trace the equilibrium path from the file's start; every event is located, named and explained."""
    with work(file, "trace", change, output, as_json=as_json, quiet=quiet) as run:
        model = run.model
        bounds = _bounds(model, p_min, p_max)
        found = onesided.trace(
            model.system,
            direction=_sign(direction, model.task.direction),
            p_bounds=bounds,
            max_points=max_points,
            max_events=max_events,
            method=onesided.FirstOrder() if first_order else _careful(care),
            progress=run.progress(model.system.control, bounds),
            throw=False,
        )
        cli.listing.path(found, as_json=as_json, folder=run.save(found, report=report))
        raise typer.Exit(exit_code(found.status))


@app.command()
def diagram(  # noqa: PLR0913, PLR0917 - one option each
    file: File,
    p_min: Low = None,
    p_max: High = None,
    max_branches: Annotated[int, typer.Option(help="Largest number of branches.")] = 50,
    max_depth: Annotated[int, typer.Option(help="How often a branch may leave another.")] = 8,
    symmetry: Annotated[
        bool, typer.Option("--symmetry", help="Detect the symmetry of the parts; fold images.")
    ] = False,
    care: Care = "normal",
    change: Change = None,
    output: Output = None,
    report: Report = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find all branches reachable from the file's start, each once."""
    with work(file, "diagram", change, output, as_json=as_json, quiet=quiet) as run:
        model = run.model
        bounds = _bounds(model, p_min, p_max)
        found = onesided.diagram(
            model.system,
            p_bounds=bounds,
            max_branches=max_branches,
            max_depth=max_depth,
            method=_careful(care),
            symmetry="detect" if symmetry else None,
            progress=run.progress(model.system.control, bounds),
            throw=False,
        )
        cli.listing.diagram(found, as_json=as_json, folder=run.save(found, report=report))
        raise typer.Exit(diagram_code(found, (max_branches, max_depth)))


@app.command()
def drive(  # noqa: PLR0913, PLR0917 - one option each
    file: File,
    programme: Annotated[
        str | None, typer.Option(help='Values of p in turn, as in "-1, 1, -1"; default: the file\'s.')
    ] = None,
    p_min: Low = None,
    p_max: High = None,
    fall: Annotated[str, typer.Option(help="How jumps are computed: descent, damped (motion) or both.")] = "descent",
    change: Change = None,
    output: Output = None,
    report: Report = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Let p follow a programme: stable states are followed, where they end the system jumps."""
    with work(file, "drive", change, output, as_json=as_json, quiet=quiet) as run:
        model = run.model
        values = _values(programme) if programme is not None else model.task.programme
        for value in values:
            _within(model, value, _bounds(model, p_min, p_max))
        span = min(values, default=0.0), max(values, default=0.0)
        progress = run.progress(model.system.control, span)
        way = cast(Any, fall)  # checked by `drive`
        found = onesided.drive(model.system, model.task.start, values, fall=way, progress=progress, throw=False)
        cli.listing.drive(found, as_json=as_json, folder=run.save(found, report=report))
        raise typer.Exit(exit_code(found.status))


@app.command()
def simulate(  # noqa: PLR0913, PLR0917 - one option each
    file: File,
    time: Annotated[float | None, typer.Option(help="Last time; default: the file's.")] = None,
    method: Annotated[str | None, typer.Option(help="As in the file: projected, radau, event-driven, moreau …")] = None,
    rtol: Annotated[float | None, typer.Option(help="Accuracy of a step.")] = None,
    step: Annotated[float | None, typer.Option(help="A fixed step instead.")] = None,
    change: Change = None,
    output: Output = None,
    report: Report = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    r"""Follow the motion that the file's \[motion] states."""
    with work(file, "simulate", change, output, as_json=as_json, quiet=quiet) as run:
        model = run.model
        task = model.task.motion
        if task is None:
            raise UsageError("the file states no motion", expected="a table [motion] with time = [first, last]")
        span = (task.time[0], task.time[1] if time is None else time)
        found = onesided.simulate(
            model.system,
            t_span=span,
            method=_method(model, span, method, rtol, step),
            progress=run.progress("t", span),
            throw=False,
        )
        cli.listing.motion(found, as_json=as_json, folder=run.save(found, report=report))
        raise typer.Exit(exit_code(found.status))


@app.command()
def steer(
    file: File,
    change: Change = None,
    output: Output = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    r"""Find inputs that bring the system where the file's \[steer] says, at the least cost."""
    with work(file, "steer", change, output, as_json=as_json, quiet=quiet) as run:
        model = run.model
        if model.task.steer is None:
            raise UsageError("the file states no goal", expected="a table [steer] with time, inputs and goal")
        shown = run.progress("cost", (-math.inf, math.inf))
        found = onesided.steer(model.system, progress=shown, throw=False)
        cli.listing.steering(found, as_json=as_json, folder=run.save(found))
        raise typer.Exit(exit_code(found.status))


@app.command()
def demo() -> None:
    """Trace the bundled corner-limit model, write its report and say how to open it."""
    with clear_errors():
        sys.stdout.write("$ onesided trace corner-limit --report\n")
        try:
            trace(Path("corner-limit"), report=True)
        except typer.Exit as done:
            if done.exit_code == 0:
                cli.listing.how_to_open(results_folder(None, Path("corner-limit"), "trace") / "report.html")
            raise


def _values(programme: str) -> tuple[float, ...]:
    return tuple(number(item, "a value of --programme") for item in programme.replace(",", " ").split())


def _within(model: "Model", p: float | None, bounds: tuple[float, float] | None = None) -> float:
    low, high = bounds or model.task.p_bounds
    value = model.task.p if p is None else p
    if not low <= value <= high:
        raise UsageError(
            f"{model.system.control} is outside its range",
            got=f"{value:g}",
            expected=f"{low:g} to {high:g}",
            advice="choose another value, or widen `range` in the file's [control]"
            + (", or --p-min and --p-max" if bounds else ""),
        )
    return value


def _bounds(model: "Model", low: float | None, high: float | None) -> tuple[float, float]:
    a, b = model.task.p_bounds
    return (a if low is None else low, b if high is None else high)


def _method(model: "Model", span: tuple[float, float], name: str | None, rtol: float | None, step: float | None) -> Any:
    """The file's method of motion with what the options change; None where they change nothing."""
    changed = name is not None or rtol is not None or step is not None
    return dynamics.asked.method_of(model.system, span, name, rtol, step)[0] if changed else None


def _careful(care: str) -> Any:
    """The method that looks as closely as asked for."""
    steps = onesided.PredictorCorrector
    methods = {"fast": steps.fast, "normal": steps, "thorough": steps.thorough}
    if care not in methods:
        raise UsageError("there is no such care", got=care, expected=", ".join(methods))
    return methods[care]()


def _sign(direction: str | None, default: int) -> int:
    if direction is None:
        return default
    if direction not in {"up", "down"}:
        raise UsageError("--direction is not known", got=repr(direction), expected="up or down")
    return 1 if direction == "up" else -1
