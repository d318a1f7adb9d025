"""Commands about parameters: what moves an event, and where an event goes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import onesided
from onesided import cli
from onesided.base.errors import UsageError
from onesided.cli.exits import clear_errors
from onesided.cli.given import load_model

if TYPE_CHECKING:
    from onesided.results import Event

designs = typer.Typer()

File = Annotated[Path, typer.Argument(metavar="FILE", help="Model file (TOML), or the name of a bundled model.")]
Which = Annotated[int | None, typer.Option("--event", help="Number of the event, as `trace` lists them, from 1.")]
Change = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Change a parameter.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines for machines.")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Draw it into this file: .svg, .pdf or .png.")]


@designs.command()
def sensitivity(
    file: File,
    event: Which = None,
    change: Change = None,
    plot: Picture = None,
    as_json: Json = False,
) -> None:
    """Tell what moves the limit load: derivatives of an event with respect to all parameters, by influence."""
    with clear_errors(as_json):
        found = onesided.sensitivity(traced_event(load_model(file, change).system, event))
        cli.listing.sensitivity(found, as_json=as_json)
        _draw(found, plot)


def _draw(found: Any, plot: Path | None) -> None:
    if plot is not None:
        cli.listing.say(str(onesided.plots.write(found, plot)))


def traced_event(system: Any, number: int | None) -> "Event":
    """An event of the path from the file's start; by default the first that is not a bound."""
    path = onesided.trace(system, max_events=number, throw=False)
    if number is not None and 1 <= number <= len(path.events):
        return path.events[number - 1]
    special = [one for one in path.events if one.kind is not onesided.Kind.bound]
    if number is not None or not special:
        got = f"--event {number}" if number is not None else "no event but a bound"
        raise UsageError("there is no such event", got=got, expected=f"1 to {len(path.events)}: see `onesided trace`")
    return special[0]
