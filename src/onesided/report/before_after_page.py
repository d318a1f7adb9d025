"""The page of a design: the results before and after on one diagram, with what was asked for above it."""

from dataclasses import replace

from onesided.report.stories import Story, story
from onesided.results import Designed


@story.register
def _(result: Designed) -> Story:
    old, new = (story(results[0]) for results in (result.before, result.after))
    strands = tuple(
        replace(strand, label=f"{when}: {strand.label}", colour=colour)
        for colour, (when, told) in enumerate((("before", old), ("after", new)))
        for strand in told.strands
    )
    count = len(old.strands)
    jumps = (*old.jumps, *((count + i, words) for i, words in new.jumps))
    met = sum(aim.met for aim in result.aims)
    names = tuple(name for name in old.names if name in new.names)
    return replace(
        new,
        heading="Design",
        summary=f"Design: {met} of {len(result.aims)} aims met, {result.gradients} gradients; {result.status.value}",
        warnings=(*result.words(), *([result.note] if result.note else []), *new.warnings),
        strands=strands,
        jumps=jumps,
        names=names,
        shown=tuple(name for name in new.shown if name in names),
        points=old.points + new.points,
    )
