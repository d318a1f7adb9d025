"""A story as plain data of bounded size: what the script of the page reads."""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided._types import Array, Indices
from onesided.report.stories import MOST_SHOWN, Story
from onesided.results.sketch import sketch_record

BYTES = 3_900_000  # of numbers, before base64 makes them a third longer
MOST_SERIES = 8


@dataclass(frozen=True, eq=False)
class Frames:
    """All positions of the slider: the strands of a story, one after the other.

    Attributes
    ----------
    begins : position of the first point of each strand, and one past the last.
    kept : (K,) positions that go into the page, of all there are.
    """

    story: Story
    begins: tuple[int, ...]
    kept: Indices

    def position(self, strand: int, index: int) -> int:
        """Where computed point `index` of a strand stands on the page; −1 is the last."""
        curve = self.story.strands[strand].curve
        if index < 0:
            index += int(curve.source[-1]) + 1
        return int(np.searchsorted(self.kept, self.begins[strand] + curve.place(index)))

    def joined(self, arrays: list[Any]) -> Any:
        """Arrays of all strands in a row, as far as they go into the page."""
        return np.concatenate(arrays)[self.kept]

    def column(self, name: str) -> Array:
        """One column over all positions on the page."""
        return np.asarray(self.joined([strand.curve.columns[name] for strand in self.story.strands]))


def payload(told: Story) -> dict[str, Any]:
    """Everything the script needs to know."""
    cells = sum(len(strand.curve.source) for strand in told.strands) * len(told.names)
    single = cells * 8 > BYTES
    frames = _frames(told, BYTES // ((4 if single else 8) * len(told.names)))
    curves = [strand.curve for strand in told.strands]
    table = np.array([frames.column(name) for name in told.names], dtype="<f4" if single else "<f8")
    known = set(told.names)
    quantities = [what for what in ("reaction", "gap") if any(f"{what} {name}" in known for name in told.unilateral)]
    return {
        "control": told.driver,
        "unilateral": list(told.unilateral),
        "names": list(told.names),
        "count": len(frames.kept),
        "single": single,
        "stability": told.stability,
        "columns": _base64(table),
        "degree": _base64(frames.joined([curve.instability for curve in curves]).astype("<i2")),
        "codes": _base64(frames.joined([curve.codes for curve in curves]).astype("u1")),
        "exact": _base64(frames.joined([curve.exact for curve in curves]).astype("u1")),
        "branches": _branches(frames),
        "events": _events(frames),
        "jumps": [
            {"from": frames.position(i, -1), "to": frames.position(i + 1, 0), "words": words} for i, words in told.jumps
        ],
        "sketch": None if told.sketch is None else sketch_record(told.sketch),
        "choices": [name for name in told.names if "." not in name],
        "x": told.x,
        "y": told.y,
        "shown": list(told.shown),
        "listed": list(told.ranked[:MOST_SHOWN]),
        "series": [told.unilateral[i] for i in sorted(told.ranked[:MOST_SERIES])],
        "quantities": [*quantities, *(["energy"] if "energy" in known else [])],
    }


def _frames(told: Story, most: int) -> Frames:
    """All positions; where they are too many, points are left out, never moments or ends."""
    sizes = [len(strand.curve.source) for strand in told.strands]
    begins = tuple(int(b) for b in np.concatenate([[0], np.cumsum(sizes)]))
    whole = Frames(told, begins, np.arange(begins[-1]))
    if begins[-1] <= most:
        return whole
    special = [
        whole.position(i, moment.index) for i, strand in enumerate(told.strands) for moment in strand.moments
    ]  # fmt: skip
    ends = [*begins[:-1], *(begin - 1 for begin in begins[1:])]
    even = np.linspace(0, begins[-1] - 1, max(most - len(special) - len(ends), 2)).round().astype(int)
    return Frames(told, begins, np.unique(np.concatenate([even, special, ends]).astype(int)))


def _branches(frames: Frames) -> list[dict[str, Any]]:
    edges = np.searchsorted(frames.kept, frames.begins)
    return [
        {"begin": int(edges[i]), "end": int(edges[i + 1]), "label": strand.label, "colour": strand.colour}
        for i, strand in enumerate(frames.story.strands)
    ]


def _events(frames: Frames) -> list[dict[str, Any]]:
    found = [
        {
            "frame": frames.position(i, moment.index),
            "kind": moment.kind,
            "words": moment.words,
            "explanation": moment.explanation,
            "slug": moment.slug,
            "before": moment.before,
            "after": moment.after,
        }
        for i, strand in enumerate(frames.story.strands)
        for moment in strand.moments
    ]
    return sorted(found, key=lambda event: event["frame"])


def _base64(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
