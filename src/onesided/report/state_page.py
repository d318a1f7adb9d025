"""The page of a graph of stable states: every branch a curve, every transition an entry in the list."""

import numpy as np

from onesided.report.stories import MOST_SHOWN, Station, Story, Strand, provenance_rows, ranking, story
from onesided.results import StableBranch, Transitions
from onesided.results.interpolated import DensePath

REASON = "The branch ends here; the system goes on in the next stable state."


@story.register
def _(result: Transitions) -> Story:
    shown = sorted(ranking([state.q for state in result.states])[:MOST_SHOWN])
    names = [result.control, *(result.coordinates[i] for i in shown), "energy"]
    state = "all that can be reached" if result.complete else "not complete"
    count = f"{len(result.states)} stable branches, {len(result.edges)} transitions"
    warnings = [text for text in (result.note, result.memory_words()) if text]
    strands = tuple(
        Strand(_curve(branch, names, shown), f"state {i}: {branch.words()}", i, _stations(result, i))
        for i, branch in enumerate(result.states)
    )
    facts = {"status": f"{result.status.name}: {result.status.value}", "return-point memory": result.memory_words()}
    return Story(
        heading="Stable states and transitions",
        summary=f"{count}; {state}",
        warnings=tuple(warnings),
        driver=result.control,
        x=result.control,
        y=names[1],
        unilateral=(),
        ranked=(),
        strands=strands,
        names=tuple(names),
        shown=tuple(names),
        sketch=None,
        provenance=provenance_rows(facts, result.provenance),
        points=sum(len(branch.p) for branch in result.states),
        stability=False,
        along=result.control,
    )


def _curve(branch: StableBranch, names: list[str], shown: list[int]) -> DensePath:
    count = len(branch.p)
    columns = dict(zip(names, (branch.p, *(branch.q[:, i] for i in shown), branch.energy), strict=True))
    zeros = np.zeros(count, dtype=np.intp)
    return DensePath(columns, np.arange(count), np.ones(count, dtype=bool), zeros, np.zeros((count, 0), dtype=np.int8))


def _stations(result: Transitions, number: int) -> tuple[Station, ...]:
    """The transitions at both ends of a branch, the lower end first."""
    last = len(result.states[number].p) - 1
    return tuple(
        Station(0 if sense < 0 else last, "jump", edge.words(), REASON, "limit", label="transition")
        for sense in (-1, 1)
        for edge in result.leaving(number, sense)
    )
