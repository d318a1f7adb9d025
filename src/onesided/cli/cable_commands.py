"""The commands for the cable structures of Qi and Tu; no numerics."""

from enum import Enum
from typing import Annotated

import typer

from onesided import cli
from onesided.cli.exits import clear_errors
from onesided.cli.options import Json, Output, Quiet

cables = typer.Typer(
    name="cables",
    help="The cable structures of Qi and Tu in motion: which cables go slack, when, and how large tensions grow.",
    no_args_is_help=True,
)


class How(str, Enum):
    """How the motion of cable structures is computed: names on the command line."""

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


Until = Annotated[float, typer.Option(help="Last time, in s.")]
Step = Annotated[float, typer.Option(help="Step of the methods other than events, in s.")]
Show = Annotated[int, typer.Option(help="How many switches to print.")]


@cables.command()
def suspension(  # noqa: PLR0913, PLR0917 - one option each
    slings: Annotated[int, typer.Option(help="Number of slings.")] = 3,
    stiffness: Annotated[float, typer.Option(help="Of one sling [N/m].")] = 3750.0,
    stretch: Annotated[float, typer.Option(help="Of the slings at rest, in m.")] = 0.004,
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
        run = cli.cable_runs.Run(interrupt, method.value, step, until, output, show, as_json, quiet)
        raise typer.Exit(run.suspension(slings, stiffness, stretch, damping, load))


@cables.command()
def mast(  # noqa: PLR0913, PLR0917 - one option each
    law: Annotated[Law, typer.Option(help="Of the guys.")] = Law.taut,
    xi: Annotated[float, typer.Option(help="Displacement along x at the start, over the radius.")] = 0.015,
    eta: Annotated[float, typer.Option(help="Displacement along y at the start, over the radius.")] = 0.0075,
    wind: Annotated[float, typer.Option(help="Force of the wind, 60° from x [N].")] = 33541.0,
    frequency: Annotated[float | None, typer.Option(help="Of the wind, in rad/s; default: constant.")] = None,
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
        run = cli.cable_runs.Run(interrupt, method.value, step, until, output, show, as_json, quiet)
        raise typer.Exit(run.mast(law.value, (xi, eta), wind, frequency))
