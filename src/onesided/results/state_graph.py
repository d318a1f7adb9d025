"""All stable states of a driven system and the jumps between them: a graph."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from onesided.base.atomic import whole_file
from onesided.base.errors import UsageError
from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array, Status
from onesided.base.views import views
from onesided.results.path import Kind, format_number
from onesided.results.wording import line_by_line


@dataclass(frozen=True, eq=False, repr=False)
class StableBranch:
    """One stable branch: what can be passed forwards and back without a jump.

    Attributes
    ----------
    control : name of p;  p : (N,) growing;  q : (N, n), energy : (N,) along it.
    closed : names of the unilateral constraints closed in its middle.
    events : what happens on the way, in words.
    """

    control: str
    p: Array
    q: Array
    energy: Array
    closed: tuple[str, ...] = ()
    events: tuple[str, ...] = ()

    @property
    def interval(self) -> tuple[float, float]:
        """Least and largest p of the branch."""
        return float(self.p[0]), float(self.p[-1])

    def words(self) -> str:
        """One sentence for an engineer."""
        low, high = (format_number(p) for p in self.interval)
        closed = f"; closed: {', '.join(self.closed)}" if self.closed else ""
        return f"stable for {self.control} from {low} to {high}{closed}"

    def __repr__(self) -> str:
        return f"<StableBranch: {self.words()}>"

    def __str__(self) -> str:
        return self.words()


@dataclass(frozen=True, repr=False)
class Transition:
    """The end of a stable branch, and where the system goes from there.

    Attributes
    ----------
    source, target : numbers of the branches; target is None where nothing was found to go on, as `note` says.
    sense : +1 where p was growing, −1 where it was falling.
    p : where;  reason : kind of the event that ends the branch;  energy : released, ≥ 0; zero where branches touch.
    note : what else is to be said: that the landing is sensitive, or that a contact there carries nothing.
    """

    control: str
    source: int
    target: int | None
    sense: int
    p: float
    reason: Kind
    energy: float
    note: str = ""

    def words(self) -> str:
        """One sentence for an engineer."""
        way = "growing" if self.sense > 0 else "falling"
        where = f"at {self.control} = {format_number(self.p)}, {way} ({self.reason.value})"
        if self.target is None:
            return f"{self.source} → nowhere {where}: {self.note}"
        freed = f"energy {format_number(self.energy)} released" if self.energy > 0 else "without a jump"
        return f"{self.source} → {self.target} {where}: {freed}" + (f"; {self.note}" if self.note else "")

    def __repr__(self) -> str:
        return f"<Transition: {self.words()}>"

    def __str__(self) -> str:
        return self.words()


@dataclass(frozen=True, eq=False, repr=False)
class Transitions:
    """The graph of stable branches (nodes) and of the jumps where they end (edges) as p goes slowly up and down.

    Attributes
    ----------
    states : the branches;  edges : where they end within the range of p, and what follows.
    p_range : least and largest p;  starts : numbers of the branches on which the search began.
    complete : False where a limit or a failed fall left something out;  status, note : how it ended, and remarks.
    """

    coordinates: tuple[str, ...]
    control: str
    p_range: tuple[float, float]
    states: tuple[StableBranch, ...]
    edges: tuple[Transition, ...]
    starts: tuple[int, ...]
    complete: bool
    status: Status
    note: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        line_by_line(self, "states", "edges")

    def __repr__(self) -> str:
        state = "complete" if self.complete else "not complete"
        return f"<Transitions: {len(self.states)} stable branches, {len(self.edges)} transitions, {state}>"

    @property
    def ok(self) -> bool:
        """Whether the search ended by itself."""
        return self.status.ok

    def _repr_html_(self) -> str:
        return str(views("report").result_html(self))

    def plot(self, *, ax: Any = None, title: str = "") -> Any:
        """Draw the graph; see `onesided.plots.transitions`. Returns matplotlib axes."""
        return views("plots").transitions(self, ax=ax, title=title)

    @cached_property
    def _leaving(self) -> dict[tuple[int, int], tuple[Transition, ...]]:
        found: dict[tuple[int, int], tuple[Transition, ...]] = {}
        for edge in self.edges:
            key = edge.source, edge.sense
            found[key] = (*found.get(key, ()), edge)
        return found

    def leaving(self, state: int, sense: int) -> tuple[Transition, ...]:
        """What follows where a branch ends with growing (+1) or falling (−1) p; empty where it reaches the range."""
        return self._leaving.get((state, sense), ())

    def at(self, p: float) -> tuple[int, ...]:
        """Numbers of the branches that exist at a value of p."""
        return tuple(i for i, state in enumerate(self.states) if state.interval[0] <= p <= state.interval[1])

    def walk(self, programme: Sequence[float], start: int | None = None) -> tuple[int, ...]:
        """The branches visited in turn as p follows a programme, read off the graph; as `drive` would, at no cost.

        Where an event lets several branches go on, the first is taken. A walk ends early where an edge leads nowhere.
        """
        state = self.starts[0] if start is None else start
        low, high = self.states[state].interval
        if not low <= programme[0] <= high:
            raise UsageError(
                "the programme does not begin on this branch", got=format_number(programme[0]),
                expected=f"{format_number(low)} to {format_number(high)}",
            )  # fmt: skip
        visited = [state]
        for begin, target in pairwise(programme):
            _, rest = self._driven(visited[-1], 1 if target > begin else -1, target)
            visited += rest
        return tuple(visited)

    def _driven(self, state: int, sense: int, target: float, slack: float = 0.0) -> tuple[int, list[int]]:
        """Where p brings a branch, and all branches on the way."""
        passed: list[int] = []
        while True:
            edges = self.leaving(state, sense)
            if not edges or edges[0].target is None or sense * (edges[0].p - target) > slack:
                return state, passed
            state = edges[0].target
            passed.append(state)
            if len(passed) > len(self.states):  # round and round within what is called the same p
                return state, passed

    @cached_property
    def return_point_memory(self) -> bool | None:
        """Whether p that returns to an extreme value always brings the same state back; None where that is not decided.

        For every branch B that growing p brings to a branch A at p_A: from A p falls, not below where B exists, and
        returns to p_A. The system remembers if it is back on A, whatever the excursion; the same with the senses
        exchanged. Undecided for graphs that are not complete, and where an event lets several branches go on.
        """
        return None if self._undecided() else self.forgetting is None

    @cached_property
    def forgetting(self) -> str | None:
        """An excursion after which the state is another one, in words; None where there is none, or none is known."""
        if self._undecided():
            return None
        return next((text for sense in (1, -1) for b in range(len(self.states)) if (text := self._forgets(b, sense))),
                    None)  # fmt: skip

    def _undecided(self) -> bool:
        several = any(len(edges) > 1 for edges in self._leaving.values())
        return not self.complete or several or any(edge.target is None for edge in self.edges)

    def _forgets(self, b: int, sense: int) -> str:
        """The first excursion from a branch reached from b that does not lead back to it."""
        slack = HALF_DIGITS * (self.p_range[1] - self.p_range[0])
        limit = self.states[b].interval[0 if sense > 0 else 1]
        a, extreme, seen = b, -sense * math.inf, {b}
        while (edges := self.leaving(a, sense)) and (a := edges[0].target or 0) not in seen:
            seen.add(a)
            extreme = sense * max(sense * extreme, sense * edges[0].p)
            away, far = a, {a}
            while (back := self.leaving(away, -sense)) and sense * (back[0].p - limit) >= slack:
                away = back[0].target or 0
                home, _ = self._driven(away, sense, extreme, slack)
                if home != a:
                    turn, end = format_number(back[0].p), format_number(extreme)
                    return f"from state {a} at {self.control} = {end} to {turn} and back leads to state {home}"
                if away in far:
                    break
                far.add(away)
        return ""

    def memory_words(self) -> str:
        """One sentence on return-point memory."""
        if self.return_point_memory is None:
            return "return-point memory is not decided: the graph is not complete, or forks"
        return f"no return-point memory: {self.forgetting}" if self.forgetting else "return-point memory holds"

    def to_networkx(self) -> Any:
        """The graph as a `networkx.MultiDiGraph` with plain numbers and words at nodes and edges."""
        try:
            import networkx
        except ImportError:
            raise UsageError("this needs networkx", advice="pip install 'onesided[graphs]'") from None
        graph = networkx.MultiDiGraph(control=self.control, complete=self.complete, note=self.note)
        for i, state in enumerate(self.states):
            low, high = state.interval
            graph.add_node(i, p_low=low, p_high=high, closed=", ".join(state.closed), start=i in self.starts)
        for edge in self.edges:
            if edge.target is not None:
                graph.add_edge(edge.source, edge.target, p=edge.p, sense=edge.sense, energy=edge.energy,
                               reason=edge.reason.value, note=edge.note)  # fmt: skip
        return graph

    def write_graphml(self, file: str | FilePath) -> FilePath:
        """Write the graph for other programs (Gephi, yEd, Cytoscape), whole or not at all; needs networkx."""
        graph = self.to_networkx()
        from networkx import write_graphml_xml

        target = FilePath(file)
        with whole_file(target) as draft:
            write_graphml_xml(graph, str(draft))
        return target

    def table(self) -> list[dict[str, Any]]:
        """A row per transition, for a table or JSON."""
        names = ("source", "target", "sense", "p", "energy", "note")
        return [{name: getattr(edge, name) for name in names} | {"reason": edge.reason.value} for edge in self.edges]


def stored_graph(found: Transitions) -> tuple[dict[str, Any], dict[str, Array]]:
    """A record and arrays from which `read_graph` makes the result again."""
    record = {
        "type": "transitions", "coordinates": found.coordinates, "control": found.control, "p_range": found.p_range,
        "starts": found.starts, "complete": found.complete, "status": found.status.name, "note": found.note,
        "provenance": dict(found.provenance), "memory": found.memory_words(),
        "states": [{"closed": s.closed, "events": s.events, "words": s.words()} for s in found.states],
        "edges": [{**row, "reason": e.reason.name, "words": e.words()}
                  for row, e in zip(found.table(), found.edges, strict=True)],
    }  # fmt: skip
    arrays = {name: np.concatenate([np.asarray(getattr(s, name)) for s in found.states] or [np.zeros(0)])
              for name in ("p", "q", "energy")}  # fmt: skip
    return record, arrays | {"lengths": np.array([len(s.p) for s in found.states], dtype=np.intp)}


def read_graph(record: Mapping[str, Any], arrays: Mapping[str, Array]) -> Transitions:
    """The result that `stored_graph` took apart."""
    cuts = np.cumsum(arrays["lengths"].astype(np.intp))[:-1]
    pieces = [np.split(arrays[name], cuts) if record["states"] else [] for name in ("p", "q", "energy")]
    states = [
        StableBranch(record["control"], p, q, energy, tuple(one["closed"]), tuple(one["events"]))
        for one, p, q, energy in zip(record["states"], *pieces, strict=True)
    ]
    names = ("source", "target", "sense", "p", "energy", "note")
    edges = [
        Transition(record["control"], reason=Kind[one["reason"]], **{n: one[n] for n in names})
        for one in record["edges"]
    ]
    low, high = record["p_range"]
    return Transitions(
        tuple(record["coordinates"]), record["control"], (low, high), tuple(states), tuple(edges),
        tuple(record["starts"]), record["complete"], Status[record["status"]], record["note"], record["provenance"],
    )  # fmt: skip
