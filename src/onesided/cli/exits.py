"""Errors and Ctrl-C on the command line: one clear message and an exit code."""

import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import typer

from onesided.base.errors import OnesidedError, SolveError
from onesided.base.interrupt import EXIT_INTERRUPTED, INTERRUPT, NOTHING, Interrupt
from onesided.base.types import Status

if TYPE_CHECKING:
    from onesided.results import Diagram

EXIT_FAILED, EXIT_BAD_INPUT = 1, 2
WIDEST = 100  # columns of text, however wide the terminal


def exit_code(status: Status) -> int:
    """What a command that ended with this status returns."""
    if status is Status.interrupted:
        return EXIT_INTERRUPTED
    return 0 if status.ok else EXIT_FAILED


def diagram_code(found: "Diagram", limits: tuple[int, int]) -> int:
    """What `diagram` returns: limits on branches, depth and points may leave branches out, failures and doubts not."""
    if found.interrupted:
        return EXIT_INTERRUPTED
    sound = all(path.ok or path.status is Status.jammed for path in found.paths)
    sound = sound and all(event.rays.complete and not event.rays.family for event in found.events)
    return 0 if found.complete or (sound and _limited(found, limits)) else EXIT_FAILED


def _limited(found: "Diagram", limits: tuple[int, int]) -> bool:
    """Whether a limit on the number of branches, on how often one leaves another, or on points was reached."""
    branches, deepest = limits
    depths = list[int]()
    for parent in found.parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    enough = any(path.status is Status.enough for path in found.paths)
    return enough or len(found.paths) >= branches or max(depths, default=0) >= deepest


@contextmanager
def clear_errors(as_json: bool = False) -> Iterator[Interrupt]:
    """Turn errors and Ctrl-C into one clear message and an exit code."""
    INTERRUPT.as_json = as_json
    try:
        yield INTERRUPT
    except KeyboardInterrupt:
        _fail(NOTHING, as_json, EXIT_INTERRUPTED)
    except SolveError as e:
        _fail(str(e), as_json, EXIT_FAILED)
    except OnesidedError as e:
        _fail(str(e), as_json, EXIT_BAD_INPUT)
    except OSError as e:
        _fail(f"a file could not be written: {e.strerror or e} {e.filename or ''}".strip(), as_json, EXIT_BAD_INPUT)


def _hanging(text: str) -> str:
    """Long lines wrapped for a terminal, indented from the second on; elsewhere as they are."""
    if not sys.stderr.isatty():
        return text
    width = min(shutil.get_terminal_size().columns, WIDEST)
    wrapped = partial(
        textwrap.fill, width=width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(line if len(line) <= width else wrapped(line) for line in text.splitlines())


def _fail(message: str, as_json: bool, code: int) -> None:
    if as_json:
        sys.stdout.write(json.dumps({"kind": "error", "status": "error", "error": message}) + "\n")
    else:
        sys.stderr.write(_hanging(f"error: {message}") + "\n")
    raise typer.Exit(code) from None
