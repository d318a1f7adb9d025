"""What commands that compute have in common: the model they read, the folder they write, progress and Ctrl-C."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import onesided
from onesided import cli, results
from onesided.base.interrupt import Interrupt
from onesided.base.progress import Progress
from onesided.cli.exits import clear_errors
from onesided.cli.given import load_model

if TYPE_CHECKING:
    from onesided.files.reading import Model


@dataclass(frozen=True)
class Work:
    """One command in progress.

    Attributes
    ----------
    model : read from the file, with changed parameters;  folder : where results go.
    interrupt : notices Ctrl-C;  as_json, quiet : as on the command line.
    """

    model: "Model"
    folder: Path
    interrupt: Interrupt
    as_json: bool
    quiet: bool

    def progress(self, name: str, span: tuple[float, float]) -> Progress:
        """Progress of `name` (the control parameter, or time) within `span`."""
        pressed = self.interrupt.pressed
        return cli.live_progress.progress(pressed, name, span, quiet=self.quiet, as_json=self.as_json, announced=True)

    def save(self, found: Any, *, report: bool = False, text: str = "", other: dict[str, str] | None = None) -> str:
        """Write a result with its model file (or `text` in its place), a page if asked for, and other files."""
        text = text or self.model.text
        extra = {"model.toml": text, **(other or {})}
        if report:
            extra["report.html"] = onesided.report.html(found, model=text)
        return str(onesided.save(found, self.folder, extra=extra))


@contextmanager
def work(
    file: Path, verb: str, change: list[str] | None, output: Path | None, *, as_json: bool, quiet: bool
) -> Iterator[Work]:
    """Read the model and prepare the folder; errors inside become one message and an exit code."""
    with clear_errors(as_json) as interrupt:
        cli.live_progress.compiling(quiet=quiet or as_json)
        model = load_model(file, change)
        yield Work(model, results_folder(output, file, verb), interrupt, as_json, quiet)


def results_folder(output: Path | None, file: Path, verb: str) -> Path:
    """Where results go; refused before the work begins, not after."""
    folder = output or Path("onesided-results") / f"{file.stem}-{verb}"
    results.check_folder(folder)
    return folder
