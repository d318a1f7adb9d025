"""Errors and Ctrl-C on the command line: one clear message and an exit code."""

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from onesided.errors import OnesidedError, SolveError

EXIT_FAILED, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130


class Interrupt:
    """Ctrl-C: remembered for work that asks for it between steps, raised at once otherwise and when pressed again.

    An exception raised inside a callback of JAX may be swallowed, or worse.
    """

    def __init__(self) -> None:
        self._asked = self._polled = False

    def pressed(self) -> bool:
        """Whether Ctrl-C was pressed; work that asks is expected to ask again soon."""
        self._polled = True
        return self._asked

    def __call__(self, signum: int, frame: Any) -> None:
        """Handle SIGINT."""
        again, self._asked = self._asked, True
        if again or not self._polled:
            raise KeyboardInterrupt


@contextmanager
def clear_errors(as_json: bool = False) -> Iterator[Interrupt]:
    """Turn errors and Ctrl-C into one clear message and an exit code."""
    interrupt = Interrupt()
    try:
        before = signal.signal(signal.SIGINT, interrupt)
        try:
            yield interrupt
        finally:
            signal.signal(signal.SIGINT, before)
    except KeyboardInterrupt:
        _fail("interrupted: nothing was left half-written", as_json, EXIT_INTERRUPTED)
    except SolveError as e:
        _fail(str(e), as_json, EXIT_FAILED)
    except OnesidedError as e:
        _fail(str(e), as_json, EXIT_BAD_INPUT)
    except OSError as e:
        _fail(f"a file could not be written: {e.strerror or e} {e.filename or ''}".strip(), as_json, EXIT_BAD_INPUT)


def _fail(message: str, as_json: bool, code: int) -> None:
    if as_json:
        sys.stdout.write(json.dumps({"kind": "error", "status": "error", "error": message}) + "\n")
    else:
        sys.stderr.write(f"error: {message}\n")
    raise typer.Exit(code) from None
