"""What the page of a live session draws, as plain data: the path around the system, and the state it is in."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from onesided.live.live_session import Happening, LiveSession
from onesided.live.stretches import Position
from onesided.report.data import payload
from onesided.report.stories import Story, Strand, story
from onesided.results import Drive, Path
from onesided.results.interpolated import DensePath


def scene(results: Sequence[Path | Drive]) -> dict[str, Any]:
    """The data of a report's page with one frame more, the last: it is filled with the present state as it comes."""
    told, *more = (story(result) for result in results)
    others = [strand for one in more if one.names == told.names for strand in one.strands]
    data = payload(replace(told, strands=(*told.strands, *others, Strand(_present(told), "now"))))
    return data | {"events": [{**event, "number": 0} for event in data["events"]]}  # numbers are for what happens


def _present(told: Story) -> DensePath:
    """A strand of one position, a copy of the first one."""
    first = told.strands[0].curve
    return DensePath(
        {name: values[:1] for name, values in first.columns.items()},
        np.zeros(1, dtype=np.intp),
        np.ones(1, dtype=bool),
        first.instability[:1],
        first.codes[:1],
    )


def state(session: LiveSession, news: list[Happening]) -> dict[str, Any]:
    """Where a session stands, what happened on the way there, and the states passed."""
    return {
        "kind": "state",
        **_position(session.here),
        "note": session.note,
        "memory": session.remembered(),
        "happened": len(session.log),
        "news": [_line(one) for one in news],
        "way": [None if row is None else _numbers(row) for row in session.way],
    }


def _position(here: Position) -> dict[str, Any]:
    codes = [int(code) for code in here.codes]
    return {"p": here.p, "values": _numbers(here.row), "codes": codes, "degree": here.degree, "exact": here.exact}


def _line(one: Happening) -> dict[str, Any]:
    told = one.passage
    line: dict[str, Any] = {"number": one.number, "p": told.p, "event": told.kind, "words": told.words, "why": told.why}
    if one.before is not None and one.after is not None:
        line["jump"] = [_numbers(one.before.row), _numbers(one.after.row)]
        rows, closed = one.falling or ((), ())
        line["fall"] = [[_numbers(row), (2 * now).tolist()] for row, now in zip(rows, closed, strict=True)]
    return line


def _numbers(row: Any) -> list[float | None]:
    """Numbers as JSON knows them."""
    return [value if math.isfinite(value) else None for value in row.tolist()]


def introduction(session: LiveSession, file: str, *, saves: bool) -> dict[str, Any]:
    """What the page must know of a model before anything moves."""
    model = session.model
    return {
        "kind": "model",
        "title": model.title or "A system",
        "file": file,
        "control": model.system.control,
        "coordinates": list(model.system.coordinates),
        "unilateral": list(model.system.unilateral),
        "bounds": list(model.bounds),
        "parameters": model.sliders(),
        "names": list(session.names),
        "text": model.source,
        "q": _numbers(session.q),
        "saves": saves,
    }
