"""The motion of a complementarity system: arrays over time, switches, slack episodes, peaks."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array, Mask, Status
from onesided.base.views import views
from onesided.results.folder import ARRAYS, read_arrays, same_length
from onesided.results.named import Columns
from onesided.results.over_time import OverTime
from onesided.results.sketch import Sketch, read_sketch, sketch_record

_ARRAYS = ("t", "x", "s", "w", "peak_s", "peak_w", "first_taut")


class Switch(NamedTuple):
    """A moment at which one pair changes sides: taut (s > 0) after it, or slack (w > 0)."""

    t: float
    name: str
    taut: bool
    detail: str = ""

    def words(self) -> str:
        """The switch as a sentence, with cable and time."""
        what = self.detail or ("becomes taut" if self.taut else "goes slack")
        return f"'{self.name}' {what} at t = {self.t:.10g}"


class Episode(NamedTuple):
    """A time during which one pair is slack."""

    begin: float
    end: float


@dataclass(frozen=True, eq=False, repr=False)
class ComplementarityMotion(OverTime):
    """States x, forces s ≥ 0 and slacks w ≥ 0 over time.

    Attributes
    ----------
    t : (N,), x : (N, n), s, w : (N, m).
    first_taut : (m,) 1 where a pair is taut right after the start.
    peak_s, peak_w : (m,) largest values over the whole motion, also between the points.
    switches : changes of sides in order of time; those of a fixed-step method lie at ends of steps.
    residual : largest violation of 0 ≤ s ⊥ w ≥ 0 and of the switches at the points, recomputed, relative.
    defect : largest share of ẋ that the equations do not explain, over all steps.
    stats : counts of the method, such as steps and iterations.
    measures : name → (N,) what the system measures, such as "energy";  sketch : how to draw it.
    status, note, provenance : how it ended, and what made it.
    """

    states: tuple[str, ...]
    names: tuple[str, ...]
    t: Array
    x: Array
    s: Array
    w: Array
    first_taut: Array
    peak_s: Array
    peak_w: Array
    switches: tuple[Switch, ...]
    residual: float
    defect: float
    status: Status
    note: str = ""
    stats: Mapping[str, float] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, Array] = field(default_factory=dict)
    sketch: Sketch | None = None

    def __repr__(self) -> str:
        span = f"t from {self.t[0]:g} to {self.t[-1]:g}"
        return f"<ComplementarityMotion: {len(self)} points, {span}, {len(self.switches)} switches, {self.status.name}>"

    @property
    def happenings(self) -> tuple[Switch, ...]:
        """The switches, in the order of time."""
        return self.switches

    def plot(self, *names: str, x: str = "t", ax: Any = None, title: str = "") -> Any:
        """Draw columns against time; see `onesided.plots.cable_history`. Returns matplotlib axes."""
        return views("plots").cable_history(self, *names, x=x, ax=ax, title=title)

    def columns(self) -> dict[str, Array]:
        """Name → (N,): t, states, forces ("reaction NAME"), slacks ("gap NAME"), measures."""
        found = Columns({"t": self.t})
        groups = (("", self.states, self.x), ("reaction ", self.names, self.s), ("gap ", self.names, self.w))
        for prefix, names, array in groups:
            for i, name in enumerate(names):
                found.put("state", prefix + name, array[:, i])
        for name, values in self.measures.items():
            found.put("measure", name, values)
        return found

    def taut(self) -> Mask:
        """(N, m): which pairs are taut at the points, by the switches."""
        taut = np.repeat(self.first_taut[None, :] > 0, len(self), axis=0)
        for switch in self.switches:
            taut[self.t >= switch.t, self._of(switch.name)] = switch.taut
        return taut

    def _of(self, name: str) -> int:
        if name not in self.names:
            raise UsageError("there is no pair of this name", got=repr(name), expected=", ".join(self.names))
        return self.names.index(name)

    def episodes(self, name: str, until: float | None = None) -> tuple[Episode, ...]:
        """Slack episodes of one pair that begin before `until`; the last may end with the motion."""
        stop = float(self.t[-1])
        begin = None if self.first_taut[self._of(name)] else float(self.t[0])
        found = []
        for switch in self.switches:
            if switch.name != name:
                continue
            if switch.taut and begin is not None:
                found.append(Episode(begin, switch.t))
                begin = None
            elif not switch.taut and begin is None:
                begin = switch.t
        if begin is not None:
            found.append(Episode(begin, stop))
        return tuple(e for e in found if until is None or e.begin <= until)

    def slackenings(self, name: str, until: float | None = None) -> int:
        """How often one pair goes slack, up to a time; being slack at the start does not count."""
        self._of(name)
        return sum(s.name == name and not s.taut and (until is None or s.t <= until) for s in self.switches)

    def slack_time(self, name: str) -> float:
        """Total time for which one pair is slack."""
        return sum(e.end - e.begin for e in self.episodes(name))

    def slack_fractions(self) -> Array:
        """(m + 1,): fractions of the time with 0, 1, …, m pairs slack together."""
        count = int(np.sum(self.first_taut == 0))
        totals, before = np.zeros(len(self.names) + 1), float(self.t[0])
        for switch in self.switches:
            totals[count] += switch.t - before
            count, before = count + (-1 if switch.taut else 1), switch.t
        totals[count] += float(self.t[-1]) - before
        return totals / max(float(self.t[-1] - self.t[0]), np.finfo(float).tiny)


def write_complementarity_motion(motion: ComplementarityMotion, folder: FilePath) -> dict[str, Any]:
    """Write arrays (npz) and a table (csv); returns the record."""
    measures = np.array([*motion.measures.values()], dtype=float).reshape(len(motion.measures), len(motion))
    np.savez_compressed(folder / ARRAYS, measures=measures, **{name: getattr(motion, name) for name in _ARRAYS})
    _write_table(motion, folder / "motion.csv")
    return {
        "type": "complementarity motion",
        "states": motion.states,
        "names": motion.names,
        "status": motion.status.name,
        "note": motion.note,
        "residual": motion.residual,
        "defect": motion.defect,
        "stats": dict(motion.stats),
        "measures": list(motion.measures),
        "sketch": None if motion.sketch is None else sketch_record(motion.sketch),
        "provenance": dict(motion.provenance),
        "switches": [{**switch._asdict(), "words": switch.words()} for switch in motion.switches],
        "episodes": {name: motion.episodes(name) for name in motion.names},
    }


def _write_table(motion: ComplementarityMotion, file: FilePath) -> None:
    names = ["t", *motion.states, *(f"force {n}" for n in motion.names), *(f"slack {n}" for n in motion.names)]
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        table = np.column_stack([motion.t, motion.x, motion.s, motion.w])
        writer.writerows([f"{value:.17g}" for value in row] for row in table)


def read_complementarity_motion(record: Mapping[str, Any], folder: FilePath) -> ComplementarityMotion:
    """Read back what `write_complementarity_motion` wrote."""
    arrays = read_arrays(folder, (*_ARRAYS, "measures"))
    same_length(arrays, ("t", "x", "s", "w"))
    measures = dict(zip(record["measures"], arrays.pop("measures"), strict=True))
    return ComplementarityMotion(
        states=tuple(record["states"]),
        names=tuple(record["names"]),
        **arrays,
        switches=tuple(Switch(r["t"], r["name"], r["taut"], r["detail"]) for r in record["switches"]),
        residual=record["residual"],
        defect=record["defect"],
        status=Status[record["status"]],
        note=record["note"],
        stats=record["stats"],
        provenance=record["provenance"],
        measures=measures,
        sketch=None if record["sketch"] is None else read_sketch(record["sketch"]),
    )
