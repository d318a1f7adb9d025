"""How many processors there are for this process."""

import os


def processors() -> int:
    """Those it may use: fewer than the machine has where it is bound to some."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
