"""One self-contained page: template, style, script and data in a single file that needs no network."""

from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path as FilePath
from string import Template
from typing import Any

from onesided._version import __version__
from onesided.base.atomic import whole_file
from onesided.report.data import payload
from onesided.report.model_text import description_of, title_of
from onesided.report.safe_page import safe_json, source_hash
from onesided.report.stories import MOST_SHOWN, story
from onesided.report.study_page import study_html
from onesided.results import Study

_SCRIPTS = ("1_data.js", "2_chart.js", "3_sketch.js", "4_view.js")


def write(result: Any, file: str | FilePath, *, model: str = "") -> FilePath:
    """Write the page of a result, whole or not at all; `model` is the text of its model file."""
    target = FilePath(file)
    with whole_file(target) as draft:
        draft.write_text(html(result, model=model), encoding="utf-8", newline="\n")
    return target


def html(result: Any, *, model: str = "") -> str:
    """The page as text. Everything that comes from a model is escaped; only our own script may run."""
    if isinstance(result, Study):
        return study_html(result, model)
    told = story(result)
    data = payload(told, taken=len(model.encode()))
    script, style = _asset("script"), _asset("style")
    description = description_of(model)
    warnings = list(told.warnings)
    if data["count"] < told.points:
        warnings.append(f"The page shows {data['count']} of {told.points} points; the result holds them all")
    moments = sum(len(strand.moments) for strand in told.strands)
    if len(data["events"]) < moments:
        warnings.append(
            f"The page lists the first {len(data['events'])} of {moments} events; the result holds them all"
        )
    fields = {
        "title": escape(title_of(model) or told.heading),
        "summary": escape(told.summary),
        "warnings": "".join(f'<p class="warnings" role="note">{escape(text)}</p>' for text in warnings),
        "description": f"<section><h2>About</h2><p>{escape(description)}</p></section>" if description else "",
        "events": "".join(_event_item(event) for event in data["events"]) or '<li class="none">Nothing special.</li>',
        "listed": _listed(len(told.unilateral)),
        "model": escape(model or "The model was stated in Python; no file lies with the result."),
        "provenance": "".join(
            f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>"
            for key, value in (*told.provenance, ("page written by", f"onesided {__version__}"))
        ),
        "data": safe_json(data),
        "script": script,
        "style": style,
        "script_hash": source_hash(script),
        "style_hash": source_hash(style),
    }
    return Template((files(__package__) / "viewer" / "page.html").read_text(encoding="utf-8")).substitute(fields)


def summary(result: Any) -> str:
    """One line on a result."""
    return story(result).summary


def _listed(count: int) -> str:
    if count == 0:
        return '<p class="hint">There are none.</p>'
    return f'<p class="hint">The {MOST_SHOWN} of {count} that change most.</p>' if count > MOST_SHOWN else ""


def _event_item(event: dict[str, Any]) -> str:
    """An event in the list; the script adds what it means."""
    return f'<li><button type="button" data-frame="{event["frame"]}">{escape(event["words"])}</button></li>'


@cache
def _asset(kind: str) -> str:
    folder = files(__package__) / "viewer"
    if kind == "style":
        return (folder / "style.css").read_text(encoding="utf-8")
    parts = "".join((folder / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    return f"(() => {{\n{parts}}})();\n"
