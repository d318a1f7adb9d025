"""The command for studies; no numerics."""

import json
import math
import sys
import time
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

import onesided
from onesided import studies as kept
from onesided.base.errors import UsageError
from onesided.base.interrupt import EXIT_INTERRUPTED, Interrupt
from onesided.base.types import Status
from onesided.cli.exits import EXIT_FAILED, clear_errors
from onesided.cli.given import load_model, number
from onesided.cli.options import Change
from onesided.results.study_cases import MOST_CASES

if TYPE_CHECKING:
    from onesided.studies.run_study import Progressing

SECONDS_BETWEEN = 0.5  # lines of progress for machines
SHOWN = 10  # failed cases that are listed

studies = typer.Typer()


@studies.command()
def study(  # noqa: PLR0913, PLR0917 - one option each
    file: Annotated[Path, typer.Argument(metavar="FILE", help=r"Model file with \[study], or a bundled model.")],
    over: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUES", help="Vary instead: NAME=1,2,5 or NAME=FROM:TO:COUNT.")
    ] = None,
    verb: Annotated[str, typer.Option(help="With --over: trace, drive, diagram, solve, simulate, modes.")] = "trace",
    keep: Annotated[list[str] | None, typer.Option(help='With --over, keep too: "max NAME", "last NAME" …')] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder of the study.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; default: one for each core; 0: this one.")] = None,
    engine: Annotated[str, typer.Option(help='"cases", or "batch": traced side by side in compiled code.')] = "cases",
    dask: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Scheduler of Dask instead.")] = None,
    rerun: Annotated[str | None, typer.Option(help='Do once more: "failed", or numbers as in "3,17".')] = None,
    limit: Annotated[int | None, typer.Option(help="Stop after so many cases.")] = None,
    status: Annotated[bool, typer.Option("--status", help="Say how far it is, and what failed.")] = False,
    table: Annotated[Path | None, typer.Option(help="Write the table as .csv or .parquet.")] = None,
    report: Annotated[bool, typer.Option("--report", help="Write report.html into the folder too.")] = False,
    change: Change = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines for machines.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    r"""Do one thing for many cases, as \[study] in the file says; started again it goes on."""
    with clear_errors(as_json) as interrupt:
        folder = output or Path("onesided-results") / f"{file.stem}-study"
        if status:
            found = onesided.open_study(folder)
        else:
            asked = _asked(load_model(file, change).system, over, verb, keep)
            with _Shown(interrupt, as_json=as_json, quiet=quiet) as shown, _client(dask) as client:
                found = onesided.study(
                    asked[0], over=asked[1], sample=asked[2], folder=folder, workers=workers, limit=limit,
                    executor=client, engine=engine, rerun=_rerun(rerun), progress=shown.tell, throw=False,
                )  # fmt: skip
        if table is not None:
            _write(found, table)
        if report:
            onesided.report.write(found, folder / "report.html", model=_model(folder))
        _summary(found, running=status and kept.claims.is_running(folder), as_json=as_json)
        failed = found.counts()["failed"] > 0
        raise typer.Exit(EXIT_INTERRUPTED if found.status is Status.interrupted else EXIT_FAILED if failed else 0)


def _asked(system: Any, over: list[str] | None, verb: str, keep: list[str] | None) -> tuple[Any, Any, Any]:
    """Task, grid and sample: the file's, or those of the options."""
    if not over:
        return tuple(kept.asked_study.asked_study(system))
    return onesided.StudyTask(system, verb, {}, keep or []), _axes(over), None


def _client(address: str | None) -> AbstractContextManager[Any]:
    """The client of a scheduler of Dask, closed at the end; nothing where none is asked for."""
    return nullcontext() if address is None else closing(kept.futures.dask_client(address))


def _model(folder: Path) -> str:
    """The text of the model file that lies with the study, or nothing."""
    file = folder / "model.toml"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _axes(over: list[str]) -> dict[str, list[float]]:
    """Values of parameters, listed or evenly spaced."""
    found = {}
    for item in over:
        name, _, text = item.partition("=")
        ends = text.split(":")
        if len(ends) == 3:
            low, high, count = (number(part, f"--over {name}") for part in ends)
            if count not in range(1, MOST_CASES + 1):
                raise UsageError(f"--over {name} has no usable count", got=ends[2], expected=f"1 to {MOST_CASES:,}")
            steps = max(int(count) - 1, 1)
            found[name.strip()] = (low + (high - low) * np.arange(int(count)) / steps).tolist()
        else:
            found[name.strip()] = [number(part, f"--over {name}") for part in text.split(",") if part.strip()]
    return found


def _rerun(text: str | None) -> Any:
    if text is None or text == "failed":
        return text or ()
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError("--rerun is not known", got=repr(text), expected='"failed", or numbers as in "3,17"') from None


def _write(found: Any, table: Path) -> None:
    writers = {".csv": found.to_csv, ".parquet": found.to_parquet}
    if table.suffix not in writers:
        raise UsageError("this kind of table is not known", got=repr(table.suffix), expected=" or ".join(writers))
    writers[table.suffix](table)


class _Shown:
    """A bar with rate, failures and time left, or JSON lines; stops the study where Ctrl-C was pressed."""

    def __init__(self, interrupt: Interrupt, *, as_json: bool, quiet: bool) -> None:
        self._interrupt, self._as_json, self._told = interrupt, as_json, 0.0
        self._estimated = quiet or as_json
        self._bar: Bar | None = None
        if not quiet and not as_json and sys.stderr.isatty():
            self._bar = Bar(
                BarColumn(bar_width=24), TextColumn("{task.description}"), TimeElapsedColumn(), transient=True
            )
            self._bar.start()
            self._line = self._bar.add_task("processes start", total=1.0)

    def tell(self, state: "Progressing") -> None:
        """Show how far the study is."""
        if self._interrupt.pressed():
            raise KeyboardInterrupt
        now = time.monotonic()
        if not self._estimated and not math.isnan(state.left):
            self._estimated = True
            sys.stderr.write(f"estimate from the first cases: {state}\n")
        if self._bar is not None:
            self._bar.update(self._line, description=str(state), completed=state.done / max(state.cases, 1))
        if self._as_json and (now - self._told > SECONDS_BETWEEN or state.done == state.cases):
            self._told = now
            left = None if math.isnan(state.left) else state.left
            sys.stdout.write(
                json.dumps({"kind": "progress", "command": "study", **state._asdict(), "left": left}) + "\n"
            )

    def __enter__(self) -> "_Shown":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _summary(found: Any, *, running: bool, as_json: bool) -> None:
    counts, failed = found.counts(), found.failed()
    if as_json:
        record = {"kind": "study", **counts, "running": running, "folder": str(found.folder), "failures": failed}
        sys.stdout.write(json.dumps(record) + "\n")
        return
    state = "runs now" if running else "complete" if counts["done"] == counts["cases"] else "not complete"
    sys.stdout.write(f"{counts['done']} of {counts['cases']} cases, {counts['failed']} failed; {state}\n")
    if found.done_by:
        sys.stdout.write(f"{found.done_by}\n")
    for case, why in list(failed.items())[:SHOWN]:
        values = ", ".join(f"{name} = {value:.10g}" for name, value in found.cases.values(case).items())
        sys.stdout.write(f"  case {case} ({values}): {why}\n")
    if len(failed) > SHOWN:
        sys.stdout.write(f"  … and {len(failed) - SHOWN} more; --rerun failed does them once more\n")
    sys.stdout.write(f"table: onesided.open_study({str(found.folder)!r}).to_pandas(), or --status --table cases.csv\n")
