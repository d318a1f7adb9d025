"""The command line: argument parsing and printing; anything it does is two lines of Python."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from onesided._version import __version__
from onesided.errors import OnesidedError, SolveError

if TYPE_CHECKING:
    from onesided.model.files import Model
    from onesided.results import Equilibrium, Solution

app = typer.Typer(
    help="Equilibrium paths and motion of mechanical systems whose constraints act on one side only.",
    no_args_is_help=True,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
out = Console()
err = Console(stderr=True)

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="Model file (TOML), or the name of a bundled model.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]

EXIT_FAILED, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130


def main() -> None:
    """Run the command line; errors become one clear message and an exit code."""
    try:
        app(standalone_mode=True)
    except KeyboardInterrupt:
        err.print("interrupted: nothing was left half-written")
        raise SystemExit(EXIT_INTERRUPTED) from None


@contextmanager
def _clear_errors(as_json: bool = False) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        err.print("interrupted: nothing was left half-written")
        raise typer.Exit(EXIT_INTERRUPTED) from None
    except SolveError as e:
        _fail(e, as_json, EXIT_FAILED)
    except OnesidedError as e:
        _fail(e, as_json, EXIT_BAD_INPUT)


def _fail(e: OnesidedError, as_json: bool, code: int) -> None:
    if as_json:
        out.print_json(json.dumps({"status": "error", "error": str(e)}))
    else:
        err.print(f"[bold red]error[/]: {_plain(str(e))}", highlight=False, soft_wrap=True)
    raise typer.Exit(code) from None


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _version(value: bool) -> None:
    if value:
        out.print(f"onesided {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Equilibrium paths and motion of mechanical systems whose constraints act on one side only."""


@app.command()
def examples(
    name: Annotated[str | None, typer.Argument(help="Print this model file, to be copied: NAME > my.toml")] = None,
) -> None:
    """List the bundled models, or print one."""
    from onesided import zoo

    with _clear_errors():
        if name is not None:
            sys.stdout.write(zoo.text(name))
            return
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for key in zoo.names():
            table.add_row(f"[bold]{key}[/]", zoo.summary(key))
        out.print(table)
        out.print("\nCopy one out with [bold]onesided examples NAME > my.toml[/]", highlight=False)


@app.command()
def schema() -> None:
    """Print the JSON schema of the model file format."""
    from onesided.model.schema import json_schema

    sys.stdout.write(json.dumps(json_schema(), indent=2) + "\n")


@app.command()
def check(file: FileArgument) -> None:
    """Validate a model file: names, formulas, values at the start."""
    with _clear_errors():
        model = _load(file)
        system, task = model
        system.check_start(task.start, task.p)
        sizes = system.sizes(task.start, task.p)
        out.print(f"[green]ok[/] {_plain(task.title or str(file))}", highlight=False)
        out.print(f"  coordinates   {', '.join(system.coordinates)}", highlight=False)
        out.print(f"  one-sided     {', '.join(system.unilateral) or 'none'}", highlight=False)
        out.print(f"  two-sided     {', '.join(system.bilateral) or 'none'}", highlight=False)
        low, high = task.p_bounds
        out.print(f"  control       {system.control} from {task.p:g}, between {low:g} and {high:g}", highlight=False)
        scales = f"length {sizes.length:.3g}, force {sizes.force:.3g}, stiffness {sizes.stiffness:.3g}"
        out.print(f"  scales        {scales}", highlight=False)


@app.command()
def solve(
    file: FileArgument,
    p: Annotated[
        float | None, typer.Option("--p", help="Value of the control parameter; default: the file's start.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find an equilibrium at fixed p from the start in the file, also from a start that is infeasible or far away."""
    with _clear_errors(as_json):
        from onesided.verbs import solve as solve_system

        model = _load(file)
        value = _within(model, p)
        found = solve_system(model.system, start=model.task.start, p=value, throw=False)
        _print_solution(found, as_json)
        raise typer.Exit(0 if found.ok else EXIT_FAILED)


@app.command()
def demo() -> None:
    """Run the bundled corner-limit model and show what comes out."""
    with _clear_errors():
        from onesided.verbs import solve as solve_system

        model = _load(Path("corner-limit"))
        out.print(f"{model.task.title}\n", highlight=False)
        _print_solution(solve_system(model.system, start=model.task.start, p=model.task.p), as_json=False)


def _load(file: Path) -> "Model":
    """Read a model file; a name without such a file means a bundled model."""
    from onesided import zoo
    from onesided.model.files import load, loads

    if not file.exists() and str(file) in zoo.names():
        return loads(zoo.text(str(file)), name=f"{file} (bundled)")
    return load(file)


def _within(model: "Model", p: float | None) -> float:
    from onesided.errors import UsageError

    low, high = model.task.p_bounds
    value = model.task.p if p is None else p
    if not low <= value <= high:
        raise UsageError(
            f"{model.system.control} is outside its range",
            got=f"{value:g}",
            expected=f"{low:g} to {high:g}",
            advice="choose another value, or widen `range` in the file's [control]",
        )
    return value


def _print_solution(found: "Solution[Equilibrium]", as_json: bool) -> None:
    if as_json:
        record: dict[str, Any] = {"status": found.status.name, "advice": found.status.value, "note": found.note}
        sys.stdout.write(json.dumps({**record, **found.value.as_dict()}, indent=2, allow_nan=False) + "\n")
        return
    state = found.value
    colour = "green" if found.ok else "red"
    out.print(
        f"[{colour}]{'equilibrium' if found.ok else _plain(found.status.value)}[/]", highlight=False, soft_wrap=True
    )
    if found.note:
        out.print(f"  {_plain(found.note)}", highlight=False, soft_wrap=True)
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    table.add_row(state.control, f"{state.p:.12g}")
    for name, value in zip(state.coordinates, state.q, strict=True):
        table.add_row(name, f"{value:.12g}")
    for name, value in zip(state.bilateral, state.mu, strict=True):
        table.add_row(name, f"multiplier {value:.12g}")
    for i, (name, word) in enumerate(state.states().items()):
        shown = f"gap {state.gaps[i]:.6g}" if word == "inactive" else f"reaction {state.lam[i]:.12g}"
        table.add_row(name, f"{word}, {shown}")
    table.add_row("energy", f"{state.energy:.12g}")
    table.add_row("stability", state.words())
    table.add_row("recheck", f"largest relative residual {state.recheck.worst:.1e}")
    out.print(table, highlight=False)
