"""What a page shows of a result, whatever its kind: strands of positions, moments on them, words around them.

A new kind of result comes to a page by one function, registered with `story`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array, Indices, Mask
from onesided.plots.branches import default_axes, paths_of
from onesided.plots.strokes import MACHINE, firmness_of
from onesided.results import Diagram, Drive, Event, FallStates, Jump, Kind, Path, dense
from onesided.results.explain import slug, text
from onesided.results.interpolated import DensePath
from onesided.results.named import label_of, size_of
from onesided.results.named_series import members_of
from onesided.results.sketch import Sketch
from onesided.results.wording import sides

WANTED = 600  # positions for a smooth slider
MOST_SHOWN = 60  # coordinates, constraints, measures in lists
MOST_DRAWN = 4000  # quantities that a sketch may need
MOST_FALLING = 36  # states of a fall
SAME_CHANGE = 6  # digits to which symmetric ones change alike: they stay in their order


@dataclass(frozen=True)
class Station:
    """A special position: the point's index in its strand, the name of its marker, and words.

    `before` and `after` are degrees of instability, None where that means nothing; `number` is the one that every view
    shows, None where it has none; `label` is what a legend says of its marker.
    """

    index: int
    kind: str
    words: str
    explanation: str
    slug: str = ""
    before: int | None = None
    after: int | None = None
    number: int | None = None
    label: str = ""


@dataclass(frozen=True, eq=False)
class Strand:
    """One curve of the page: positions, what it is called, the number of its colour, its moments in order.

    `alike` says that it looks like an earlier one, as mirror images do; `firmness` is 0 where it is stable, 1 where
    only while the displacement is held, 2 where it is not; None where there are two states only. `parameters` are
    those it was computed with.
    """

    curve: DensePath
    label: str
    colour: int = 0
    moments: tuple[Station, ...] = ()
    alike: bool = False
    firmness: Indices | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class PlayedFall:
    """States between two strands: columns by name, closed contacts, and what is said while they are played."""

    columns: Mapping[str, Array]
    closed: Mask
    words: str


@dataclass(frozen=True, eq=False)
class Story:
    """Everything a page shows.

    Attributes
    ----------
    heading : title where the model has none;  summary : one line;  warnings : what must be known first.
    driver : the column that drives: control parameter or time;  x, y : what the diagram shows at first.
    unilateral : names of one-sided constraints;  ranked : their numbers, those that change most first.
    strands : the curves;  jumps : (strand that it ends, words) of each jump to the next strand.
    falls : what is played of a jump, by the strand that it ends: columns by name, closed contacts, words.
    names : columns that go into the page;  shown : those listed as numbers.
    stability : whether degrees of instability are to be shown.
    provenance : pairs of words;  points : how many were computed.
    along : the column by which it is played: time, or arc length.
    driven : whether the strands follow each other as one history.
    coordinates : of the state that can be taken along, with velocities where `parameter` is not what drives; the name
        of the control parameter is `parameter`. Nothing where a state is not a point of a system.
    labels : what is shown in place of a name, with its unit;  sizes : how large a quantity is in this system.
    """

    heading: str
    summary: str
    warnings: tuple[str, ...]
    driver: str
    x: str
    y: str
    unilateral: tuple[str, ...]
    ranked: tuple[int, ...]
    strands: tuple[Strand, ...]
    names: tuple[str, ...]
    shown: tuple[str, ...]
    sketch: Sketch | None
    provenance: tuple[tuple[str, str], ...]
    points: int
    jumps: tuple[tuple[int, str], ...] = ()
    falls: Mapping[int, PlayedFall] = field(default_factory=dict)
    stability: bool = True
    along: str = "arc length"
    driven: bool = False
    coordinates: tuple[str, ...] = ()
    parameter: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    sizes: Mapping[str, float] = field(default_factory=dict)


@singledispatch
def story(result: Any) -> Story:
    """The story of a result."""
    raise UsageError("this cannot be drawn", got=type(result).__name__, expected="a Path, Drive or Diagram")


@story.register
def _(result: Path) -> Story:
    line = f"Path: {_counted(len(result), 'point')}, {_counted(len(result.events), 'event')}; {result.status.value}"
    warnings = [] if result.ok else [f"This computation did not reach its goal: {result.status.value}"]
    warnings += [result.note] if result.note else []
    known = numbers(result)
    moments = tuple(_moment(event, result, known) for event in result.events)
    strand = Strand(_curve(result, (result,)), "path", 0, moments)
    return _tell((result,), line, warnings, f"{result.status.name}: {result.status.value}", (strand,))


@story.register
def _(result: Drive) -> Story:
    paths = paths_of(result)
    points = _counted(sum(len(path) for path in paths), "point")
    jumps = _counted(len(result.jumps), "jump")
    line = f"Loading history: {points}, {jumps}, energy lost {result.dissipated:.6g}; {result.status.value}"
    warnings = [] if result.ok else [f"This computation did not reach its goal: {result.status.value}"]
    warnings += [result.note] if result.note else []
    warnings += _part_warnings(paths)
    places, known = result.jump_places(), numbers(result)
    landings = {i + 1: jump for i, jump in places}
    strands = []
    for i, path in enumerate(paths):
        label = f"path {i + 1} of {len(paths)}"
        landing = [_landing(landings[i], known)] if i in landings else []
        moments = (*landing, *(_moment(event, path, known) for event in path.events if event.kind is not Kind.bound))
        strands.append(Strand(_curve(path, paths), label, 0, moments))
    status = f"{result.status.name}: {result.status.value}"
    told = tuple((i, jump.words()) for i, jump in places)
    falls = {i: _played(paths[i], jump.fall) for i, jump in places if jump.fall is not None}
    return replace(_tell(paths, line, warnings, status, tuple(strands), told), driven=True, falls=falls)


def _played(path: Path, fall: FallStates) -> PlayedFall:
    """The way of a jump from the end of a path."""
    found = fall.thinned(MOST_FALLING)
    return PlayedFall(found.columns(path), found.closed, f"fall at {path.control} = {path.p[-1]:.6g}: {found.words}")


@story.register
def _(result: Diagram) -> Story:
    paths = paths_of(result)
    points = _counted(sum(len(path) for path in paths), "point")
    special = _counted(len(result.events), "event")
    state = "all branches in reach" if result.complete else "not complete"
    line = f"Diagram: {len(paths)} branch{'' if len(paths) == 1 else 'es'}, {points}, {special}; {state}"
    told = f"The diagram is not complete: {result.note}"
    warnings = [told] if not result.complete else [result.note] if result.note else []
    warnings += _part_warnings(paths)
    known, families = numbers(result), {family[0]: family for family in result.families}
    first = {i: family[0] for family in result.families for i in family}
    strands = tuple(
        Strand(
            _curve(path, paths),
            _branch_label(result, i, len(families.get(i, ()))),
            0 if result.parents[i] < 0 else first[i],
            tuple(_moment(event, path, known) for event in path.events if event.kind is not Kind.bound),
            alike=i not in families,
        )
        for i, path in enumerate(paths)
    )
    return _tell(paths, line, warnings, "complete" if result.complete else "not complete", strands)


def _branch_label(result: Diagram, i: int, alike: int) -> str:
    """Number of a branch, how often its image under symmetry comes, and how many others look like it."""
    more = f"and {alike - 1} alike" if alike > 1 else ""
    return " ".join(text for text in (f"branch {i}", result.times(i), more) if text)


def _held(paths: tuple[Path, ...], strands: tuple[Strand, ...]) -> tuple[Strand, ...]:
    """Strands with three states, where p is a displacement; as they are elsewhere."""
    if not all(MACHINE in members_of(path) for path in paths):
        return strands
    found = []
    for path, strand in zip(paths, strands, strict=True):
        curve = strand.curve
        at = np.where(curve.exact, curve.source, np.minimum(curve.source + 1, len(path) - 1))
        found.append(replace(strand, firmness=firmness_of(path)[at]))
    return tuple(found)


def _with_parameters(paths: tuple[Path, ...], strands: tuple[Strand, ...]) -> tuple[Strand, ...]:
    """Strands that know their parameters: what remembers has other ones on every path."""
    pairs = zip(paths, strands, strict=True)
    return tuple(replace(strand, parameters=path.provenance.get("parameters", {})) for path, strand in pairs)


def _tell(
    paths: tuple[Path, ...],
    summary: str,
    warnings: list[str],
    status: str,
    strands: tuple[Strand, ...],
    jumps: tuple[tuple[int, str], ...] = (),
) -> Story:
    first = paths[0]
    if any(not event.rays.complete for path in paths for event in path.events):
        warnings.append("At some events too many constraints meet to examine all cases: branches may be missing")
    sketch, names = first.sketch, _names(paths)
    if sketch is not None and len(sketch.names()) > MOST_DRAWN:
        warnings.append("The system is too large to be drawn in this page; `onesided plot --kind sketch` draws it")
        sketch = None
    ranked = ranking([path.lam for path in paths], [path.gaps for path in paths])
    residual = max(path.residual for path in paths)
    facts = {"status": status, "largest relative residual, rechecked": f"{residual:.2e}"}
    x, y = default_axes(paths, None, None)
    return Story(
        heading="Equilibrium path",
        summary=summary,
        warnings=tuple(warnings),
        driver=first.control,
        x=x,
        y=y,
        unilateral=first.unilateral,
        ranked=tuple(ranked),
        strands=_with_parameters(paths, _held(paths, strands)),
        names=tuple(names),
        shown=_shown(first, names),
        sketch=sketch,
        provenance=provenance_rows(facts, first.provenance),
        points=sum(len(path) for path in paths),
        jumps=jumps,
        coordinates=first.coordinates,
        parameter=first.control,
        labels=labelled(first, names),
        sizes={name: size for name in names if (size := size_of(first, name)) > 0.0},
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _part_warnings(paths: tuple[Path, ...]) -> list[str]:
    return [f"Part {i}: {path.note}" for i, path in enumerate(paths) if path.note and not path.ok]


def labelled(result: Any, names: Iterable[str]) -> dict[str, str]:
    """What is shown in place of names, where they have labels or units."""
    return {name: label for name in names if (label := label_of(result, name)) != name}


def numbers(result: Any) -> dict[int, int]:
    """The number of each event, by its identity."""
    return {id(item.what): item.number for item in result.numbered}


def _moment(event: Event, path: Path, known: Mapping[int, int]) -> Station:
    degrees = event.instability_before, event.instability_after
    what = event.kind.name, event.words(), text(event.kind), slug(event.kind)
    return Station(event.index, *what, *degrees, known.get(id(event)), _label(event, path))


def _label(event: Event, path: Path) -> str:
    """The name of a kind of event; where only cables close or open, that of what cables do."""
    closings = path.provenance.get("closings", {})
    named = {sides(closings.get(name, "")) for name in event.constraints}
    if event.kind not in {Kind.closes, Kind.opens} or len(named) != 1:
        return str(event.kind.value)
    words = named.pop()
    return words.closes if event.kind is Kind.closes else words.opens


def _landing(jump: Jump, known: Mapping[int, int]) -> Station:
    reason = "Stability was lost: the system moved to the next stable state."
    return Station(0, "jump", jump.words(), reason, "limit", number=known.get(id(jump)), label="jump")


def _curve(path: Path, paths: tuple[Path, ...]) -> DensePath:
    return dense(path, max(WANTED // len(paths), 60), _names(paths))


def _names(paths: tuple[Path, ...]) -> list[str]:
    """Columns on the page: all of a small model; of a large one those that change most, and what the sketch needs."""
    first = paths[0]
    q = ranking([path.q for path in paths])[:MOST_SHOWN]
    sides = ranking([path.lam for path in paths], [path.gaps for path in paths])[:MOST_SHOWN]
    names = ["arc length", first.control, *(first.coordinates[i] for i in sorted(q))]
    names += [f"multiplier {name}" for name in first.bilateral[:MOST_SHOWN]]
    names += [f"{what} {first.unilateral[i]}" for what in ("reaction", "gap") for i in sorted(sides)]
    names += [MACHINE] if all(MACHINE in members_of(path) for path in paths) else []
    names += ["energy", *[name for name in first.measures if "." not in name][:MOST_SHOWN]]
    needed = () if first.sketch is None else first.sketch.names()
    return list(dict.fromkeys([*names, *(needed if len(needed) <= MOST_DRAWN else ())]))


def _shown(path: Path, names: list[str]) -> tuple[str, ...]:
    order = [path.control, *path.coordinates, MACHINE, "energy", *(f"multiplier {name}" for name in path.bilateral)]
    order += [name for name, values in path.measures.items() if "." not in name and np.ptp(values) != 0.0]
    known = set(names)
    return tuple(name for name in dict.fromkeys(order) if name in known)[: 2 * MOST_SHOWN]


def ranking(*groups: list[Array]) -> list[int]:
    """Numbers of columns, those that change most first, equal ones in order; each group relative to its largest."""
    score = np.zeros(groups[0][0].shape[1])
    for group in groups if len(score) else ():
        spread = np.max([a.max(axis=0) for a in group], axis=0) - np.min([a.min(axis=0) for a in group], axis=0)
        score = score + spread / (float(spread.max()) or 1.0)
    return [int(i) for i in np.argsort(-np.round(score, SAME_CHANGE), kind="stable")]


def provenance_rows(facts: Mapping[str, str], provenance: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """How a result was computed, as pairs of words."""
    rows = list(facts.items())
    for key, value in provenance.items():
        if isinstance(value, Mapping):
            rows += [(f"{key}: {name}", _short(item)) for name, item in value.items()]
        else:
            rows.append((str(key), _short(value)))
    return tuple(rows)


def _short(value: Any) -> str:
    shown = str(value)
    return shown if len(shown) <= 300 else shown[:300] + " …"
