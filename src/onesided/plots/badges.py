"""Circled numbers of events and jumps, and the key beside the figure that says what they are."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.legend_handler import HandlerBase
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse
from matplotlib.text import Text
from matplotlib.transforms import Transform

from onesided.base.types import Array
from onesided.plots import labels
from onesided.plots.palette import ACCENT, GREY, INK, PAPER
from onesided.plots.style import FINE, MARKERS, WIDE_IN_PAPER, in_paper, key_place
from onesided.results import Event, Kind
from onesided.results.numbering import Numbered

MOST_BADGES, MOST_IN_PAPER = 30, 9
MOST_LINES = 19  # of the key
MOST_MERGED = 3  # numbers in one badge
NEAR = 0.006  # share of the picture within which markers are one
WIDE = 33  # characters of a line of the key
LONG_WORDS = 34
_NAMES = re.compile(r"(\w+) ('[^']*'(?:, '[^']*')*)")  # a noun and its quoted names
JUMP: dict[str, Any] = {"color": ACCENT, "lw": 1.5, "ls": (0, (2, 1.3))}


class EventSpot(NamedTuple):
    """A place with everything that happens there, in order; drawn once."""

    x: float
    y: float
    events: tuple[Numbered, ...]
    colour: str = INK

    @property
    def text(self) -> str:
        """The numbers, as many as fit."""
        numbers = [str(one.number) for one in self.events]
        return ",".join(numbers[:MOST_MERGED]) + ("…" if len(numbers) > MOST_MERGED else "")


def most_badges() -> int:
    """Of more events kinds are told instead of each."""
    return int(in_paper(MOST_IN_PAPER, MOST_BADGES))


def merged(axes: Axes, places: list[tuple[float, float, Numbered]], colour: str = INK) -> list[EventSpot]:
    """Places with their events; those that the picture shows at one place are one, as of loading and unloading."""
    spots: list[tuple[Array, EventSpot]] = []
    for x, y, one in places:
        shown = axes.transAxes.inverted().transform(axes.transData.transform((x, y)))
        near = next((i for i, (where, _) in enumerate(spots) if np.max(np.abs(where - shown)) < NEAR), None)
        if near is None:
            spots.append((shown, EventSpot(x, y, (one,), colour)))
        else:
            where, spot = spots[near]
            spots[near] = where, spot._replace(events=(*spot.events, one))
    return [spot for _, spot in spots]


def mark(axes: Axes, x: Array, y: Array, kind: Kind, share: float = 1.0) -> None:
    """The marker of a kind of event at places, of its usual size or a share of it."""
    marker = MARKERS[kind]
    colour = GREY if kind is Kind.bound else INK
    face = colour if marker.filled else PAPER
    share *= in_paper(FINE, 1.0)
    size: dict[str, Any] = {"ms": share * marker.size, "mew": share * 1.2}
    axes.plot(x, y, marker.shape, mfc=face, mec=colour, zorder=5, clip_on=False, **size)


def notes(spots: list[EventSpot]) -> list[labels.Note]:
    """The badges as labels that keep clear of each other."""
    return [labels.Note(spot.x, spot.y, spot.text, spot.colour, badge=True) for spot in spots]


def few_words(what: Any) -> str:
    """What the key says of an event or a jump."""
    where = f"{what.control} = {what.p + 0.0:.5g}"
    if not isinstance(what, Event):
        return f"jump at {where},\n{what.energy:.4g} released"
    wide = int(in_paper(WIDE_IN_PAPER, WIDE))
    words = brief(what, int(in_paper(WIDE_IN_PAPER, LONG_WORDS)))
    return f"{words},{' ' if len(words) + len(where) < wide else chr(10)}{where}"


def brief(event: Event, most: int) -> str:
    """What happens, in at most so many characters where that can be said: by names, by their number, by the kind."""
    if event.kind not in {Kind.closes, Kind.opens} or not event.constraints:
        return str(event.kind.value)
    told = event.detail.partition(";")[0]
    named = re.sub(r"\bcontacts? (?=')", "", told).replace("'", "")
    counted = _NAMES.sub(lambda found: f"{found[2].count(',') + 1} {found[1]}" if "," in found[2] else found[0], told)
    unnamed = _NAMES.sub(r"\1", told)
    fits = [words for words in (named, counted.replace("'", ""), unnamed) if 0 < len(words) <= most]
    return fits[0] if fits else f"{len(event.constraints)} constraints {event.kind.name.removesuffix('s')}"


class BadgeHandler(HandlerBase):
    """Draws an event in a legend: its marker or dashes, and the number in a circle to the right."""

    def __init__(self, number: int, colour: str) -> None:
        super().__init__()
        self.number, self.colour = str(number), colour

    def create_artists(  # noqa: PLR0917 - as matplotlib calls it
        self,
        legend: Legend,
        orig_handle: Artist,
        xdescent: float,
        ydescent: float,
        width: float,
        height: float,
        fontsize: float,
        trans: Transform,
    ) -> list[Artist]:
        """What stands before the words."""
        middle = (height - ydescent) / 2
        symbol = Line2D([0.02 * width, 0.25 * width, 0.48 * width], [middle] * 3, markevery=[1])
        symbol.update_from(orig_handle)
        size, centre = 1.55 * fontsize, (0.8 * width, middle)
        ring = Ellipse(centre, size, size, fc=PAPER, ec=self.colour, lw=0.9)
        look: dict[str, Any] = {"fontsize": 0.82 * fontsize, "color": self.colour}
        text = Text(*centre, self.number, ha="center", va="center_baseline", **look)
        found: list[Artist] = [symbol, ring, text]
        for artist in found:
            artist.set_transform(trans)
        return found


def _entry(one: Numbered) -> Line2D:
    """An event or a jump in the key."""
    words = few_words(one.what)
    if not isinstance(one.what, Event):
        return Line2D([], [], label=words, **JUMP)
    look = MARKERS[one.what.kind]
    face = INK if look.filled else PAPER
    return Line2D([], [], ls="", marker=look.shape, ms=look.size - 1, mfc=face, mec=INK, label=words)


def draw_key(axes: Axes, handles: list[Line2D], events: Sequence[Numbered]) -> None:
    """The key beside axes that have the figure for themselves; elsewhere a legend of the lines inside them."""
    figure: Any = axes.figure
    if not alone(axes):
        if len(handles) > 1:
            axes.legend(handles=handles, fontsize=7.5, handlelength=2.6)
        return
    room = MOST_LINES - sum(_height(handle) for handle in handles)
    listed = [(_entry(one), one) for one in events[:MOST_LINES]]
    filled = np.cumsum([_height(entry) for entry, _ in listed])
    entries = {entry: one for (entry, one), used in zip(listed, filled, strict=True) if used <= room}
    handlers = {entry: BadgeHandler(one.number, badge_colour(one)) for entry, one in entries.items()}
    more = len(events) - len(entries)
    rest = [Line2D([], [], ls="", label=f"… {more:,} more")] if more else []
    rows = [*handles, *entries, *rest] if len(events) <= most_badges() else [*handles, *_kinds(events)]
    if rows:
        figure.legend(handles=rows, handler_map=handlers, handlelength=3.4, labelspacing=0.6, **key_place())


def _height(entry: Line2D) -> int:
    """Lines of text of an entry."""
    return 1 + str(entry.get_label()).count("\n")


def _kinds(events: Sequence[Numbered]) -> list[Line2D]:
    """Entries for kinds of events, where there are too many to be listed."""
    kinds = Counter(one.what.kind for one in events if isinstance(one.what, Event))
    found = []
    for kind, count in kinds.most_common():
        look = MARKERS[kind]
        face = INK if look.filled else PAPER
        words = f"{kind.value} × {count:,}"
        found.append(Line2D([], [], ls="", marker=look.shape, ms=look.size - 1, mfc=face, mec=INK, label=words))
    jumps = len(events) - sum(kinds.values())
    return [*found, *([Line2D([], [], label=f"jump × {jumps:,}", **JUMP)] if jumps else [])]


def badge_colour(one: Numbered) -> str:
    """Colour of an event's badge; jumps have the accent colour."""
    return INK if isinstance(one.what, Event) else ACCENT


def alone(axes: Axes) -> bool:
    """Whether axes have a figure, or a part of one, for themselves that makes room for a key."""
    figure = axes.figure
    return len(figure.axes) == 1 and figure.get_layout_engine() is not None
