"""Ctrl-C on the command line: heard at once, and acted on where nothing is lost.

An exception raised by a signal in the middle of an import, a compilation or a callback of compiled code may be
swallowed, or end the process with a fault. None is raised here. A thread of its own is woken by the signal, also while
compiled code runs, and either ends the process or asks the work to stop at its next safe place. The module imports next
to nothing: it is the first to be loaded.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

EXIT_INTERRUPTED = 130
PATIENCE = 0.4  # seconds until the user hears that the work stops at its next safe place; twice that for what is saved
NOTHING = "interrupted: nothing was left half-written"
SOON = "interrupted: the step in hand is finished first, then what was found is saved; Ctrl-C again ends at once"
SAVING = "interrupted: what was found is checked and saved; Ctrl-C again ends at once"
SHOW_CURSOR = "\x1b[?25h"


class Interrupt:
    """Whether Ctrl-C was pressed, and what is done about it.

    Before there is anything to keep the process ends at once. Work that keeps its results asks `pressed` between its
    steps; once it has asked, the first Ctrl-C is left to it, and the second ends the process.
    """

    def __init__(self) -> None:
        self.as_json = False
        self._asked, self._heard = threading.Event(), threading.Event()
        self._polled = self._listening = False
        self._last: list[Callable[[], None]] = []

    @property
    def asked(self) -> bool:
        """Whether Ctrl-C was pressed; once it was, this stays so."""
        return self._asked.is_set()

    def before_the_end(self, clear: Callable[[], None]) -> None:
        """Have something done before Ctrl-C ends the process."""
        self._last.append(clear)

    def pressed(self) -> bool:
        """Whether Ctrl-C was pressed; work that asks is expected to ask again soon."""
        self._polled = True
        if self.asked:
            self._heard.set()
        return self.asked

    def listen(self) -> None:
        """Hear SIGINT from here on."""
        if self._listening or threading.current_thread() is not threading.main_thread():
            return
        self._listening = True
        heard, told = os.pipe()
        os.set_blocking(told, False)
        signal.signal(signal.SIGINT, lambda *_: None)
        signal.set_wakeup_fd(told, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, args=(heard,), name="onesided-ctrl-c", daemon=True).start()

    def rest(self) -> None:
        """Let Ctrl-C pass where all is done: the process ends as it would have."""
        if self._listening:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    def _watch(self, heard: int) -> None:
        while True:
            if os.read(heard, 1)[0] == signal.SIGINT:
                self._act()

    def _act(self) -> None:
        """End the process, or ask the work to stop and say so where that takes time."""
        if self.asked or not self._polled:
            for clear in self._last:
                clear()
            self._say(NOTHING, final=True)
            os._exit(EXIT_INTERRUPTED)
        self._asked.set()
        threading.Thread(target=self._explain, daemon=True).start()

    def _explain(self) -> None:
        """Say what is still to be done, where it takes longer than a moment: within twice `PATIENCE` of the press."""
        begun = time.monotonic()
        if self._heard.wait(PATIENCE):
            time.sleep(max(begun + 2 * PATIENCE - time.monotonic(), 0.0))
        self._say(SAVING if self._heard.is_set() else SOON)

    def _say(self, text: str, *, final: bool = False) -> None:
        """Write without buffers: the main thread may hold their locks."""
        if self.as_json:
            kind = '"kind": "error", "status": "error", "error"' if final else '"kind": "note", "note"'
            os.write(1, f'{{{kind}: "{text}"}}\n'.encode())
            return
        shown = SHOW_CURSOR if final and sys.stderr is not None and sys.stderr.isatty() else ""
        os.write(2, f"{shown}{'error: ' if final else ''}{text}\n".encode())


INTERRUPT = Interrupt()
