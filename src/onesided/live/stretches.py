"""Stable stretches that the handle runs along: a drive to the end of the range, cut at its jumps.

What a drive has computed once is looked up while the handle moves: a position costs no solution. The stretches of one
drive are a chain; each holds the jump that ends it and the stretch on which the system lands.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from onesided.base.tolerances import DEFAULT
from onesided.base.types import Array, Indices, Mask, Status
from onesided.design.known_branches import KnownBranches
from onesided.results import Drive, Jump, Kind, Path, dense
from onesided.results.explain import text
from onesided.system.sizes import Sizes
from onesided.system.system import System

POINTS = 240  # of a path, enough for a picture that moves smoothly
MOST_KNOWN = 60  # stretches that are kept for later
MOST_FALLING = 24  # states of a fall


@dataclass(frozen=True)
class Landmark:
    """Something that happens on the way: where, its kind, and words."""

    p: float
    kind: str
    words: str
    why: str = ""


@dataclass(frozen=True, eq=False)
class Position:
    """Where a system stands: values by column, states of the constraints, degree of instability.

    `exact` is whether the values were computed there, and not between points of a path; `part` is the number of the
    path within its stretch.
    """

    p: float
    row: Array
    codes: Any
    degree: int = 0
    exact: bool = False
    part: int = 0


@dataclass(frozen=True, eq=False)
class Stretch:
    """Stable states from where it begins to where stability, the range of p or the computation ends.

    Attributes
    ----------
    sense : of p, ±1;  way : (M,) sense · p, which never falls.
    rows : (M, columns) values;  codes : (M, m) states of the constraints.
    points : p and q of the computed points.
    owner : (M,) the path that each row belongs to;  parameters : those of each path, with what it remembers.
    stop : in words, what keeps p from going on; empty at a jump and at the end of the range.
    jump, landing : the jump that ends it, and the stretch behind it.
    falling : values (K, columns) and closed contacts (K, m) of states on the way of the jump, where they are known.
    """

    sense: int
    way: Array
    rows: Array
    codes: Any
    passages: tuple[Landmark, ...]
    points: tuple[Array, Array]
    owner: Indices
    parameters: tuple[dict[str, float], ...]
    stop: str = ""
    jump: Jump | None = None
    landing: "Stretch | None" = None
    falling: tuple[Array, Mask] | None = None

    @property
    def end(self) -> float:
        """The last value of p."""
        return float(self.sense * self.way[-1])

    def covers(self, p: float) -> bool:
        """Whether p lies between the ends."""
        return bool(self.way[0] <= self.sense * p <= self.way[-1])

    def at(self, p: float) -> Position:
        """The state at p, interpolated between points of the path."""
        there = float(np.clip(self.sense * p, self.way[0], self.way[-1]))
        after = int(np.clip(np.searchsorted(self.way, there, side="right"), 1, max(len(self.way) - 1, 1)))
        if len(self.way) == 1:
            return Position(self.sense * there, self.rows[0], self.codes[0])
        low, high = self.way[after - 1], self.way[after]
        share = (there - low) / (high - low) if high > low else 1.0
        row = self.rows[after - 1] + share * (self.rows[after] - self.rows[after - 1])
        codes = self.codes[after if share > 0.5 else after - 1]
        return Position(self.sense * there, row, codes, part=int(self.owner[after]))

    def between(self, begin: float, end: float, most: int) -> list[Array]:
        """Some of the states on the way from p = begin to p = end, the last included."""
        first, last = np.searchsorted(self.way, [self.sense * begin, self.sense * end], side="right")
        chosen = np.unique(np.linspace(first, last, most + 1).astype(int)[:-1])
        return [*(self.rows[i] for i in chosen if i < last), self.at(end).row]

    def passed(self, begin: float, end: float) -> list[Landmark]:
        """What happens after p = begin, up to p = end; the event that sets off the jump is reported with the jump."""
        low, high = self.sense * begin, self.sense * end
        return [one for one in self.passages if low < self.sense * one.p <= high and not self._sets_off(one)]

    def _sets_off(self, passage: Landmark) -> bool:
        jump = self.jump
        return jump is not None and jump.p == passage.p and jump.reason.name == passage.kind


def stretches(drive: Drive, sense: int, names: tuple[str, ...]) -> Stretch:
    """The first stretch of a drive in one sense of p; those behind its jumps hang on to it."""
    ended = dict(drive.jump_places())
    cuts = [0, *(i + 1 for i in sorted(ended)), len(drive.paths)]
    found: Stretch | None = None
    stop = "" if drive.status is Status.bound_reached else f"{drive.status.value}: {drive.note}".removesuffix(": ")
    for begin, end in reversed(list(pairwise(cuts))):
        if begin < end:
            jump = ended.get(end - 1)
            found = _stretch(drive.paths[begin:end], sense, names, "" if jump else stop, (jump, found))
    if found is None:
        raise ValueError("a drive without paths has no stretch")
    return found


def _stretch(
    paths: tuple[Path, ...], sense: int, names: tuple[str, ...], stop: str, behind: tuple[Jump | None, Stretch | None]
) -> Stretch:
    fine = [dense(path, POINTS, names) for path in paths]
    control = paths[0].control
    way = np.maximum.accumulate(sense * np.concatenate([one.columns[control] for one in fine]))
    rows = np.concatenate([np.column_stack([one.columns[name] for name in names]) for one in fine])
    jump, landing = behind
    return Stretch(
        sense,
        way,
        rows,
        np.concatenate([one.codes for one in fine]),
        tuple(_passage(event) for path in paths for event in path.events if event.kind is not Kind.bound),
        (np.concatenate([path.p for path in paths]), np.concatenate([path.q for path in paths])),
        np.repeat(np.arange(len(fine)), [len(one.source) for one in fine]),
        tuple(dict(path.provenance.get("parameters", {})) for path in paths),
        stop,
        jump,
        landing,
        _falling(paths[-1], jump, names),
    )


def _falling(path: Path, jump: Jump | None, names: tuple[str, ...]) -> tuple[Array, Mask] | None:
    """Values on the way of a jump from the end of a path, NaN where they are not known, and closed contacts."""
    if jump is None or jump.fall is None:
        return None
    fall = jump.fall.thinned(MOST_FALLING)
    found, unknown = fall.columns(path), np.full(len(fall), np.nan)
    return np.column_stack([found.get(name, unknown) for name in names]), fall.closed


def _passage(event: Any) -> Landmark:
    return Landmark(event.p, event.kind.name, event.words(), text(event.kind))


class KnownStretches:
    """Stretches found so far with one set of parameters, by the sense of p, and which of them a state lies on."""

    def __init__(self, system: System, sizes: Sizes) -> None:
        self.sizes = sizes
        self._known = {sense: KnownBranches(system, sizes, DEFAULT) for sense in (1, -1)}
        self._stretches: dict[int, list[Stretch]] = {1: [], -1: []}

    def add(self, stretch: Stretch | None) -> None:
        """Know a stretch and those behind its jumps."""
        while stretch is not None and len(self._stretches[stretch.sense]) < MOST_KNOWN and not self._has(stretch):
            p, q = stretch.points
            order = slice(None, None, stretch.sense)
            self._known[stretch.sense].add(p[order], q[order])
            self._stretches[stretch.sense].append(stretch)
            stretch = stretch.landing

    def _has(self, stretch: Stretch) -> bool:
        return any(stretch is one for one in self._stretches[stretch.sense])

    def find(self, sense: int, q: Array, p: float) -> Stretch | None:
        """A stretch in this sense that passes through (q, p)."""
        number = self._known[sense].find(q, p)
        found = None if number is None else self._stretches[sense][number]
        return found if found is not None and found.covers(p) else None
