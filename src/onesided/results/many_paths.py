"""Events of many paths of one model, as arrays."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onesided.base.errors import UsageError
from onesided.base.types import Array, Indices, Mask
from onesided.base.views import views
from onesided.results.path import Kind


@dataclass(frozen=True, eq=False)
class PathSamples:
    """Points of many paths at given values of p, each with the number of its path, in the order of the paths.

    path : (S,);  p : (S,);  q : (S, n), nu : (S, m), NaN where no equilibrium was found so close to a limit point;
    instability : (S,) negative modes.
    """

    path: Indices
    p: Array
    q: Array
    nu: Array
    instability: Indices

    def __repr__(self) -> str:
        return f"Samples: {len(self.p)} points of {len(np.unique(self.path))} paths"


class EventWords(NamedTuple):
    """Words out of a short list, in which one may stand several times, by their places in it."""

    places: NDArray[Any]
    listed: tuple[str, ...]

    def written(self) -> NDArray[Any]:
        """The words of all events, written out, one for each."""
        words: NDArray[Any] = np.array([*self.listed, ""], dtype=object)[self.places]
        return words


@dataclass(frozen=True, eq=False, repr=False)
class ManyPaths:
    """What `trace_many` found: B paths with E events in all, each event with the number of its path.

    Attributes
    ----------
    parameters : name → (B,), what was varied.
    status, note : (B,) how each path ended, and what there is to say about it.
    handed : (B,) whether the path was followed by `trace`, from a point on where several things happen at once.
    path : (E,) number of the path;  kind : (E,) kinds of events;  constraint : (E,) names, "" where none changes; both
        are written out when first asked for, from `kinds` and `changing`: places in short lists.
    p : (E,);  q : (E, n);  nu : (E, m), μ and λ;  before, after : (E,) negative modes, −1 where not known.
    coordinates, constraints, control : names.
    engine : what the paths ran on.
    samples : the paths at values of p that were asked for.
    """

    parameters: Mapping[str, Array]
    status: NDArray[Any]
    note: NDArray[Any]
    handed: Mask
    path: Indices
    kinds: EventWords
    changing: EventWords
    p: Array
    q: Array
    nu: Array
    before: NDArray[Any]
    after: NDArray[Any]
    coordinates: tuple[str, ...]
    constraints: tuple[str, ...]
    control: str
    engine: str = "cpu"
    samples: PathSamples | None = None

    def __len__(self) -> int:
        return len(self.status)

    @cached_property
    def kind(self) -> NDArray[Any]:
        """(E,) kinds of the events."""
        return self.kinds.written()

    @cached_property
    def constraint(self) -> NDArray[Any]:
        """(E,) names of what changes at the events, "" where nothing does."""
        return self.changing.written()

    @property
    def ok(self) -> Mask:
        """(B,) whether each path can be used as an answer."""
        known = {status: status.ok for status in set(self.status.tolist())}
        return np.array([known[status] for status in self.status.tolist()], dtype=bool)

    def of(self, number: int) -> Indices:
        """Places of the events of one path, in order."""
        if not 0 <= number < len(self):
            raise UsageError("there is no such path", got=str(number), expected=f"0 to {len(self) - 1}")
        return np.arange(*np.searchsorted(self.path, (number, number + 1)))

    def first(self, *kinds: Kind | str) -> Array:
        """(B,) p at the first event of these kinds of every path, NaN where there is none."""
        wanted = {_kind(kind).name for kind in kinds or Kind}
        chosen = np.flatnonzero(np.array([kind in wanted for kind in self.kinds.listed])[self.kinds.places])
        found = np.full(len(self), np.nan)
        found[self.path[chosen[::-1]]] = self.p[chosen[::-1]]  # of several the last that is written: the first
        return found

    def words(self) -> str:
        """One line: how many paths, on what, with how many events of which kinds."""
        counts, named = np.bincount(self.kinds.places, minlength=len(self.kinds.listed)), Counter[str]()
        for kind, count in zip(self.kinds.listed, counts.tolist(), strict=True):
            named[kind] += count
        listed = ", ".join(f"{count} × {Kind[kind].value}" for kind, count in sorted(named.items()) if count)
        failed = int(np.count_nonzero(~self.ok))
        tail = f"; {int(self.handed.sum())} handed to trace" if self.handed.any() else ""
        return (
            f"{len(self)} paths ({self.engine}){tail}{f'; {failed} failed' if failed else ''}: {listed or 'no events'}"
        )

    def __repr__(self) -> str:
        return f"ManyPaths: {self.words()}"

    def plot(self, x: str | None = None, *, ax: Any = None, title: str = "") -> Any:
        """Draw where events lie over a parameter; see `onesided.plots.many_loci`. Returns matplotlib axes."""
        return views("plots").many_loci(self, x, ax=ax, title=title)

    def to_pandas(self) -> Any:
        """One row per event, as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as e:
            raise UsageError("pandas is not installed", advice="pip install pandas") from e
        named = {name: self.q[:, i] for i, name in enumerate(self.coordinates)}
        named |= {f"reaction {name}": self.nu[:, i] for i, name in enumerate(self.constraints)}
        own = {name: values[self.path] for name, values in self.parameters.items()}
        start = {"path": self.path, **own, "event": self.kind, "constraint": self.constraint, self.control: self.p}
        return pandas.DataFrame({**start, **named, "before": self.before, "after": self.after})


def _kind(kind: Kind | str) -> Kind:
    if isinstance(kind, Kind):
        return kind
    if kind not in Kind.__members__:
        raise UsageError("there is no such kind of event", got=repr(kind), expected=", ".join(Kind.__members__))
    return Kind[kind]
