"""The page of a complementarity motion: tensions, slacks, energy and the structure, with every switch in the list."""

import numpy as np

from onesided.report.stories import MOST_SHOWN, Station, Story, Strand, provenance_rows, ranking, story
from onesided.results import ComplementarityMotion, State
from onesided.results.interpolated import DensePath

MOST_MOMENTS = 400  # switches in the list of a page


@story.register
def _(result: ComplementarityMotion) -> Story:
    columns = {name: values for name, values in result.columns().items() if "." not in name}
    needed = () if result.sketch is None else result.sketch.names()
    names = list(dict.fromkeys([*list(columns)[: 6 * MOST_SHOWN], *needed]))
    every = np.arange(len(result))
    codes = np.where(result.taut(), State.strong, State.inactive).astype(np.int8)
    found = {name: result.columns()[name] for name in names}
    curve = DensePath(found, every, np.ones(len(every), dtype=bool), np.zeros(len(every), dtype=np.intp), codes)
    moments = tuple(
        Station(int(abs(result.t - item.what.t).argmin()), "user", item.words(), "", number=item.number, label="switch")
        for item in result.numbered
    )
    warnings = [] if result.ok else [f"This computation did not reach its goal: {result.status.value}"]
    warnings += [result.note] if result.note else []
    if len(moments) > MOST_MOMENTS:
        warnings.append(f"The list shows {MOST_MOMENTS} of {len(moments)} switches; the result holds them all")
    span = f"t from {result.t[0]:.6g} to {result.t[-1]:.6g}"
    return Story(
        heading="Motion of a complementarity system",
        summary=f"Motion: {len(result)} points, {span}, {len(moments)} switches; {result.status.value}",
        warnings=tuple(warnings),
        driver="t",
        x="t",
        y=f"reaction {result.names[0]}" if result.names else result.states[0],
        unilateral=result.names,
        ranked=tuple(ranking([result.s])),
        strands=(Strand(curve, "motion", 0, moments[:MOST_MOMENTS]),),
        names=tuple(names),
        shown=tuple(name for name in names if "." not in name)[: 2 * MOST_SHOWN],
        sketch=result.sketch,
        provenance=provenance_rows(_facts(result), result.provenance),
        points=len(result),
        stability=False,
        along="t",
    )


def _facts(result: ComplementarityMotion) -> dict[str, str]:
    """What was achieved, and what engineers ask of cables."""
    return {
        "status": f"{result.status.name}: {result.status.value}",
        "largest violation of complementarity, rechecked": f"{result.residual:.2e}",
        "largest share of ẋ that the equations do not explain": f"{result.defect:.2e}",
        **{f"peak force {name}": f"{value:.10g}" for name, value in zip(result.names, result.peak_s, strict=True)},
        **{f"slack time {name}": f"{result.slack_time(name):.10g}" for name in result.names},
    }
