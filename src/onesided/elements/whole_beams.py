"""Whole beams, straight or curved, divided into elements of two sections."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.types import Array
from onesided.elements.beams import Beam, SpatialBeam
from onesided.elements.contract import Element
from onesided.elements.places import Body


def divided(
    beam: Beam | SpatialBeam,
    points: Any,
    *,
    first: str = "",
    last: str = "",
    fixed: Mapping[int, bool | str | Sequence[str]] | None = None,
) -> list[Body | Element]:
    """A whole beam through given points, straight or curved: sections and beam elements between them.

    Parameters
    ----------
    beam : name, stiffnesses and what else the elements share; its `ends` are not used.
    points : (n + 1, 2) or (n + 1, 3) positions of the sections, for n elements: `numpy.linspace(a, b, n + 1)`.
    first, last : places to which the beam is joined rigidly, instead of end sections of its own.
    fixed : number of a section (negative from the end) → components that are held, as for a `Body`.

    Returns
    -------
    list
        Bodies `<name>_0` … `<name>_n`, in the plane at the angle of the beam, and elements `<name>_1` … `<name>_n`
        with the ending `_beam`. It has no stress at the start, unless `beam` says otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from onesided.elements import Beam, divided
    >>> parts = divided(Beam("b", EA=1e4, EI=1.0), np.linspace((0, 0), (1, 0), 3), fixed={0: True})
    >>> [part.name for part in parts]
    ['b_0', 'b_1', 'b_2', 'b_1_beam', 'b_2_beam']
    """
    x = np.asarray(points, dtype=np.float64)
    dimension = beam.dimensions[0]
    if x.ndim != 2 or x.shape[1] != dimension or len(x) < 2 or not np.all(np.isfinite(x)):
        raise ModelError(
            f"the points of beam '{beam.name}' are not usable",
            about=beam.name,
            got=f"shape {x.shape}",
            expected=f"(n + 1, {dimension}) finite numbers",
        )
    count = len(x)
    held = {i % count: value for i, value in (fixed or {}).items() if -count <= i < count}
    if len(held) != len(fixed or {}):
        raise ModelError(
            f"beam '{beam.name}' has no such section", about=beam.name, got=str(fixed), expected=f"0 to {count - 1}"
        )
    names = [f"{beam.name}_{i}" for i in range(count)]
    names[0], names[-1] = first or names[0], last or names[-1]
    angles = _angles(x) if dimension == 2 else np.zeros(count)
    own = range(1 if first else 0, count - 1 if last else count)
    bodies = [Body(names[i], tuple(x[i].tolist()), float(angles[i]), fixed=held.get(i, False)) for i in own]
    elements = [replace(beam, name=f"{beam.name}_{i}_beam", ends=(names[i - 1], names[i])) for i in range(1, count)]
    return [*bodies, *elements]


def _angles(x: Array) -> Array:
    """Angles of a curve at its points, counted on over full turns: means of the neighbouring chords."""
    steps = np.diff(x, axis=0)
    chords = np.unwrap(np.arctan2(steps[:, 1], steps[:, 0]))
    if len(chords) == 1:
        return np.repeat(chords, 2)
    middle = 0.5 * (chords[1:] + chords[:-1])
    return np.concatenate([[2 * chords[0] - middle[0]], middle, [2 * chords[-1] - middle[-1]]])
