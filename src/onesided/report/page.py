"""One self-contained page: template, style, script and data in a single file that needs no network."""

import base64
import hashlib
import json
import os
import tempfile
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path as FilePath
from string import Template
from typing import Any

from onesided._version import __version__
from onesided.plots.branches import Result, paths_of
from onesided.report.data import MOST_SHOWN, payload, provenance_rows
from onesided.report.model_text import description_of, title_of
from onesided.results import Diagram, Drive, Path

_SCRIPTS = ("1_data.js", "2_chart.js", "3_sketch.js", "4_view.js")


def write(result: Result, file: str | FilePath, *, model: str = "") -> FilePath:
    """Write the page of a result, whole or not at all; `model` is the text of its model file."""
    target = FilePath(file)
    handle, draft = tempfile.mkstemp(suffix=".html", prefix=".report-", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(html(result, model=model))
        os.chmod(draft, 0o644)
        os.replace(draft, target)
    finally:
        FilePath(draft).unlink(missing_ok=True)
    return target


def html(result: Result, *, model: str = "") -> str:
    """The page as text. Everything that comes from a model is escaped; only our own script may run."""
    paths = paths_of(result)
    data = payload(result)
    script, style = _asset("script"), _asset("style")
    title = title_of(model) or "Equilibrium path"
    description = description_of(model)
    fields = {
        "title": escape(title),
        "summary": escape(summary(result)),
        "warnings": "".join(f'<p class="warnings" role="note">{escape(text)}</p>' for text in warnings(result, data)),
        "description": f"<section><h2>About</h2><p>{escape(description)}</p></section>" if description else "",
        "events": "".join(_event_item(event) for event in data["events"]),
        "listed": _listed(len(data["unilateral"])),
        "model": escape(model or "The model was stated in Python; no file lies with the result."),
        "provenance": "".join(
            f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in _provenance(result, paths)
        ),
        "data": _json(data),
        "script": script,
        "style": style,
        "script_hash": _hash(script),
        "style_hash": _hash(style),
    }
    return Template((files(__package__) / "viewer" / "page.html").read_text(encoding="utf-8")).substitute(fields)


def summary(result: Result) -> str:
    """One line on a result."""
    paths = paths_of(result)
    points = f"{sum(len(path) for path in paths)} points"
    special = sum(len(path.events) for path in paths)
    if isinstance(result, Diagram):
        state = "all branches in reach" if result.complete else "not complete"
        return f"Diagram: {len(paths)} branches, {points}, {special} events; {state}"
    if isinstance(result, Drive):
        jumps = f"{len(result.jumps)} jump{'' if len(result.jumps) == 1 else 's'}"
        return f"Loading history: {points}, {jumps}, energy lost {result.dissipated:.6g}; {result.status.value}"
    return f"Path: {points}, {special} events; {result.status.value}"


def warnings(result: Result, data: dict[str, Any]) -> list[str]:
    """What a reader must know before believing the picture."""
    found = []
    if not isinstance(result, Diagram) and not result.ok:
        found.append(f"This computation did not reach its goal: {result.status.value}")
    if isinstance(result, Diagram) and not result.complete:
        found.append(f"The diagram is not complete: {result.note}")
    elif result.note:
        found.append(result.note)
    if isinstance(result, Drive | Diagram):
        found += [f"Part {i}: {path.note}" for i, path in enumerate(result.paths) if path.note and not path.ok]
    if any(not event.rays.complete for path in paths_of(result) for event in path.events):
        found.append("At some events too many constraints meet to examine all cases: branches may be missing")
    if data["count"] < data["points"]:
        found.append(f"The page shows {data['count']} of {data['points']} points; the result holds them all")
    return found


def _listed(count: int) -> str:
    if count == 0:
        return '<p class="hint">There are none.</p>'
    return f'<p class="hint">The {MOST_SHOWN} of {count} that change most.</p>' if count > MOST_SHOWN else ""


def _event_item(event: dict[str, Any]) -> str:
    """An event in the list; its explanation names the page of the theory."""
    tip = escape(f"{event['explanation']} More: onesided explain {event['slug']}")
    return (
        f'<li><button type="button" data-frame="{event["frame"]}" title="{tip}">{escape(event["words"])}</button></li>'
    )


def _provenance(result: Result, paths: tuple[Path, ...]) -> list[tuple[str, str]]:
    worst = max(path.residual for path in paths)
    extra = {"status": "complete" if isinstance(result, Diagram) and result.complete else ""}
    if not isinstance(result, Diagram):
        extra = {"status": f"{result.status.name}: {result.status.value}"}
    extra["largest relative residual, rechecked"] = f"{worst:.2e}"
    extra["page written by"] = f"onesided {__version__}"
    return provenance_rows(paths, {key: text for key, text in extra.items() if text})


def _json(data: dict[str, Any]) -> str:
    """JSON that cannot end the script element it stands in."""
    plain = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _asset(kind: str) -> str:
    folder = files(__package__) / "viewer"
    if kind == "style":
        return (folder / "style.css").read_text(encoding="utf-8")
    parts = "".join((folder / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    return f"(() => {{\n{parts}}})();\n"


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
