"""The graph of stable states as a picture: states in layers, jumps with growing p and with falling p apart."""

from collections import defaultdict, deque

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from onesided.plots.palette import GREY, INK
from onesided.plots.style import COLOURS, new_axes, settings
from onesided.results import Transitions

MOST_NUMBERED = 64  # states that get their number
BOW = 0.12  # of arrows, so that those up and down do not hide each other


def transitions(result: Transitions, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw states as dots, in layers by jumps up less jumps down from the start, and transitions as arrows.

    Arrows of growing p are full, those of falling p dashed; where p ends a branch is listed in `Transitions.edges`.
    """
    axes = new_axes() if ax is None else ax
    spots, few = _spots(result), len(result.states) <= MOST_NUMBERED
    with settings():
        for edge in result.edges:
            if edge.target is not None:
                look = {"arrowstyle": "-|>" if few else "->", "color": COLOURS[0 if edge.sense > 0 else 1], "lw": 0.9,
                        "ls": "-" if edge.sense > 0 else (0, (4, 2)), "shrinkA": 7 if few else 2,
                        "shrinkB": 7 if few else 2, "connectionstyle": f"arc3,rad={BOW}"}  # fmt: skip
                axes.annotate("", spots[edge.target], spots[edge.source], arrowprops=look)
        x, y = zip(*spots, strict=True)
        axes.scatter(x, y, s=150 if few else 12, color="white" if few else INK, edgecolors=INK, zorder=3)
        for number, spot in enumerate(spots if few else ()):
            weight = "bold" if number in result.starts else "normal"
            axes.annotate(str(number), spot, ha="center", va="center", fontsize=8, zorder=4, fontweight=weight)
        for name, colour, dashes in (("growing", COLOURS[0], "-"), ("falling", COLOURS[1], "--")):
            axes.plot([], [], color=colour, ls=dashes, lw=1.2, label=f"{name} {result.control}")
        axes.set_ylabel("jumps up less jumps down")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xticks([])
        axes.grid(visible=False)
        axes.set_title(title or f"{len(result.states)} stable states, {len(result.edges)} transitions")
        axes.legend(loc="upper left", labelcolor=GREY)
        axes.margins(0.08)
    return axes


def _spots(result: Transitions) -> list[tuple[float, float]]:
    """Where each state stands: its layer, and its place in the layer, centred."""
    levels = _levels(result)
    layers: dict[int, list[int]] = defaultdict(list)
    for number in sorted(levels, key=lambda i: (sum(result.states[i].interval), i)):
        layers[levels[number]].append(number)
    places = {number: place - (len(layer) - 1) / 2 for layer in layers.values() for place, number in enumerate(layer)}
    return [(places[i], float(levels[i])) for i in range(len(result.states))]


def _levels(result: Transitions) -> dict[int, int]:
    """Jumps up less jumps down on a shortest way from a start."""
    levels = dict.fromkeys(result.starts, 0)
    waiting = deque(result.starts)
    while waiting:
        number = waiting.popleft()
        for edge in (*result.leaving(number, 1), *result.leaving(number, -1)):
            if edge.target is not None and edge.target not in levels:
                levels[edge.target] = levels[number] + edge.sense
                waiting.append(edge.target)
    return {i: levels.get(i, 0) for i in range(len(result.states))}
