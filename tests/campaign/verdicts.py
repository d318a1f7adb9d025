"""What is true of a path, what was found, and how the two compare."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from onesided import Kind, OnesidedError, Path, Status

WIDE = 1e-3  # a feature wider than this share of the path must not be missed in silence


@dataclass(frozen=True)
class Fact:
    """A special point as it is: `kinds` that name it, place, degrees on either side, position along the path.

    Attributes
    ----------
    s : arc length from the start in the plane of coordinates and p, each relative to its range on the path.
    extent : length of the stretch on which a path that misses the point is wrong, before it is right again.
    part : whether the point may be told together with the one before, which lies in the same place.
    """

    kinds: tuple[Kind, ...]
    p: float
    q: tuple[float, ...]
    before: int
    after: int | None
    s: float = 0.0
    extent: float = np.inf
    part: bool = False

    def words(self) -> str:
        names = "/".join(kind.name for kind in self.kinds)
        place = ", ".join(f"{value:.9g}" for value in self.q)
        return f"{names:<22} p = {self.p:<14.9g} q = ({place})  degree {self.before} -> {self.after}"


@dataclass(frozen=True)
class Truth:
    """All special points of a path in order, how it ends, and the sizes by which errors are measured."""

    facts: tuple[Fact, ...]
    end: Status
    length: float
    p_size: float
    q_size: tuple[float, ...]
    blur: float = 1e-7  # accuracy that the conditioning of the problem allows, relative to the sizes

    def width(self, k: int) -> float:
        """Width of the feature at fact k: the nearest neighbour or its extent, as share of the length of the path."""
        s = [0.0, *(fact.s for fact in self.facts)]
        near = [abs(s[i + 1] - s[i]) for i in (k, k + 1) if 0 <= i < len(s) - 1]
        near += [self.facts[k].extent] if k < len(self.facts) else []
        return min(near) / self.length if near else 1.0

    def words(self) -> str:
        return "\n".join([*(fact.words() for fact in self.facts), f"ends: {self.end.name}"])


@dataclass(frozen=True)
class Verdict:
    """`outcome` is right, flagged, silent, crash, or undecided where the oracle gives up.

    `width` is that of the feature where truth and result part.
    """

    outcome: str
    width: float = 1.0
    why: str = ""


@dataclass
class Summary:
    """Counts of a campaign, with the seeds of those that were not right."""

    name: str
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, Verdict]] = field(default_factory=list)

    def add(self, seed: int, verdict: Verdict) -> None:
        narrow = verdict.outcome == "silent" and verdict.width <= WIDE
        self.counts["silent, narrow" if narrow else verdict.outcome] += 1
        if verdict.outcome != "right":
            self.failures.append((seed, verdict))

    def worst(self) -> list[tuple[int, Verdict]]:
        """Silent errors on wide features, and crashes: there must be none."""
        return [(s, v) for s, v in self.failures if v.outcome == "crash" or (v.outcome == "silent" and v.width > WIDE)]

    def words(self) -> str:
        counts = ", ".join(f"{number} {name}" for name, number in sorted(self.counts.items()))
        return f"{self.name}: {sum(self.counts.values())} cases, {counts}"

    def listing(self) -> str:
        rows = [f"  seed {s}: {v.outcome}, width {v.width:.2g}: {v.why}" for s, v in self.failures]
        return "\n".join([self.words(), *rows])


def campaign(name: str, judge: Callable[[int], Verdict], seeds: Iterable[int]) -> Summary:
    """Judge all seeds."""
    summary = Summary(name)
    for seed in seeds:
        summary.add(seed, guarded(judge, seed))
    return summary


def guarded(judge: Callable[[int], Verdict], seed: int) -> Verdict:
    """An error of the library says that something went wrong; any other exception is a crash."""
    try:
        return judge(seed)
    except OnesidedError as error:
        return Verdict("flagged", why=f"{type(error).__name__}: {str(error)[:200]}")
    except Exception as error:  # noqa: BLE001 - a crash is a result of the campaign
        return Verdict("crash", why=f"{type(error).__name__}: {str(error)[:200]}")


def compare(truth: Truth, path: Path, back: Callable[[Fact], Fact] = lambda fact: fact) -> Verdict:
    """Hold a path against the truth: all events in order, no more, no less, and the same end.

    `back` takes what was found to the variables of the truth.
    """
    found = [back(fact) for fact in facts_of(path)]
    wrong = first_difference(truth, found)
    ends = {truth.end, Status.enough} if truth.end is Status.far else {truth.end}  # what has no end is cut off
    if wrong is None and path.status in ends:
        return Verdict("right")
    k, why = wrong if wrong is not None else (len(found), f"ends {path.status.name}, true: {truth.end.name}")
    if not path.ok or path.note or not all(event.rays.complete for event in path.events):
        return Verdict("flagged", truth.width(k), f"{path.status.name}, {path.note or 'no note'}; {why}")
    return Verdict("silent", truth.width(k), why)


def facts_of(path: Path) -> list[Fact]:
    """The events of a path as facts."""
    return [
        Fact((e.kind,), e.p, tuple(float(v) for v in e.q), e.instability_before, e.instability_after)
        for e in path.events
    ]


def first_difference(truth: Truth, found: Sequence[Fact]) -> tuple[int, str] | None:
    """Number of the first fact that was not found, or of the first event that is none, with both in words."""
    rest = list(found)
    for k, fact in enumerate(truth.facts):
        if rest and same(truth, fact, rest[0]):
            rest.pop(0)
        elif not fact.part:
            return k, f"event {k}: true {fact.words()}; found {rest[0].words() if rest else 'nothing more'}"
    if rest:
        return len(truth.facts), f"true: no more ({truth.end.name}); found {rest[0].words()}"
    return None


def same(truth: Truth, fact: Fact, found: Fact) -> bool:
    """Whether kind, place and degrees agree; coordinates of a fold are known to the root of the accuracy only."""
    shift = np.abs(np.array(found.q) - np.array(fact.q)) / np.array(truth.q_size)
    soft = bool({Kind.limit, Kind.smooth_bifurcation} & set(fact.kinds))
    near = abs(found.p - fact.p) <= truth.blur * truth.p_size and shift.max() <= (
        truth.blur**0.5 if soft else truth.blur
    )
    ended = fact.after is None or found.after is None or found.after == fact.after
    return found.kinds[0] in fact.kinds and near and found.before == fact.before and ended
