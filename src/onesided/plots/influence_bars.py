"""What moves an event: bars by relative influence of the parameters."""

import numpy as np
from matplotlib.axes import Axes

from onesided.plots.palette import ACCENT, GREY
from onesided.plots.style import COLOURS, new_axes, settings
from onesided.results import Sensitivity

MOST_BARS = 20


def influence(result: Sensitivity, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Bars of the percentage by which p changes per percent of each parameter, the largest on top.

    Where p is zero, or a parameter is, plain derivatives are drawn instead. Parameters that break the event are named.
    """
    axes = new_axes() if ax is None else ax
    relative = result.p != 0.0 and all(result.parameters.values())
    values = result.relative if relative else result.p_rate
    names = result.order[:MOST_BARS]
    with settings():
        for row, name in enumerate(names):
            i = result.index(name)
            if result.exponent[i] != 1.0:
                axes.text(
                    0.0, row, f" ∞: breaks it, power {result.exponent[i]:.3g}", va="center", color=ACCENT, fontsize=8
                )
            else:
                axes.barh(row, np.nan_to_num(values[i]), color=COLOURS[0 if values[i] >= 0 else 1], height=0.7)
        axes.axvline(0.0, color=GREY, lw=0.8)
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlabel(f"% of {result.control} per %" if relative else f"d{result.control}/dparameter")
        axes.set_title(title or f"What moves {result.about}")
    return axes
