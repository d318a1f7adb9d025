"""A design as a picture: the path or history before in grey, and after."""

from matplotlib.axes import Axes

from onesided.plots.branches import default_axes, diagram, paths_of
from onesided.plots.palette import GREY
from onesided.plots.style import new_axes, settings
from onesided.results import Designed, column


def before_after(
    result: Designed, *, x: str | None = None, y: str | None = None, ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw the first result after the design as `diagram` does, with that before as a grey line under it."""
    axes = diagram(result.after[0], x=x, y=y, ax=new_axes() if ax is None else ax, title=title)
    across, up = default_axes(paths_of(result.after[0]), x, y)
    with settings():
        for i, path in enumerate(paths_of(result.before[0])):
            label = "before" if i == 0 else None
            axes.plot(column(path, across), column(path, up), color=GREY, lw=1.0, ls=":", zorder=0, label=label)
        axes.relim()
        axes.autoscale_view()
        axes.legend()
    return axes
