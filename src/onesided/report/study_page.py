"""The page of a study: a map or points to click, and what was found in each case, with its path where it was kept."""

import math
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.base.errors import UsageError
from onesided.plots.branches import default_coordinate, paths_of
from onesided.report.model_text import title_of
from onesided.report.safe_page import Page, body
from onesided.results import Motion, Study
from onesided.results.study_cases import SAMPLE
from onesided.results.study_rows import CASE, TEXTS

MOST_CASES = 20_000  # cases on a page
MOST_CURVES = 1000  # of them with their path
MOST_POINTS = 200  # of a path
MOST_FAILED = 200  # in the list
DIGITS = 8


def study_html(study: Study, model: str = "") -> str:
    """The page as text; everything that comes from a study is escaped or shown as text by the script."""
    chosen = _chosen(study)
    columns = study.to_dict()
    numbers = columns.pop(CASE)
    shown = np.isin(numbers, chosen)
    data = {
        "dimensions": list(study.cases.dimensions),
        "shape": [len(part) for part in _parts(study)],
        "axes": {name: _numbers(study.cases.axes[name][part]) for name, part in _kept_axes(study).items()},
        "varied": list(study.cases.names),
        "places": np.searchsorted(chosen, numbers[shown]).tolist(),
        "numbers": numbers[shown].tolist(),
        "columns": {name: _column(name, values[shown]) for name, values in columns.items()},
        "events": _events(study, set(numbers[shown].tolist())),
        "curves": _curves(study, numbers[shown]),
    }
    title = title_of(model) or f"Study: {study.statement['task']['verb']}"
    inside = body("study_body.html", {"failed": _failed(study)})
    scripts = ("0_base.js", "study.js")
    return Page(title, _summary(study, int(shown.sum())), inside, scripts, data, _facts(study), model).text()


def _parts(study: Study) -> list[NDArray[Any]]:
    """Of every dimension the places that are shown: all of them, or evenly chosen ones where they are too many."""
    share = min(1.0, (MOST_CASES / len(study)) ** (1.0 / len(study.cases.shape)))
    return [np.unique(np.linspace(0, n - 1, max(math.floor(n * share), 1)).astype(int)) for n in study.cases.shape]


def _kept_axes(study: Study) -> dict[str, NDArray[Any]]:
    parts = dict(zip(study.cases.dimensions, _parts(study), strict=True))
    return {name: part for name, part in parts.items() if name != SAMPLE}


def _chosen(study: Study) -> NDArray[Any]:
    """Numbers of the cases on the page, in their order."""
    return np.ravel_multi_index(np.meshgrid(*_parts(study), indexing="ij"), study.cases.shape).ravel()


def _numbers(values: NDArray[Any]) -> list[float | None]:
    return [float(f"{x:.{DIGITS}g}") if np.isfinite(x) else None for x in values.astype(float)]


def _column(name: str, values: NDArray[Any]) -> list[Any]:
    return [str(text) for text in values] if name in TEXTS else _numbers(values)


def _events(study: Study, shown: set[int]) -> dict[int, list[str]]:
    """Case → its events in words."""
    found: dict[int, list[str]] = {}
    events = study.events()
    for case, kind, at, name in zip(*(events[key] for key in ("case", "kind", "at", "name")), strict=True):
        if int(case) in shown:
            named = f" ({name})" if name else ""
            found.setdefault(int(case), []).append(f"{kind}{named} at {at:.{DIGITS}g}")
    return found


def _curves(study: Study, numbers: NDArray[Any]) -> dict[int, dict[str, Any]]:
    """Case → what its result shows at first, where results were kept."""
    if not study.statement["task"].get("results"):
        return {}
    found = {}
    for number in numbers[:MOST_CURVES].tolist():
        try:
            result = study.result(number)
        except UsageError:
            continue
        x, y = (
            ("t", result.coordinates[0]) if isinstance(result, Motion) else (default_coordinate(paths_of(result)), "p")
        )
        some = np.unique(np.linspace(0, len(result[y]) - 1, MOST_POINTS).astype(int))
        found[number] = {"x": x, "y": y, "xs": _numbers(result[x][some]), "ys": _numbers(result[y][some])}
    return found


def _summary(study: Study, shown: int) -> str:
    counts = study.counts()
    part = f"; the page shows {shown} of them" if shown < counts["done"] else ""
    return f"{counts['done']} of {counts['cases']} cases, {counts['failed']} failed{part}"


def _failed(study: Study) -> str:
    failed = list(study.failed().items())
    items = "".join(f"<li>case {case}: {escape(why)}</li>" for case, why in failed[:MOST_FAILED])
    more = f"<li>… and {len(failed) - MOST_FAILED} more</li>" if len(failed) > MOST_FAILED else ""
    return items + more or '<li class="none">None.</li>'


def _facts(study: Study) -> list[tuple[str, str]]:
    task = study.statement["task"]
    said = {"folder": str(study.folder), "verb": task["verb"], "arguments": str(task.get("arguments", {}))}
    drawn = {
        key: str(study.statement[key]) for key in ("sampling", "seed") if study.statement.get(key) not in {"", None}
    }
    return [*said.items(), *drawn.items(), ("onesided", str(study.statement["version"]))]
