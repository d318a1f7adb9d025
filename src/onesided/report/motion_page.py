"""The page of a motion."""

from dataclasses import replace

from onesided.report.stories import (
    MOST_DRAWN,
    MOST_SHOWN,
    WANTED,
    Station,
    Story,
    Strand,
    labelled,
    provenance_rows,
    ranking,
    story,
)
from onesided.results import Motion, MotionEvent, Occurrence
from onesided.results.explain import slug, text
from onesided.results.motion_columns import motion_columns, motion_dense
from onesided.results.numbering import Numbered


@story.register
def _(result: Motion) -> Story:
    names = _names(result)
    first, last = result.t[0], result.t[-1]
    moments = tuple(_moment(result, item) for item in result.numbered)
    warnings = [] if result.ok else [f"This computation did not reach its goal: {result.status.value}"]
    warnings += [result.note] if result.note else []
    sketch = result.sketch if result.sketch is not None and len(result.sketch.names()) <= MOST_DRAWN else None
    facts = {
        "status": f"{result.status.name}: {result.status.value}",
        "largest relative violation, rechecked": f"{result.drift.worst:.2e}",
    }
    moving = result.coordinates[ranking([result.q])[0]]
    strand = Strand(motion_dense(result, WANTED, names), "motion", 0, moments)
    return Story(
        heading="Motion",
        summary=f"Motion: {len(result)} points, t from {first:.6g} to {last:.6g}; {result.status.value}",
        warnings=tuple(warnings),
        driver="t",
        x="t",
        y=moving,
        unilateral=result.unilateral,
        ranked=tuple(ranking([result.lam])),
        strands=(replace(strand, parameters=result.provenance.get("parameters", {})),),
        names=tuple(names),
        shown=tuple(name for name in names if "." not in name)[: 2 * MOST_SHOWN],
        sketch=sketch,
        provenance=provenance_rows(facts, result.provenance),
        points=len(result),
        stability=False,
        along="t",
        coordinates=result.coordinates,
        parameter=result.control,
        labels=labelled(result, names),
    )


def _moment(motion: Motion, item: Numbered) -> Station:
    event = item.what
    place = int(abs(motion.t - event.t).argmin())
    told = event.words(), text(event.kind), slug(event.kind)
    return Station(place, _marker(event), *told, number=item.number, label=event.kind.value)


def _marker(event: MotionEvent) -> str:
    """The marker that a like event of a path has."""
    like = {Occurrence.impact: "closes", Occurrence.contact: "closes", Occurrence.opens: "opens"}
    return like.get(event.kind, "user")


def _names(motion: Motion) -> list[str]:
    """Columns on the page: of a large model those coordinates that move most, and what the sketch needs."""
    moving = {motion.coordinates[i] for i in ranking([motion.q])[:MOST_SHOWN]}
    left_out = {name for name in motion.coordinates if name not in moving}
    left_out |= {f"velocity {name}" for name in left_out}
    names = [name for name in motion_columns(motion) if name not in left_out and "." not in name][: 6 * MOST_SHOWN]
    needed = () if motion.sketch is None else motion.sketch.names()
    return list(dict.fromkeys([*names, *(needed if len(needed) <= MOST_DRAWN else ())]))
