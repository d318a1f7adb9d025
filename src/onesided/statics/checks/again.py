"""Paths that contradict theory are traced once more with shorter steps, whichever verb asked for them."""

from collections.abc import Callable
from dataclasses import replace

from onesided.base.log import LOG
from onesided.base.types import Status
from onesided.results import Path
from onesided.statics.tracing.path_method import Origin

SHORTER = 0.25  # of the steps with which such a path is traced again


def checked_twice(origin: Origin, follow: Callable[[Origin], Path]) -> Path:
    """The path from an origin; one that contradicts theory is followed again from the same origin, by shorter steps."""
    path = follow(origin)
    shorter = origin.method.shortened(SHORTER) if path.status is Status.contradictory else None
    if shorter is None:
        return path
    LOG.info("the path from p = %g contradicts theory and is traced again by shorter steps: %s", path.p[0], path.note)
    return follow(replace(origin, method=shorter))
