"""Results and systems in notebooks: small tables, everything escaped."""

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from onesided.report.display import design_svg, modes_svg, shape_svg
from onesided.results import (
    Equilibrium,
    Event,
    Followed,
    Kind,
    Modes,
    MotionEvent,
    Occurrence,
    Ray,
    Rays,
    Sensitivity,
    Shape,
    Solution,
    StabilityMap,
)
from onesided.results.explain import slug, text
from onesided.results.wording import short

MOST_MODES = 12
MOST_ITEMS = 100


def table(rows: Iterable[Sequence[str]], *, head: Sequence[str] = ()) -> str:
    """Rows of plain texts as HTML, escaped."""
    top = "<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>" if head else ""
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table>{top}{body}</table>"


def paragraph(words: str) -> str:
    """A paragraph of plain text, or nothing."""
    return f"<p>{escape(words)}</p>" if words else ""


def bold(words: str) -> str:
    """A plain text as a bold line of HTML, escaped."""
    return f"<p><b>{escape(words)}</b></p>"


def equilibrium_html(state: Equilibrium) -> str:
    """An equilibrium as a table."""
    rows = [(state.control, f"{state.p:.10g}"), *_pairs(state.coordinates, state.q)]
    rows += [(f"multiplier {name}", value) for name, value in _pairs(state.bilateral, state.mu)]
    rows += [(name, state.told(name)) for name in state.unilateral]
    rows += [("energy", f"{state.energy:.10g}"), ("largest relative residual", f"{state.recheck.worst:.1e}")]
    return bold(f"Equilibrium: {state.words()}") + beside(drawing(state.shape), table(rows))


def event_html(event: Event) -> str:
    """An event: its sentence, what it means, and the rays that leave it."""
    notes = {event.incoming: " (came along)", event.followed: " (followed)"}
    known = {event.incoming: event.instability_before, event.followed: event.instability_after}
    rays = _ray_table(event.rays, event.control, {i: text for i, text in notes.items() if i is not None}, known)
    return bold(event.words()) + _meaning(event.kind) + beside(drawing(event.shape), rays)


def rays_html(rays: Rays) -> str:
    """All rays at a point as a table."""
    doubt = "" if rays.complete else paragraph(f"may be incomplete: {rays.reason}")
    return bold(f"Rays: {len(rays)}") + _ray_table(rays, "p", {}, {}) + doubt


def _ray_table(rays: Rays, control: str, notes: Mapping[int, str], known: Mapping[int | None, int | None]) -> str:
    """What leaves a point, with negative modes a little further along: as `known`, or as the ray knows."""
    rows = [
        (str(i) + notes.get(i, ""), "+0−"[1 - ray.p_sign], ", ".join(ray.closed) or "none", _modes(ray, known.get(i)))
        for i, ray in enumerate(rays.rays)
    ]
    return table(rows, head=("ray", control, "closed", "negative modes")) if rows else ""


def _modes(ray: Ray, known: int | None) -> str:
    return str(next(count for count in (known, ray.beyond, ray.instability) if count is not None))


def solution_html(solution: Solution[Any]) -> str:
    """How it ended, and the value as it shows itself."""
    how = f" ({solution.method})" if solution.method else ""
    own = getattr(solution.value, "_repr_html_", None)
    inside = f"<pre>{escape(short(solution.value))}</pre>" if own is None else own()
    return bold(f"{solution.status.value}{how}") + paragraph(solution.note) + inside


def listed_html(items: Sequence[object], first: int = 0) -> str:
    """Items as a numbered list, from 0 as in Python, or as on pages and in the terminal from 1."""
    rows = "".join(f"<li>{escape(str(item))}</li>" for item in items[:MOST_ITEMS])
    more = paragraph(f"… and {len(items) - MOST_ITEMS} more") if len(items) > MOST_ITEMS else ""
    return f'<ol start="{first}">{rows}</ol>{more}' if items else "<p>none</p>"


def motion_event_html(event: MotionEvent) -> str:
    """A moment of a motion: its sentence and what it means."""
    return bold(event.words()) + _meaning(event.kind)


def sensitivity_html(found: Sensitivity) -> str:
    """What moves an event: bars, and the numbers by influence."""
    rows = [_influence_row(name, found.record(name)) for name in found.order]
    numbers = table(rows, head=("parameter", f"d{found.control}/dparameter", "% per %", "note"))
    return bold(f"What moves {found.about}") + beside(design_svg(found), numbers)


def followed_html(found: Followed | StabilityMap, first: int = 0) -> str:
    """A curve of events, or a map of them: picture, and its special points or regions in words."""
    words = found.meetings if isinstance(found, Followed) else found.regions
    return bold(repr(found).strip("<>")) + paragraph(found.note) + design_svg(found) + listed_html(words, first)


def _influence_row(name: str, one: Mapping[str, Any]) -> tuple[str, ...]:
    law = f"{one['coefficient']:.6g} |Δ|^{one['exponent']:.3g}"
    rate = f"{one['p_rate']:.10g}" if one["exponent"] == 1.0 else law
    return name, rate, f"{one['relative']:+.4g}" if math.isfinite(one["relative"]) else "", one["note"]


def _meaning(kind: Kind | Occurrence) -> str:
    return f"<p>{escape(text(kind))} <code>onesided explain {slug(kind)}</code></p>"


def modes_html(modes: Modes) -> str:
    """Frequencies, and the slowest modes drawn where there is a sketch."""
    rows = [
        (str(i), f"{w:.10g}", f"{w / math.tau:.6g}", f"{math.tau / w:.6g}")
        if w > 0
        else (str(i), "unstable" if w < 0 else "0", f"grows by e in {-1 / w:.6g}" if w < 0 else "", "")
        for i, w in enumerate(modes.frequencies[:MOST_MODES].tolist(), 1)
    ]
    numbers = table(rows, head=("mode", "angular frequency", "frequency", "period"))
    more = f"<p>… and {len(modes) - MOST_MODES} more</p>" if len(modes) > MOST_MODES else ""
    closed = f"<p>closed: {escape(', '.join(modes.closed))}</p>" if modes.closed else ""
    note = f"<p>{escape(modes.note)}</p>" if modes.note else ""
    picture = modes_svg(modes) if modes.sketch is not None and len(modes) else ""
    return (
        bold(f"Modes: {len(modes)}, {'stable' if modes.stable else 'not stable'}")
        + picture
        + numbers
        + more
        + closed
        + note
    )


def drawing(shape: Shape | None) -> str:
    """The system at one point as an SVG element; nothing where it has no sketch, or too large a one."""
    return "" if shape is None else shape_svg(shape)


def beside(left: str, right: str) -> str:
    """Two elements side by side where there is room."""
    if not left or not right:
        return left + right
    look = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"
    return f'<div style="{look}"><div>{left}</div><div>{right}</div></div>'


def _pairs(names: Sequence[str], values: Iterable[float]) -> list[tuple[str, str]]:
    return [(name, f"{value:.10g}") for name, value in zip(names, values, strict=True)]
