"""Commands that look at saved results: plot, animate, report, explain."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

import onesided
from onesided import cli
from onesided import results as kept
from onesided.base.errors import UsageError
from onesided.cli.exits import clear_errors
from onesided.cli.result_members import with_members

MOST_FRAMES = 20_000  # more than ten minutes of film

views = typer.Typer()

Results = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="Folder written by trace, diagram, drive or simulate.")
]
Axis = Annotated[
    str | None,
    typer.Option(help='A coordinate, definition, "energy", "arc length", "reaction NAME" or "gap NAME".'),
]


class Shown(str, Enum):
    """Kinds of pictures that `plot` draws, by their names on the command line."""

    path = "path"
    reactions = "reactions"
    gaps = "gaps"
    energy = "energy"
    sketch = "sketch"
    drift = "drift"
    raster = "raster"
    story = "story"
    families = "families"


@views.command()
def plot(  # noqa: PLR0917 - one option each
    results: Results,
    x: Axis = None,
    y: Axis = None,
    kind: Annotated[Shown, typer.Option(help="What to draw.")] = Shown.path,
    at: Annotated[int, typer.Option(help="Which point, for --kind sketch; -1 is the last.")] = -1,
    members: Annotated[str, typer.Option(help='For --kind sketch: colour members by "force", "strain" …')] = "",
    paper: Annotated[bool, typer.Option("--paper", help="For a column of a paper: no title, .svg or .pdf.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File: .svg, .pdf or .png.")] = None,
) -> None:
    """Draw a saved result: path or motion, its story, families of branches, reactions, gaps, energy, or the system."""
    with clear_errors():
        result = _load(results)
        target = output or results / f"{kind.value}.svg"
        view = onesided.plots.View[kind.name]
        more: Any = {"members": members, "for_paper": paper}
        onesided.plots.write(result, target, view=view, x=x, y=y, index=at, title=_title(results), **more)
        sys.stdout.write(f"{target}\n")


@views.command()
def animate(
    results: Results,
    frames: Annotated[int, typer.Option(help="About how many pictures.")] = 120,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File: .gif, or .mp4 with ffmpeg.")] = None,
) -> None:
    """Write an animation of the configuration along a saved result."""
    with clear_errors():
        if not 2 <= frames <= MOST_FRAMES:
            raise UsageError("an animation needs pictures", got=f"--frames {frames}", expected=f"2 to {MOST_FRAMES}")
        target = output or results / "animation.gif"
        onesided.plots.animate(_load(results), target, frames=frames, title=_title(results))
        sys.stdout.write(f"{target}\n")


@views.command()
def report(
    results: Results,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File; default: report.html inside.")] = None,
) -> None:
    """Write one interactive page that opens in any browser, without network."""
    with clear_errors():
        found = onesided.open_study(results) if (results / kept.studied.STUDY).exists() else _load(results)
        if isinstance(found, kept.Steering):
            found = found.motions[0]  # what the inputs do
        target = output or results / "report.html"
        sys.stdout.write(f"{onesided.report.write(found, target, model=_model(results))}\n")


@views.command()
def explain(
    kind: Annotated[str | None, typer.Argument(help="Kind of event, as in `corner-limit`; default: list them.")] = None,
) -> None:
    """Say what a kind of event means, and where the theory is."""
    with clear_errors():
        if kind is None:
            cli.event_table.facts(kept.explain.slugs())
        else:
            for line in kept.explain.explanation(kind).splitlines():
                cli.event_table.say(escape(line), 0)


def _load(results: Path) -> Any:
    return with_members(onesided.load_result(results), _model(results))


def _model(results: Path) -> str:
    """The text of the model file that lies with the results, or nothing."""
    try:
        return (results / "model.toml").read_text(encoding="utf-8")
    except OSError:
        return ""


def _title(results: Path) -> str:
    return onesided.report.title_of(_model(results))
