"""Commands above paths: all stable states, and design; no numerics."""

from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.markup import escape

import onesided
from onesided import cli, files
from onesided.base.errors import UsageError
from onesided.base.interrupt import EXIT_INTERRUPTED
from onesided.base.types import Status
from onesided.cli.exits import EXIT_FAILED, exit_code
from onesided.cli.options import Change, File, High, Json, Low, Output, Quiet, Report
from onesided.cli.work import work

SHOWN = 40  # transitions that are listed

searches = typer.Typer()


@searches.command()
def transitions(  # noqa: PLR0913, PLR0917 - one option each
    file: File,
    p_min: Low = None,
    p_max: High = None,
    max_states: Annotated[int, typer.Option(help="Largest number of stable branches.")] = 1000,
    fall: Annotated[str, typer.Option(help="How jumps are computed: descent, damped (motion) or both.")] = "descent",
    graphml: Annotated[Path | None, typer.Option(help="Write the graph for other programs, too.")] = None,
    change: Change = None,
    output: Output = None,
    report: Report = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find all stable states that loading up and down can reach, and the jumps between them."""
    with work(file, "transitions", change, output, as_json=as_json, quiet=quiet) as run:
        model = run.model
        low, high = model.task.p_bounds
        bounds = low if p_min is None else p_min, high if p_max is None else p_max
        found = onesided.transitions(
            model.system,
            bounds,
            max_states=max_states,
            fall=cast(Any, fall),  # checked by `transitions`
            progress=run.progress(model.system.control, bounds),
            throw=False,
        )
        _list_transitions(found, as_json=as_json, folder=run.save(found, report=report))
        if graphml is not None:
            found.write_graphml(graphml)
        interrupted = found.status is Status.interrupted
        raise typer.Exit(EXIT_INTERRUPTED if interrupted else 0 if found.complete else EXIT_FAILED)


@searches.command()
def design(  # noqa: PLR0917 - one option each
    file: File,
    goal: Annotated[list[str] | None, typer.Option(help='What is wanted instead: "p at limit = 0.05".')] = None,
    max_gradients: Annotated[int, typer.Option(help="Stop after so many gradients.")] = 100,
    change: Change = None,
    output: Output = None,
    report: Report = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    r"""Change parameters until events and jumps are as the file's \[design] asks; writes a model file with them."""
    with work(file, "design", change, output, as_json=as_json, quiet=quiet) as run:
        model = run.model
        table = model.task.design
        if table is None:
            raise UsageError("the file states no design", expected="a table [design] with variables and goal")
        found = onesided.design(
            model.system,
            {name: (low, high) for name, (low, high) in table.variables.items()},
            goal or table.goal,
            table.subject_to,
            max_gradients=max_gradients,
            progress=run.progress("error", (0.0, 1.0)),
            throw=False,
        )
        text = files.new_numbers.carrying(model.text, found.parameters)
        folder = run.save(found, report=report, text=text, other={"model-before.toml": model.text})
        carried = not files.new_numbers.differing(text, found.parameters)
        _list_design(found, as_json=as_json, folder=folder, carried=carried)
        raise typer.Exit(exit_code(found.status))


def _list_design(found: "onesided.Designed", *, as_json: bool, folder: str, carried: bool) -> None:
    """What was asked for and the new numbers, or a record for machines."""
    if as_json:
        cli.live_progress.json_line(
            {"kind": "result", "status": found.status.name, "note": found.note, "parameters": dict(found.parameters),
             "aims": [vars(aim) for aim in found.aims], "gradients": found.gradients, "folder": folder}
        )  # fmt: skip
        return
    for text in found.words():
        cli.event_table.say(f"  {escape(text)}")
    if found.note:
        cli.event_table.say(f"note: {escape(found.note)}")
    cli.event_table.say(f"{escape(found.status.value)}; {found.gradients} gradients, {found.evaluations} evaluations")
    how = (
        "with the new numbers in model.toml"
        if carried
        else "with the new numbers as comments in model.toml: put them in"
    )
    cli.event_table.place(f"results in [bold]{escape(folder)}[/], {how}")


def _list_transitions(found: "onesided.Transitions", *, as_json: bool, folder: str) -> None:
    """The graph in words, or as records for machines."""
    say, line = cli.event_table.say, cli.live_progress.json_line
    if as_json:
        for row in found.table():
            line({"kind": "event", "transition": row})
        line({"kind": "result", "status": found.status.name, "note": found.note, "complete": found.complete,
              "states": len(found.states), "transitions": len(found.edges),
              "return_point_memory": found.return_point_memory, "folder": folder})  # fmt: skip
        return
    for number, state in enumerate(found.states[:SHOWN]):
        say(f"{number:4d}  {escape(state.words())}")
    for edge in found.edges[:SHOWN]:
        say(f"      {escape(edge.words())}")
    left = max(len(found.states), len(found.edges)) - SHOWN
    if left > 0:
        say(f"      … more in {escape(folder)}/transitions.csv")
    if found.note:
        say(f"note: {escape(found.note)}")
    reach = "all that can be reached" if found.complete else "not complete"
    say(f"{len(found.states)} stable branches, {len(found.edges)} transitions, {reach}; {found.memory_words()}")
    cli.event_table.place(f"results in [bold]{escape(folder)}[/]")
