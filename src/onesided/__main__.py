"""`onesided` and `python -m onesided`: the command line, with Ctrl-C heard before anything large is imported."""

import atexit
import os
import sys

from onesided.base.collecting import collection_held_back
from onesided.base.interrupt import INTERRUPT


def main() -> None:
    """Run the command line, and end the process."""
    codes = list[int]()
    atexit.register(_leave, codes)  # the first to be registered is the last to be called
    INTERRUPT.listen()
    with collection_held_back():
        from onesided.cli.app import main as run

    try:
        run()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            codes.append(end.code or 0)
        raise
    finally:
        INTERRUPT.rest()


def _leave(codes: list[int]) -> None:
    """End here: taking apart all that was loaded takes some tenths of a second of nothing, deaf to Ctrl-C."""
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except (OSError, ValueError):  # the pipe is closed: Python reports it in its own way
        return
    if codes:
        os._exit(codes[0])


if __name__ == "__main__":
    main()
