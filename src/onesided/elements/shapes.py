"""Shapes: measures of frames that several elements share."""

import itertools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from onesided.elements.contract import Frame


def distance(a: Frame, b: Frame) -> Any:
    """Distance of two places; its derivatives do not exist where they coincide."""
    step = b.position - a.position
    return jnp.sqrt(step @ step)


def distance_squared(a: Frame, b: Frame) -> Any:
    """Square of the distance, smooth everywhere."""
    step = b.position - a.position
    return step @ step


def polygon_length(frames: Sequence[Frame]) -> Any:
    """Length of the polygon through places in turn."""
    return sum(distance(a, b) for a, b in itertools.pairwise(frames))
