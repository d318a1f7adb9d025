"""Results and systems in notebooks: small tables, everything escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from onesided.results.explain import slug, text

if TYPE_CHECKING:
    from onesided.results.equilibrium import Equilibrium
    from onesided.results.path import Event


def table(rows: Iterable[Sequence[str]], *, head: Sequence[str] = ()) -> str:
    """A table of plain texts."""
    top = "<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in head) + "</tr>" if head else ""
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table>{top}{body}</table>"


def bold(words: str) -> str:
    """A line of bold text."""
    return f"<p><b>{escape(words)}</b></p>"


def equilibrium_html(state: "Equilibrium") -> str:
    """An equilibrium as a table."""
    rows = [(state.control, f"{state.p:.10g}"), *_pairs(state.coordinates, state.q)]
    rows += [(f"multiplier {name}", value) for name, value in _pairs(state.bilateral, state.mu)]
    for i, (name, word) in enumerate(state.states().items()):
        shown = f"gap {state.gaps[i]:.6g}" if word == "inactive" else f"reaction {state.lam[i]:.10g}"
        rows.append((name, f"{word}, {shown}"))
    rows += [("energy", f"{state.energy:.10g}"), ("largest relative residual", f"{state.recheck.worst:.1e}")]
    return bold(f"Equilibrium: {state.words()}") + table(rows)


def event_html(event: "Event") -> str:
    """An event: its sentence, what it means, and the rays that leave it."""
    rows = [
        (
            str(i) + (" (came along)" if i == event.incoming else " (followed)" if i == event.followed else ""),
            "+0−"[1 - ray.p_sign],
            ", ".join(ray.closed) or "none",
            str(ray.instability),
        )
        for i, ray in enumerate(event.rays.rays)
    ]
    rays = table(rows, head=("ray", event.control, "closed", "negative modes")) if rows else ""
    more = f"<p>{escape(text(event.kind))} <code>onesided explain {slug(event.kind)}</code></p>"
    return bold(event.words()) + more + rays


def _pairs(names: Sequence[str], values: Iterable[float]) -> list[tuple[str, str]]:
    return [(name, f"{value:.10g}") for name, value in zip(names, values, strict=True)]
