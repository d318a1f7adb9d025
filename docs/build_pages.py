"""Pages made by running the models: gallery, tutorial, papers, changes. Run by `make docs` before MkDocs."""

import shutil
import tomllib
from pathlib import Path
from typing import Any

import event_figures
import paper_figures as motion_figures
import tutorial_figures
from phenomena import INTRODUCTION, LESSONS, LIMITS, PHENOMENA

import onesided
from onesided import plots, report, zoo
from onesided.plots.dark_figures import for_dark_pages
from onesided.plots.style import settings

HERE = Path(__file__).parent
GALLERY, PAPERS, FIGURES = HERE / "gallery", HERE / "papers" / "figures", HERE / "figures"

MOST_EVENTS = 30  # on a page


def main() -> None:
    """Make everything anew."""
    for folder in (GALLERY, PAPERS, FIGURES):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    sections = [_section(title, words, models) for title, (words, models) in PHENOMENA.items()]
    (GALLERY / "index.md").write_text(INTRODUCTION + "\n".join(sections), encoding="utf-8")
    tutorial_figures.switch(HERE / "tutorial.md", FIGURES)
    event_figures.events(FIGURES)
    paper_figures()
    for draw in (motion_figures.qi_tu, motion_figures.schwab, motion_figures.arnold):
        draw(PAPERS)
    for file in (file for folder in (GALLERY, PAPERS, FIGURES) for file in folder.glob("*.svg")):
        file.write_text(for_dark_pages(file.read_text(encoding="utf-8")), encoding="utf-8")
    text = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    (HERE / "changes.md").write_text(text.replace("# Changelog", "# Changes", 1), encoding="utf-8")


def _section(title: str, words: str, models: dict[str, str]) -> str:
    """A phenomenon: what it is, and a card for each model that shows it."""
    cards = "\n".join(gallery_page(name, verb) for name, verb in models.items())
    return f'## {title}\n\n{words}\n\n<div class="grid cards" markdown>\n\n{cards}\n</div>\n'


def gallery_page(name: str, verb: str) -> str:
    """Run a model, write its page and pictures, return its card in the overview."""
    model, source = zoo.load(name), zoo.text(name)
    limit = LIMITS.get(name)
    most = f" --max-events {limit}" if limit else ""
    found = RUNS[verb](model, limit)
    plots.write(found, GALLERY / f"{name}.svg")
    report.write(found, GALLERY / f"{name}-report.html", model=source)
    facts = tomllib.loads(source)
    story = _story(name, found)
    parts = [
        f"# {facts['title']}",
        facts["description"].strip(),
        f"**What to learn:** {LESSONS[name]}",
        f"![{WORDS[verb]} of {name}]({story})",
        f"[Open the interactive page]({name}-report.html){{ .md-button }}",
        "## What happens",
        _numbered(found) or "Nothing special.",
        "## The model",
        f"```toml\n{source.strip()}\n```",
        "## Do it yourself",
        f"```sh\nonesided examples {name} > my.toml\nonesided {verb} my.toml{most} --report\n```",
    ]
    (GALLERY / f"{name}.md").write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    return _card(name, facts["title"], story)


def _card(name: str, title: str, story: str) -> str:
    """The mechanism with the result that makes the point, and the lesson."""
    picture = story.replace("-story.svg", "-card.svg")
    lines = [f"[![{name}]({picture})]({name}.md)", f"**[{title}]({name}.md)**", LESSONS[name]]
    return "- " + "\n\n    ".join(lines) + "\n"


def _numbered(found: Any) -> str:
    """Events and jumps with the numbers that the figure shows."""
    lines = [f"{one.number}. {one.words()}" for one in found.numbered[:MOST_EVENTS]]
    left = len(found.numbered) - MOST_EVENTS
    return "\n".join(lines) + (f"\n\n… and {left} more." if left > 0 else "")


def _simulated(model: Any, _: int | None) -> onesided.Motion:
    """The motion that the file states."""
    return onesided.simulate(model)


def _driven(model: Any, _: int | None) -> onesided.Drive:
    """The programme of the file."""
    return onesided.drive(model.system, model.task.start, model.task.programme, throw=False)


def _traced(model: Any, limit: int | None) -> onesided.Path:
    """One path, and the beginning of one that would be too long."""
    task = model.task
    return onesided.trace(
        model.system, task.start, task.p, direction=task.direction, p_bounds=task.p_bounds, max_events=limit,
        throw=False,
    )  # fmt: skip


def _explored(model: Any, _: int | None) -> onesided.Diagram:
    """All branches, as many as a picture can show."""
    task = model.task
    return onesided.diagram(model.system, task.start, task.p, p_bounds=task.p_bounds, max_branches=12)


RUNS = {"trace": _traced, "drive": _driven, "diagram": _explored, "simulate": _simulated}
WORDS = {"trace": "Path", "drive": "Loading and unloading", "diagram": "Path diagram", "simulate": "Motion"}


def _story(name: str, found: Any) -> str:
    """The result with the mechanism at the start, about each jump and at the end; the result alone without a sketch."""
    first = getattr(found, "paths", (found,))[0]
    if first.sketch is None:
        return f"{name}.svg"
    plots.write(found, GALLERY / f"{name}-story.svg", view=plots.View.story)
    with settings():
        plots.story(found, card=True).savefig(GALLERY / f"{name}-card.svg", metadata={"Date": None})
    return f"{name}-story.svg"


def paper_figures() -> None:
    """Figures of Schulz and Pellegrino from our runs."""
    bar, task = zoo.load("corner-limit")
    path = onesided.trace(bar, task.start, task.p, p_bounds=task.p_bounds)
    history = onesided.drive(bar, task.start, [-1, 2, -2])
    axes = _axes(1)[0]
    plots.diagram(history, ax=axes, legend=False)
    plots.diagram(path, ax=axes, title="Bar on a stop (k = L = 1)", legend=False, words=False)
    _save(axes, "sp1-figure-6.svg")
    truss, task = zoo.load("von-mises-floor")
    path = onesided.trace(truss, task.start, task.p, p_bounds=task.p_bounds)
    plots.write(path, PAPERS / "sp1-figure-4.svg", title="Truss above a floor")
    corner, task = zoo.load("singular-corner")
    cells = _axes(4)
    for axes, (e2, b2), label in zip(cells, ((1, 0), (1, 2), (0, 1), (1, 1)), "abcd", strict=True):
        system = corner.replace(parameters={"sigma": -1.0, "e2": float(e2), "b2": float(b2)})
        found = onesided.diagram(system, *_start(system), p_bounds=(-0.1, 0.2))
        plots.diagram(found, x="phi1", ax=axes, title=f"({label}) e2 = {e2}, b2 = {b2}", legend=False)
    _save(cells[0], "sp1-figure-7.svg")


def _start(system: onesided.System) -> tuple[list[float], float]:
    """An equilibrium in contact at p = 0.04."""
    state = onesided.solve(system, start=[-0.03, 0.03], p=0.04).value
    return state.q.tolist(), 0.04


def _axes(count: int) -> list:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with settings():
        rows, columns, size = {1: (1, 1, (6.4, 4.6)), 4: (2, 2, (9.0, 7.0))}[count]
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        return list(figure.subplots(rows, columns, squeeze=False).flat)


def _save(axes: object, name: str) -> None:
    axes.figure.savefig(PAPERS / name, metadata={"Date": None})  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
