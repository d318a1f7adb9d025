"""Pages made by running the models: gallery, figures of the papers, changes. Run by `make docs` before MkDocs."""

import shutil
import tomllib
from pathlib import Path
from typing import Any

import paper_figures as motion_figures

import onesided
from onesided import plots, report, zoo

HERE = Path(__file__).parent
GALLERY, FIGURES = HERE / "gallery", HERE / "papers" / "figures"

LONG = {"bistable-chain-parts", "panel-ring"}  # thousands of limit points, 255 branches at one point
MOST_EVENTS = 30  # on a page
LESSONS = {
    "andrews-squeezer": "The standard test of codes for mechanisms: seven bodies, three loops, five turns in 0.03 s.",
    "arch-on-floor": "A snapping beam lands on a floor, point by point; a point may lift off again under more load.",
    "ball-in-groove": "Two contacts share a load until one lets go; their reactions are part of the result.",
    "bead-on-ring": "A gap may contain p: the wall moves. Two-sided and one-sided constraints stand together.",
    "bimetal-strip": "Natural curvature may follow p: temperature snaps an arch, and cooling snaps it back later.",
    "bistable-chain": "A path may turn back twenty-six times; none is missed, and every one is located to round-off.",
    "bistable-chain-parts": "Parts can be repeated: ten units in a few lines, and a path of 59,048 limit points.",
    "cable-net": "A net of cables holds itself down; the reactions are the tensions, and slack cables are dashed.",
    "column": "A pitchfork: three branches lead on, and `diagram` follows all of them.",
    "bouncing-ball": "Infinitely many impacts in finite time: followed as long as they matter, then passed.",
    "column-between-walls": "Contacts raise the buckling load, and more load opens contacts as well.",
    "column-stop": "A stop changes one branch of a pitchfork only: symmetric thinking would miss it.",
    "corner-limit": "A path can turn back, and stability be lost, with no singular matrix anywhere.",
    "end-point": "Equilibria can end, but only where a contact stays closed without force all along the path.",
    "end-point-horizontal": "What looks like an end may go on at constant load: count rays with ṗ = 0 as well.",
    "flat-contact": "First-order equations may leave open whether p turns back; second derivatives decide.",
    "gantry-crane": "The cheapest way to carry a load from rest to rest: it swings on the way, and arrives at rest.",
    "guyed-mast": "Guys that go slack make a mast softer, one kink after the other; read off the wind that does it.",
    "heavy-top": "A body on rotations, in formulas: three numbers for a rotation, and nothing to normalise.",
    "keyboard-dome": "A key that clicks as asked: `[design]` names force and travel, `onesided design` finds the dome.",
    "knife-edge": "A condition on velocities that is no condition on positions: the skate drifts across the slope.",
    "lee-frame": "Beams with large rotations: a limit load, and a way back through negative load, from parts alone.",
    "overhead-crane": "Which forces make a load follow a line? Two conditions, two inputs and a rope: index 5.",
    "panel-ring": "Deployment and retraction can differ: eight contacts let go at once; the way back is another.",
    "pendulum": "A joint as a constraint; its multiplier is the force in the rod, its drift is at round-off.",
    "platform": "One crank too many: the motion is unique, the crank forces are a choice that the result names.",
    "rolling-disk": "Contact points are coordinates without mass; some multipliers of a contact are always zero.",
    "scissor-lift": "A mechanism of rigid arms collapses onto its stop; the stop's reaction is a moment.",
    "singular-corner": "A contact change and a zero eigenvalue may meet: four shapes, and two different outcomes.",
    "slider-crank": "Definitions in formulas, a driving moment as a potential, friction as a force of velocities.",
    "suspended-deck": "Slings go slack away from the load; tensions of taut ones are multipliers, so nothing is tuned.",
    "tensegrity-deploy": "Natural lengths may follow p: a winch raises a frame and then builds up self-stress.",
    "tensegrity-prism": "Self-stress holds a mechanism; where cables go slack it has a new stiffness.",
    "tripod-truss": "Snap-through in space: all three coordinates of the apex are free.",
    "two-bar-roller": "A compliant support lowers the snap load: 0.8 times that of the fixed truss.",
    "two-supports": "Two contacts lose force together; dropping those with negative force gives a wrong answer.",
    "von-mises": "Snap-through of a shallow truss: two limit points, and an unstable part between them.",
    "von-mises-floor": "A contact met while unstable gives a corner limit point, at which stability is regained.",
    "von-mises-truss": "The same truss from nodes, bars and a force: nothing to derive by hand.",
    "wedge": "Several directions can leave a point though nothing is singular: one, three or a fan.",
    "williams-toggle": "Bending changes snap-through: the load falls, but stays positive.",
}


def main() -> None:
    """Make everything anew."""
    for folder in (GALLERY, FIGURES):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    standing = [gallery_page(name) for name in zoo.names() if "[motion]" not in zoo.text(name)]
    moving = [gallery_page(name) for name in zoo.names() if "[motion]" in zoo.text(name)]
    intro = (
        "# Gallery\n\nEvery bundled model, run as you see it. `onesided examples NAME > my.toml` copies one out.\n\n"
    )
    text = intro + "## Equilibrium\n\n" + _grid(standing) + "\n## Motion\n\n" + _grid(moving)
    (GALLERY / "index.md").write_text(text, encoding="utf-8")
    paper_figures()
    for draw in (motion_figures.qi_tu, motion_figures.schwab, motion_figures.arnold):
        draw(FIGURES)
    text = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    (HERE / "changes.md").write_text(text.replace("# Changelog", "# Changes", 1), encoding="utf-8")


def _grid(cards: list[str]) -> str:
    return '<div class="grid cards" markdown>\n\n' + "\n".join(cards) + "\n</div>\n"


def gallery_page(name: str) -> str:
    """Run a model, write its page and pictures, return its entry in the overview."""
    model, source = zoo.load(name), zoo.text(name)
    moving = model.task.motion is not None
    verb = "simulate" if moving else "diagram"
    found = _motion(model) if moving else _run(model.system, model.task, long=name in LONG)
    plots.write(found, GALLERY / f"{name}.svg")
    report.write(found, GALLERY / f"{name}.html", model=source)
    facts = tomllib.loads(source)
    events = [event.words() for event in found.events]
    parts = [
        f"# {facts['title']}",
        facts["description"].strip(),
        f"**What to learn:** {LESSONS[name]}",
        f"![{'Motion' if moving else 'Path diagram'} of {name}]({name}.svg)",
        _shapes(name, found),
        f"[Open the interactive page]({name}.html)",
        "## What happens",
        _numbered(events) or "Nothing special.",
        "## The model",
        f"```toml\n{source.strip()}\n```",
        "## Do it yourself",
        f"```sh\nonesided examples {name} > my.toml\nonesided {verb} my.toml --report\n```",
    ]
    (GALLERY / f"{name}.md").write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")
    card = [f"- [![{name}]({name}.svg)]({name}.md)", f"    **[{facts['title']}]({name}.md)**"]
    return "\n\n".join([*card, f"    {LESSONS[name]}"]) + "\n"


def _numbered(events: list[str]) -> str:
    lines = [f"{i}. {words}" for i, words in enumerate(events[:MOST_EVENTS], 1)]
    more = f"\n\n… and {len(events) - MOST_EVENTS} more." if len(events) > MOST_EVENTS else ""
    return "\n".join(lines) + more


def _motion(model: Any) -> onesided.Motion:
    """The motion that a file states."""
    return onesided.simulate(model)


def _run(system: onesided.System, task: Any, *, long: bool) -> onesided.Diagram:
    """All branches, or the beginning of one that would be too long."""
    if not long:
        return onesided.diagram(system, task.start, task.p, p_bounds=task.p_bounds, max_branches=12)
    path = onesided.trace(
        system, task.start, task.p, direction=task.direction, p_bounds=task.p_bounds, max_points=1500, throw=False
    )
    return onesided.Diagram((path,), (-1,), complete=False, note="the first 1500 points only")


def _shapes(name: str, found: Any) -> str:
    """The configuration at the start, at the first event and at the end."""
    first = found if isinstance(found, onesided.Motion) else found.paths[0]
    if first.sketch is None:
        return ""
    plots.shapes(found).savefig(GALLERY / f"{name}-shapes.svg", metadata={"Date": None})
    return f"![{name} at three points]({name}-shapes.svg)"


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
    plots.write(path, FIGURES / "sp1-figure-4.svg", title="Truss above a floor")
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

    from onesided.plots.style import settings

    with settings():
        rows, columns, size = {1: (1, 1, (6.4, 4.6)), 4: (2, 2, (9.0, 7.0))}[count]
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        return list(figure.subplots(rows, columns, squeeze=False).flat)


def _save(axes: object, name: str) -> None:
    axes.figure.savefig(FIGURES / name, metadata={"Date": None})  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
