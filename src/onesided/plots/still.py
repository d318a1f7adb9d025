"""The system itself at one point of a result, displacements enlarged where they could not be seen."""

from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from onesided.base.errors import UsageError
from onesided.base.tolerances import HALF_DIGITS
from onesided.plots.configuration import Film, draw, film_of, ghost, prepared
from onesided.plots.member_colours import member_colours
from onesided.plots.style import settings

SEEN, UNSEEN = 0.1, 0.02  # displacements as shares of the picture: what they are enlarged to, from what on they are not


def sketch(
    result: Any,
    index: int = -1,
    *,
    ax: Axes | None = None,
    title: str | None = None,
    members: str = "",
    scale: float | None = None,
) -> Axes:
    """Draw the configuration at point `index` of a result over that at its start; returns the axes.

    Parameters
    ----------
    members : result of members by which they are coloured, with a scale beside: "force", "strain" …
    scale : by how much displacements are enlarged; by default as much as it takes to see them; the picture states it.
    """
    found = enlarged(film_of(result), scale)
    if not -len(found) <= index < len(found):
        raise UsageError("there is no such point", got=str(index), expected=f"0 to {len(found) - 1}")
    axes = prepared(found, ax)
    now = index % len(found)
    with settings():
        if now:
            ghost(axes, found)
        draw(axes, found, now, member_colours(axes, result, members, now) if members else None)
        axes.set_title(found.captions[now] if title is None else title)
    return axes


def enlarged(found: Film, scale: float | None) -> Film:
    """The film with displacements enlarged: as asked for, or where they cannot be seen and nothing forbids it.

    Contacts, circles and bodies would no longer touch what they touch: such systems are drawn as they are.
    """
    sketch = found.sketch
    if scale is None:
        whole = sketch.grounds or sketch.circles or sketch.bodies or sketch.solids or sketch.acting.touches
        scale = 1.0 if whole else _visible(found)
    if scale == 1.0:
        return found
    captions = tuple(f"{caption}   displacements × {scale:g}" for caption in found.captions)
    return replace(found, scale=scale, captions=captions)


def _visible(found: Film) -> float:
    """1, 2, 5, 10 … times what makes the largest displacement a tenth of the picture, where it is below a fiftieth."""
    places = [where[np.all(np.isfinite(where), axis=1)] for where in found.sketch.positions(found.columns).values()]
    moved = max((float(np.max(np.abs(where - where[0]))) for where in places if len(where)), default=0.0)
    size = float(np.max(np.ptp([where[0] for where in places if len(where)], axis=0), initial=0.0))
    if moved <= HALF_DIGITS * size or moved > UNSEEN * size:
        return 1.0
    power, rest = divmod(float(np.log10(SEEN * size / moved)), 1.0)
    return float(max(step for step in (1.0, 2.0, 5.0) if step <= 10.0**rest) * 10.0**power)
