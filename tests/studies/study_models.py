"""Tasks for tests of what happens around them; they are imported by worker processes."""

import os
import signal
import time

import onesided
from onesided.studies.fingerprint import fingerprint

SPRING = "energy='k/2*(x-p)**2'\n[coordinates]\nx=1.0\n[parameters]\nk=2.0\nm=1.0\n[control]\nrange=[-1,1]\nstart=0.5\n"


def spring():
    return onesided.loads(SPRING).system


def risky(system):
    """Some cases end their process, or run out of memory."""
    k = system.parameters["k"]
    if k == 3.0:
        os.kill(os.getpid(), signal.SIGKILL)
    if k == 4.0:
        raise MemoryError("1e30 bytes")
    return {"double": 2.0 * k, "print": float(int(fingerprint(system)[:12], 16)), "process": float(os.getpid())}


def slow(system):
    """A case that takes a moment and leaves a trace of having been done."""
    time.sleep(0.02)
    return {"double": 2.0 * system.parameters["k"]}
