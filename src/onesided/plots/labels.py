"""Labels that keep clear of each other, of markers and of curves."""

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from onesided.base.types import Array
from onesided.plots.palette import GREY, INK, PAPER
from onesided.plots.style import FINE, in_paper

_REACHES = (11.0, 18.0, 28.0, 42.0, 60.0, 85.0, 115.0)  # points from the marker to the label
_TURNS = np.radians([45, 135, -45, -135, 0, 180, 90, -90, 22, 158, -22, -158, 67, 113, -67, -113])
_MANY = 20_000  # dots; a path that goes round and round covers the same places
_LEADER = 24.0  # a label further away than this gets a line to its marker


class Note(NamedTuple):
    """A text to be put near a place in data coordinates."""

    x: float
    y: float
    text: str
    colour: str = INK
    badge: bool = False  # in a circle


def place(axes: Axes, notes: list[Note], curves: list[Array], size: float = 8.5) -> None:
    """Write all notes; `curves` are (N, 2) polylines in data coordinates that labels avoid."""
    if not notes:
        return
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    renderer = _renderer(figure)
    figure.draw_without_rendering()
    scale = figure.dpi / 72.0
    size *= in_paper(FINE, 1.0)
    busy = _dots(axes, curves)
    anchors = axes.transData.transform(np.array([[note.x, note.y] for note in notes]))
    frame = axes.get_window_extent()
    taken = [_box(x, y, 9 * scale, 9 * scale, 0.0, 0.0) for x, y in anchors]
    taken += [_extent(text, renderer) for text in axes.texts if text.get_text()]
    for note, anchor in zip(notes, anchors, strict=True):
        text = axes.text(0, 0, note.text, fontsize=size, color=note.colour, zorder=6, transform=None)
        extent = text.get_window_extent(renderer)
        width, height = extent.width + 3 * scale, extent.height + 2 * scale
        if note.badge:
            width = height = max(width, height) + 3 * scale
        text.remove()
        reach, turn, box = _best(anchor, (width, height), scale, frame, taken, busy)
        taken.append(box)
        _write(axes, note, reach, turn, size - note.badge)


def _extent(text: Text, renderer: RendererBase) -> Bbox:
    """Of a text that is there already, with its frame but without its line."""
    frame = text.get_bbox_patch()
    return Text.get_window_extent(text, renderer) if frame is None else frame.get_window_extent(renderer)


def _renderer(figure: Figure) -> RendererBase:
    """What measures texts; a figure of another kind of canvas lends itself to ours for the purpose."""
    canvas = figure.canvas
    try:
        measure: Any = FigureCanvasAgg(figure)
        renderer: RendererBase = measure.get_renderer()
        return renderer
    finally:
        figure.set_canvas(canvas)


def _best(
    anchor: Array, size: tuple[float, float], scale: float, frame: Bbox, taken: list[Bbox], busy: Array
) -> tuple[float, float, Bbox]:
    """The place with the least overlap; near places and the usual corners first."""
    best: tuple[float, float, Bbox] | None = None
    least = np.inf
    for reach in _REACHES:
        for order, turn in enumerate(_TURNS):
            cos, sin = float(np.cos(turn)), float(np.sin(turn))
            box = _box(anchor[0] + reach * scale * cos, anchor[1] + reach * scale * sin, *size, cos, sin)
            cost = _overlap(box, taken) * 100.0 + _outside(box, frame) * 200.0 + _crowd(box, busy) * 14.0
            cost += _crossed(anchor, box, taken) * 30.0 + reach * 0.04 + order * 0.01
            if cost < least:
                least, best = cost, (reach, float(turn), box)
    if best is None:
        raise ValueError("no place for a label")
    return best


def _box(x: float, y: float, width: float, height: float, cos: float, sin: float) -> Bbox:
    """A box whose nearest side or corner faces the direction it is seen from."""
    left = x - width * (1.0 - _sign(cos)) / 2.0
    bottom = y - height * (1.0 - _sign(sin)) / 2.0
    return Bbox.from_bounds(left, bottom, width, height)


def _overlap(box: Bbox, taken: list[Bbox]) -> float:
    area = 0.0
    for other in taken:
        wide = min(box.x1, other.x1) - max(box.x0, other.x0)
        high = min(box.y1, other.y1) - max(box.y0, other.y0)
        area += max(wide, 0.0) * max(high, 0.0)
    return (1.0 + float(area) / max(float(box.width * box.height), 1.0)) if area > 0 else 0.0


def _crossed(anchor: Array, box: Bbox, taken: list[Bbox]) -> float:
    """How many labels lie between the anchor and the box."""
    centre = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
    between = anchor + np.linspace(0.15, 0.85, 8)[:, None] * (centre - anchor)
    return float(sum(any(other.contains(x, y) for x, y in between) for other in taken[1:] if other.width > 20))


def _outside(box: Bbox, frame: Bbox) -> float:
    over = max(frame.x0 - box.x0, 0.0) + max(box.x1 - frame.x1, 0.0)
    return float(over + max(frame.y0 - box.y0, 0.0) + max(box.y1 - frame.y1, 0.0)) / max(float(box.height), 1.0)


def _crowd(box: Bbox, busy: Array) -> float:
    inside = (busy[:, 0] > box.x0) & (busy[:, 0] < box.x1) & (busy[:, 1] > box.y0) & (busy[:, 1] < box.y1)
    return float(np.count_nonzero(inside)) / max(box.height / 4.0, 1.0)


def _dots(axes: Axes, curves: list[Array]) -> Array:
    """Curves as dots a few pixels apart; of very many each place once."""
    dots = [np.zeros((0, 2))]
    for curve in curves:
        points = axes.transData.transform(curve[:: 1 + len(curve) // _MANY])
        steps = np.hypot(*np.diff(points, axis=0).T)
        along = np.concatenate([[0.0], np.cumsum(steps)])
        fine = np.arange(0.0, along[-1], 4.0) if np.isfinite(along[-1]) else along
        dots.append(np.column_stack([np.interp(fine, along, points[:, i]) for i in (0, 1)]))
    found = np.concatenate(dots)
    return found if len(found) <= _MANY else np.unique(np.round(found / 4.0), axis=0) * 4.0


def _write(axes: Axes, note: Note, reach: float, turn: float, size: float) -> None:
    cos, sin = np.cos(turn), np.sin(turn)
    far = reach > _LEADER
    style = "circle,pad=0.22" if len(note.text) < 3 else "round,pad=0.25,rounding_size=0.7"
    ring = {"boxstyle": style, "fc": PAPER, "ec": note.colour, "lw": 0.9} if note.badge else None
    axes.annotate(
        note.text,
        (note.x, note.y),
        xytext=(reach * cos, reach * sin),
        textcoords="offset points",
        fontsize=size,
        color=note.colour,
        ha=_side(cos, ("right", "center", "left")),
        va=_side(sin, ("top", "center", "bottom")),
        zorder=6,
        bbox=ring,
        arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.6, "shrinkA": 0, "shrinkB": 4} if far else None,
    )


def _side(value: float, names: tuple[str, str, str]) -> str:
    return names[1 + _sign(value)]


def _sign(value: float) -> int:
    """−1, 0 or 1: labels stand left, centred or right, below, centred or above."""
    return 0 if abs(value) < 0.3 else 1 if value > 0 else -1
