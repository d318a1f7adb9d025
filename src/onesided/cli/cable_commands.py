"""The commands for the cable structures of Qi and Tu; no numerics."""

import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from onesided.base.interrupt import Interrupt
from onesided.cli.exits import clear_errors, exit_code

if TYPE_CHECKING:
    from onesided.complementarity_systems import MotionMethod
    from onesided.results import ComplementarityMotion
    from onesided.zoo.mast import GuyLaw

cables = typer.Typer(
    name="cables",
    help="The cable structures of Qi and Tu in motion: which cables go slack, when, and how large tensions grow.",
    no_args_is_help=True,
)


class How(str, Enum):
    """Methods of motion."""

    events = "events"
    stepping = "stepping"
    explicit = "explicit"
    printed = "printed-network"


class Law(str, Enum):
    """Laws of the guys of the mast."""

    taut = "taut"
    catenary = "catenary"
    printed = "printed"
    bilateral = "bilateral"


Until = Annotated[float, typer.Option(help="Last time [s].")]
Step = Annotated[float, typer.Option(help="Step of the methods other than events [s].")]
Show = Annotated[int, typer.Option(help="How many switches to print.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines for machines.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Folder for the results.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]


@cables.command()
def suspension(  # noqa: PLR0913, PLR0917 - one option each
    slings: Annotated[int, typer.Option(help="Number of slings.")] = 3,
    stiffness: Annotated[float, typer.Option(help="Of one sling [N/m].")] = 3750.0,
    stretch: Annotated[float, typer.Option(help="Of the slings at rest [m].")] = 0.004,
    damping: Annotated[float, typer.Option(help="Of the first mode of the beam.")] = 0.02,
    load: Annotated[float, typer.Option(help="Amplitude of the force at a quarter of the span [N].")] = 5000.0,
    method: Annotated[How, typer.Option(help="How to follow the motion.")] = How.events,
    step: Step = 0.001,
    until: Until = 20.0,
    show: Show = 8,
    output: Output = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A beam hung by slings from a main cable, shaken at a quarter of its span."""
    with clear_errors(as_json) as interrupt:
        from onesided.complementarity_systems import simulate
        from onesided.zoo.suspension import Suspension

        model = Suspension(slings, stiffness, stretch, damping, load)
        folder, progress = _place(output, "suspension"), _progress(interrupt, until, quiet=quiet, as_json=as_json)
        found = simulate(model.system(), _method(method, step), times=(0.0, until), progress=progress, throw=False)
        _finish(found, found.peak_s, found.names, folder, show, as_json)


@cables.command()
def mast(  # noqa: PLR0913, PLR0917 - one option each
    law: Annotated[Law, typer.Option(help="Of the guys.")] = Law.taut,
    xi: Annotated[float, typer.Option(help="Displacement along x at the start, over the radius.")] = 0.015,
    eta: Annotated[float, typer.Option(help="Displacement along y at the start, over the radius.")] = 0.0075,
    wind: Annotated[float, typer.Option(help="Force of the wind, 60° from x [N].")] = 33541.0,
    frequency: Annotated[float | None, typer.Option(help="Of the wind [rad/s]; default: constant.")] = None,
    method: Annotated[How, typer.Option(help="How to follow the motion: events or explicit.")] = How.events,
    step: Step = 0.01,
    until: Until = 20.0,
    show: Show = 8,
    output: Output = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A mast held by three pretensioned guys, pulled aside and let go in the wind."""
    with clear_errors(as_json) as interrupt:
        from onesided.complementarity_systems import simulate
        from onesided.zoo.mast import NAMES, Mast, Wind

        model = Mast(_law(law), Wind(wind, frequency=frequency))
        start, folder = (xi, eta, 0.0, 0.0), _place(output, "mast")
        progress = _progress(interrupt, until, quiet=quiet, as_json=as_json)
        found = simulate(
            model.system(), _method(method, step), start, times=(0.0, until), progress=progress, throw=False
        )
        tensions = model.tensions(found.x[:, :2])
        top = found.peak_s if found.names else tensions.max(axis=0)
        _finish(found, top, NAMES, folder, show, as_json, low=tensions.min(axis=0))


def _method(how: How, step: float) -> "MotionMethod":
    from onesided.complementarity_systems import FrozenModes, LocatedSwitches, PrintedNetwork, TimeStepping

    if how is How.events:
        return LocatedSwitches()
    if how is How.stepping:
        return TimeStepping(step)
    return FrozenModes(step) if how is How.explicit else FrozenModes(step, PrintedNetwork())


def _law(law: Law) -> "GuyLaw":
    from onesided.zoo.mast import Bilateral, Catenary, Taut

    laws: dict[Law, GuyLaw] = {Law.taut: Taut(), Law.catenary: Catenary(), Law.bilateral: Bilateral()}
    return laws.get(law, Catenary(printed=True))


def _place(output: Path | None, name: str) -> Path:
    from onesided.results import check_folder

    folder = output or Path("onesided-results") / f"{name}-motion"
    check_folder(folder)
    return folder


def _progress(interrupt: Interrupt, until: float, *, quiet: bool, as_json: bool) -> Any:
    from onesided.cli.listing import progress

    return progress(interrupt.pressed, "t", (0.0, until), quiet=quiet, as_json=as_json)


def _finish(  # noqa: PLR0917 - what is printed
    found: "ComplementarityMotion", top: Any, names: Any, folder: Path, show: int, as_json: bool, low: Any = None
) -> None:
    """Save, print the switches and one line per cable, and leave with the exit code."""
    from onesided.cli.listing import json_line
    from onesided.results import save

    place = str(save(found, folder))
    rows = []
    for i, name in enumerate(names):
        row = {"cable": name, "largest_tension": float(top[i])}
        if low is not None:
            row["smallest_tension"] = float(low[i])
        if name in found.names:
            row |= {"goes_slack": found.slackenings(name), "slack_time": found.slack_time(name)}
        rows.append(row)
    if as_json:
        for row in rows:
            json_line({"kind": "cable", **row})
        for switch in found.switches[:show]:
            json_line({"kind": "event", "switch": {**switch._asdict(), "words": switch.words()}})
        facts = {"residual": found.residual, "defect": found.defect, "folder": place}
        json_line({"kind": "result", "status": found.status.name, "note": found.note, **facts})
    else:
        _print(found, rows, show, place)
    raise typer.Exit(exit_code(found.status))


def _print(found: "ComplementarityMotion", rows: list[dict[str, Any]], show: int, place: str) -> None:
    lines = [f"{number:3d}  {switch.words()}" for number, switch in enumerate(found.switches[:show], 1)]
    if len(found.switches) > show:
        lines.append(f"     … {len(found.switches) - show} more switches")
    for row in rows:
        text = f"{row['cable']:9} largest tension {row['largest_tension']:.6g} N"
        if "smallest_tension" in row:
            text += f", smallest {row['smallest_tension']:.6g} N"
        if "goes_slack" in row:
            text += f", goes slack {row['goes_slack']} times, {row['slack_time']:.6g} s in all"
        lines.append(text)
    if not found.ok:
        lines.append(f"{found.status.value}: {found.note}")
    trust = f"largest relative residual {found.residual:.1e}, {found.defect:.1e} of ẋ unexplained"
    lines.append(f"t from {found.t[0]:g} to {found.t[-1]:g}; rechecked, {trust}")
    lines.append(f"results in {place}")
    sys.stdout.write("\n".join(lines) + "\n")
