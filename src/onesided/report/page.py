"""One self-contained page: template, style, script and data in a single file that needs no network."""

import re
from functools import singledispatch
from html import escape
from pathlib import Path as FilePath
from typing import Any

from onesided._version import __version__
from onesided.base.atomic import whole_file
from onesided.report.data import payload
from onesided.report.model_text import changed_of, description_of, text_of, title_of
from onesided.report.safe_page import Page, body
from onesided.report.stories import MOST_SHOWN, Story, story
from onesided.report.study_page import study_html
from onesided.results import Study

MOST_WARNINGS = 4
SCRIPTS = (
    "0_base.js", "1_data.js", "svg_pen.js", "marks.js", "2_chart.js", "3_sketch.js", "raster.js", "play.js", "lists.js",
    "export.js", "4_view.js", "wiring.js",
)  # fmt: skip


def write(result: Any, file: str | FilePath, *, model: str = "") -> FilePath:
    """Write the page of a result, whole or not at all; `model` is the text of its model file."""
    target = FilePath(file)
    with whole_file(target) as draft:
        draft.write_text(html(result, model=model), encoding="utf-8", newline="\n")
    return target


@singledispatch
def html(result: Any, *, model: str = "") -> str:
    """The page as text. Everything that comes from a model is escaped; only our own script may run."""
    told = story(result)
    model = text_of(model, told)
    changed, of_branch = changed_of(model, told)
    more = {"model": bool(model), "parameters": changed, "stated": of_branch}
    data = payload(told, taken=len(model.encode()) + len(repr(more))) | more
    description = description_of(model)
    fields = {
        "warnings": _warned([*told.warnings, *_left_out(told, data)]),
        "description": f"<section><h2>About</h2><p>{_with_code(description)}</p></section>" if description else "",
        "events": "".join(_event_item(event) for event in data["events"]) or '<li class="none">Nothing special.</li>',
        "listed": _listed(len(told.unilateral)),
    }
    facts = (*told.provenance, ("page written by", f"onesided {__version__}"))
    heading = title_of(model) or told.heading
    return Page(heading, told.summary, body("result_body.html", fields), SCRIPTS, data, facts, model).text()


@html.register
def _(result: Study, *, model: str = "") -> str:
    return study_html(result, model)


def summary(result: Any) -> str:
    """One line on a result."""
    return story(result).summary


def _warned(words: list[str]) -> str:
    """What must be known first; of very many notes all but a few can be unfolded."""
    told = [f'<p class="warnings" role="note">{escape(text)}</p>' for text in words]
    first, rest = (told, []) if len(told) <= MOST_WARNINGS else (told[: MOST_WARNINGS - 1], told[MOST_WARNINGS - 1 :])
    more = f"<details><summary>{len(rest)} more notes</summary>{''.join(rest)}</details>" if rest else ""
    return "".join(first) + more


def _with_code(text: str) -> str:
    """Escaped, with what stands in backticks as code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


def _left_out(told: Story, data: dict[str, Any]) -> list[str]:
    """What the page does not hold because it would be too large."""
    words, moments = [], sum(len(strand.moments) for strand in told.strands)
    if data["count"] < told.points:
        words.append(f"The page shows {data['count']} of {told.points} points; the result holds them all")
    if len(data["events"]) < moments:
        words.append(f"The page lists the first {len(data['events'])} of {moments} events; the result holds them all")
    return words


def _listed(count: int) -> str:
    if count == 0:
        return '<p class="hint">There are none.</p>'
    return f'<p class="hint">The {MOST_SHOWN} of {count} that change most.</p>' if count > MOST_SHOWN else ""


def _event_item(event: dict[str, Any]) -> str:
    """An event in the list, with the number that every view shows; the script adds what it means."""
    look = ' class="jump"' if event["kind"] == "jump" else ""
    number = f'<span class="number">{event["number"] or ""}</span>'
    return f'<li{look}><button type="button">{number}<span>{escape(event["words"])}</span></button></li>'
