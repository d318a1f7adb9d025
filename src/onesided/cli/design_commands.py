"""Commands about parameters: what moves an event, and where an event goes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import onesided
from onesided import cli
from onesided.base.errors import UsageError
from onesided.base.names import unknown_name
from onesided.cli.exits import EXIT_FAILED, clear_errors, exit_code
from onesided.cli.given import load_model
from onesided.cli.options import Change, File, Json, Output, Quiet
from onesided.cli.work import work

if TYPE_CHECKING:
    from onesided.results import Event

designs = typer.Typer()

Which = Annotated[int | None, typer.Option("--event", help="Number of the event, as `trace` lists them, from 1.")]
Varied = Annotated[str, typer.Option("--parameter", help="The parameter that changes.")]
Lowest = Annotated[float | None, typer.Option("--from", help="Its lowest value; default: half of it.")]
Highest = Annotated[float | None, typer.Option("--to", help="Its highest value; default: twice it.")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Draw it into this file: .svg, .pdf or .png.")]
Page = Annotated[Path | None, typer.Option("--report", help="Write a page with picture and table: .html.")]


@designs.command()
def sensitivity(
    file: File,
    event: Which = None,
    change: Change = None,
    plot: Picture = None,
    report: Page = None,
    as_json: Json = False,
) -> None:
    """Show what moves the limit load: derivatives of an event with respect to all parameters, by influence."""
    with clear_errors(as_json):
        found = onesided.sensitivity(traced_event(load_model(file, change).system, event))
        cli.listing.sensitivity(found, as_json=as_json)
        _draw(found, plot, report)


def _draw(found: Any, plot: Path | None, report: Path | None) -> None:
    if report is not None:
        cli.event_table.place(str(onesided.report.write(found, report)))
    if plot is not None:
        cli.event_table.place(str(onesided.plots.write(found, plot)))


def traced_event(system: Any, number: int | None) -> "Event":
    """An event of the path from the file's start; by default the first that is not a bound."""
    path = onesided.trace(system, max_events=number, throw=False)
    if number is not None and 1 <= number <= len(path.events):
        return path.events[number - 1]
    special = [one for one in path.events if one.kind is not onesided.Kind.bound]
    if number is None and not special:
        raise UsageError(
            "the path of this file meets no event before its end", advice="a wider range; `onesided trace` shows it"
        )
    if number is not None:
        expected = f"1 to {len(path.events)}: see `onesided trace`"
        raise UsageError("there is no such event", got=f"--event {number}", expected=expected)
    return special[0]


@designs.command()
def follow(  # noqa: PLR0913, PLR0917 - one option each
    file: File,
    parameter: Varied,
    event: Which = None,
    low: Lowest = None,
    high: Highest = None,
    change: Change = None,
    output: Output = None,
    plot: Picture = None,
    report: Page = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Follow an event while a parameter changes; where it ends, turns or changes its kind is reported."""
    with work(file, "follow", change, output, as_json=as_json, quiet=quiet) as run:
        system = run.model.system
        bounds = _bounds(system, parameter, low, high)
        shown = run.progress(parameter, bounds)
        found = onesided.follow(traced_event(system, event), parameter, bounds, progress=shown, throw=False)
        cli.listing.followed(found, as_json=as_json, folder=str(onesided.save(found, run.folder)))
        _draw(found, plot, report)
        raise typer.Exit(exit_code(found.status))


@designs.command("stability-map")
def stability_map(  # noqa: PLR0913, PLR0917 - one option each
    file: File,
    parameter: Varied,
    low: Lowest = None,
    high: Highest = None,
    samples: Annotated[int, typer.Option("--samples", help="Paths that are traced first.")] = 9,
    change: Change = None,
    output: Output = None,
    plot: Picture = None,
    report: Page = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show for which values of a parameter the path has which events."""
    with work(file, "map", change, output, as_json=as_json, quiet=quiet) as run:
        system = run.model.system
        bounds = _bounds(system, parameter, low, high)
        shown = run.progress(parameter, bounds)
        found = onesided.stability_map(system, parameter, bounds, samples=samples, progress=shown, throw=False)
        cli.listing.regions(found, as_json=as_json, folder=str(onesided.save(found, run.folder)))
        _draw(found, plot, report)
        raise typer.Exit(exit_code(found.status) or (0 if found.complete else EXIT_FAILED))


def _bounds(system: Any, parameter: str, low: float | None, high: float | None) -> tuple[float, float]:
    """The bounds asked for; half and twice the value where they are not."""
    if parameter not in system.parameters:
        raise unknown_name("parameter", parameter, system.parameters)
    value = system.parameters[parameter]
    usual = sorted((0.5 * value, 2.0 * value))
    if value == 0.0 and (low is None or high is None):
        raise UsageError(f"the bounds of {parameter} are not known: it is 0", advice="--from and --to")
    return (usual[0] if low is None else low, usual[1] if high is None else high)
