"""Members coloured by their results, with a scale beside the picture."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize

from onesided.base.errors import UsageError
from onesided.plots.palette import FORCES


def member_colours(axes: Axes, result: Any, quantity: str, index: int) -> dict[str, Any]:
    """Colours of members by their results, the same at all points of the result; a scale is drawn beside the axes."""
    known = {name.removesuffix(f".{quantity}"): name for name in result.members if name.endswith(f".{quantity}")}
    if not known:
        kinds = sorted({name.rpartition(".")[2] for name in result.members})
        raise UsageError(f"no member has a '{quantity}'", expected=", ".join(kinds) or "a structure made of parts")
    values = {member: np.asarray(result.members[name]) for member, name in known.items()}
    most = max(float(np.max(np.abs(series))) for series in values.values()) or 1.0
    look = ScalarMappable(Normalize(-most, most), LinearSegmentedColormap.from_list(quantity, FORCES))
    axes.figure.colorbar(look, ax=axes, label=quantity, shrink=0.7)
    return {member: look.to_rgba(series[index]) for member, series in values.items()}
