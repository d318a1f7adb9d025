"""A story as plain data of bounded size: what the script of the page reads."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onesided.base.types import Array, Indices
from onesided.report.stories import MOST_SHOWN, PlayedFall, Station, Story
from onesided.results.sketch import sketch_record

BYTES = 5_800_000  # of a page, less its script
LEAST = 400_000  # of them for numbers, however long the texts are
MOST_SERIES = 8
MOST_MOMENTS = 1000  # in the list
MOST_READ = 7  # numbers beside the pointer
FALLING = 600_000  # bytes for states of falls: those of the first jumps


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


def payload(told: Story, taken: int = 0) -> dict[str, Any]:
    """Everything the script needs to know; `taken` bytes of the page are for something else."""
    told = _bounded(told)
    room = max(BYTES - taken - _length(told), LEAST) * 3 // 4  # base64 makes numbers a third longer
    points = sum(len(strand.curve.source) for strand in told.strands)
    extra = 8 + len(told.unilateral)  # bytes of stability, firmness, source and states
    falls = _falls(told)
    room -= 8 * len(told.names) * sum(len(fall.closed) for fall in falls.values())
    single = points * (8 * len(told.names) + extra) > room
    frames = _frames(told, room // ((4 if single else 8) * len(told.names) + extra))
    events, explanations = _events(frames)
    return {
        **_numbers(frames, [*falls.values()], single=single),
        "branches": _branches(frames),
        "events": events,
        "explanations": explanations,
        "kinds": _kinds(told),
        "jumps": _jumps(frames, falls),
        **_words(told),
    }


def _numbers(frames: Frames, falls: list[PlayedFall], *, single: bool) -> dict[str, Any]:
    """What is known in every position, and in those of falls after them, as encoded arrays."""
    told = frames.story
    curves = [strand.curve for strand in told.strands]
    table = np.array(
        [np.concatenate([frames.column(name), *(_known(fall, name) for fall in falls)]) for name in told.names],
        dtype="<f4" if single else "<f8",
    )
    codes = [frames.joined([curve.codes for curve in curves]), *(2 * fall.closed for fall in falls)]
    held = [strand.firmness for strand in told.strands if strand.firmness is not None]
    firmness = frames.joined(held).astype("u1") if len(held) == len(curves) else None
    return {
        "count": len(frames.kept),
        "single": single,
        "falling": sum(len(fall.closed) for fall in falls),
        "columns": _base64(table),
        "degree": _base64(frames.joined([curve.instability for curve in curves]).astype("<i2")),
        "codes": _base64(np.concatenate(codes).astype("u1")),
        "exact": _base64(frames.joined([curve.exact for curve in curves]).astype("u1")),
        "source": _base64(frames.joined([curve.source for curve in curves]).astype("<u4")),
        "firmness": None if firmness is None else _base64(firmness),
    }


def _words(told: Story) -> dict[str, Any]:
    """Names, what is drawn and listed at first, and the drawing of the system."""
    known = set(told.names)
    quantities = [what for what in ("reaction", "gap") if any(f"{what} {name}" in known for name in told.unilateral)]
    return {
        "control": told.driver,
        "unilateral": list(told.unilateral),
        "names": list(told.names),
        "stability": told.stability,
        "sketch": None if told.sketch is None else sketch_record(told.sketch),
        "choices": [name for name in told.names if "." not in name],
        "along": told.along,
        "driven": told.driven,
        "coordinates": list(told.coordinates),
        "parameter": told.parameter,
        "velocities": bool(told.coordinates) and told.parameter != told.driver,
        "labels": dict(told.labels),
        "sizes": dict(told.sizes),
        "readout": list(told.shown[:MOST_READ]),
        "x": told.x,
        "y": told.y,
        "shown": list(told.shown),
        "listed": list(told.ranked[:MOST_SHOWN]),
        "series": [told.unilateral[i] for i in sorted(told.ranked[:MOST_SERIES])],
        "quantities": [*quantities, *(["energy"] if "energy" in known else [])],
    }


def _falls(told: Story) -> dict[int, PlayedFall]:
    """What the page plays of jumps: of as many as there is room for."""
    found, left = dict[int, PlayedFall](), FALLING
    for i, fall in told.falls.items():
        left -= 8 * len(told.names) * len(fall.closed)
        if left >= 0:
            found[i] = fall
    return found


def _known(fall: PlayedFall, name: str) -> Array:
    return fall.columns.get(name, np.full(len(fall.closed), np.nan))


def _jumps(frames: Frames, falls: Mapping[int, PlayedFall]) -> list[dict[str, Any]]:
    """Jumps between positions; states of falls stand behind all positions, one fall after the other."""
    begins = np.cumsum([len(frames.kept), *(len(fall.closed) for fall in falls.values())]).tolist()
    way = {i: [begin, begin + len(fall.closed)] for (i, fall), begin in zip(falls.items(), begins, strict=False)}
    return [
        {"from": frames.position(i, -1), "to": frames.position(i + 1, 0), "words": words, "fall": way.get(i),
         "told": falls[i].words if i in falls else ""}
        for i, words in frames.story.jumps
    ]  # fmt: skip


def _bounded(told: Story) -> Story:
    """The story with as many moments as a list can show: the first ones."""
    left, strands = MOST_MOMENTS, []
    for strand in told.strands:
        strands.append(replace(strand, moments=strand.moments[:left]))
        left -= len(strands[-1].moments)
    return replace(told, strands=tuple(strands))


def _length(told: Story) -> int:
    """About how many bytes the words of a story take: events stand in the list and in the data."""
    moments = [moment for strand in told.strands for moment in strand.moments]
    sketch = 0 if told.sketch is None else len(json.dumps(sketch_record(told.sketch)))
    names = sum(len(name) + 60 for name in (*told.names, *told.unilateral))
    return sum(2 * len(moment.words) + 220 for moment in moments) + sketch + 4 * names


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
        {
            "begin": int(edges[i]),
            "end": int(edges[i + 1]),
            "label": strand.label,
            "colour": strand.colour,
            "alike": strand.alike,
        }
        for i, strand in enumerate(frames.story.strands)
    ]


def _explained(moment: Station) -> str:
    more = f" More: onesided explain {moment.slug}" if moment.slug else ""
    return moment.explanation + more


def _events(frames: Frames) -> tuple[list[dict[str, Any]], list[str]]:
    """All events in order, and their explanations, each once."""
    known: dict[str, int] = {}
    found = [
        {
            "frame": frames.position(i, moment.index),
            "kind": moment.kind,
            "words": moment.words,
            "why": known.setdefault(_explained(moment), len(known)),
            "before": moment.before,
            "after": moment.after,
            "number": moment.number,
        }
        for i, strand in enumerate(frames.story.strands)
        for moment in strand.moments
    ]
    return sorted(found, key=lambda event: event["frame"]), list(known)


def _kinds(told: Story) -> list[tuple[str, str]]:
    """Names of the markers on the page, and what a legend says of them."""
    found: dict[str, dict[str, None]] = {}
    for strand in told.strands:
        for moment in strand.moments:
            found.setdefault(moment.kind, {})[moment.label] = None
    return [(name, ", ".join(labels)) for name, labels in found.items()]


def _base64(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
