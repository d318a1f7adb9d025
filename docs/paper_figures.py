"""Figures of the papers on motion, drawn from our runs: Qi and Tu, Schwab, Arnold."""

from pathlib import Path
from typing import Any

import numpy as np

import onesided
from onesided import plots, zoo
from onesided.complementarity_systems import simulate
from onesided.plots import cable_plots as cables
from onesided.plots.style import COLOURS, settings
from onesided.results.motion_columns import motion_dense
from onesided.zoo.mast import NAMES, Bilateral, Mast, Taut
from onesided.zoo.suspension import Suspension

RHO = 1.0  # radius of Schwab's disk


def panels(rows: int, columns: int = 1, size: tuple[float, float] = (7.0, 5.4)) -> list[Any]:
    """Axes without a window."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with settings():
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        return list(figure.subplots(rows, columns, squeeze=False).flat)


def save(axes: Any, file: Path) -> None:
    """Write the figure of some axes; the same run gives the same file."""
    axes.figure.savefig(file, metadata={"Date": None})


def qi_tu(folder: Path) -> None:
    """Figures 5 to 8: slings of the suspension structure, guys of the mast."""
    structure = simulate(Suspension().system(), times=np.linspace(0.0, 6.0, 2401))
    for number, label, unit, scale in ((5, "reaction sling", "tension [N]", 1.0), (6, "elongation", "Δl [mm]", 1e3)):
        cells = panels(3)
        for i, axes in enumerate(cells):
            cables.history(structure, f"{label} {i + 1}", ax=axes)
            _rescaled(axes, scale, f"sling {i + 1}\n{unit}")
        save(cells[0], folder / f"qt-figure-{number}.svg")
    save(cables.raster(structure, ax=panels(1, size=(7.0, 2.2))[0]), folder / "qt-slack.svg")
    for number, law in ((7, Bilateral()), (8, Taut())):
        start = (0.015, 0.0075, 0.0, 0.0)
        motion = simulate(Mast(law).system(), start=start, times=np.linspace(0.0, 20.0, 1001))
        cells = panels(3)
        for name, axes in zip(NAMES, cells, strict=True):
            cables.history(motion, f"tension {name}", ax=axes)
            _rescaled(axes, 1e-3, f"{name}\ntension [kN]")
        save(cells[0], folder / f"qt-figure-{number}.svg")


def _rescaled(axes: Any, scale: float, label: str) -> None:
    for line in axes.lines:
        line.set_ydata(scale * np.asarray(line.get_ydata()))
    axes.relim()
    axes.autoscale_view()
    axes.axhline(0.0, color="0.6", lw=0.6)
    axes.set_ylabel(label)
    axes.set_xlabel("t [s]")
    axes.label_outer()


def schwab(folder: Path) -> None:
    """The disk on the wavy road: its path, the contact forces, and the multipliers that vanish."""
    model = zoo.load("rolling-disk")
    motion = onesided.simulate(
        model.system, model.task.start, dict(model.task.motion.velocities), (0.0, 5.5), control=10.0,
        method=onesided.Projected(rtol=1e-11),
    )  # fmt: skip
    _road(motion, folder / "sw-disk.svg")
    top, bottom = panels(2)
    plots.history(motion, "multiplier road", "multiplier road.rolls", ax=top)
    top.axhline(0.0, color="0.6", lw=0.6)
    for line, label in zip(top.lines, ("normal force N", "friction F"), strict=False):
        line.set_label(label)
    top.legend()
    names = list(motion.bilateral)
    for k, name in enumerate(("road.t", "road.p")):
        values = np.abs(motion.mu[:, names.index(name)])
        bottom.semilogy(motion.t, np.maximum(values, 1e-17), ".", ms=3, color=COLOURS[k], label=f"|multiplier {name}|")
    bottom.set_xlabel("t")
    bottom.set_ylim(1e-17, 1.0)
    bottom.legend()
    save(top, folder / "sw-forces.svg")


def _road(motion: Any, file: Path) -> None:
    """The road, the path of the centre, and the disk at equal times, a spoke showing how it has turned."""
    axes = panels(1, size=(8.0, 3.0))[0]
    s, turn = np.linspace(-1.5, 11.5, 400), np.linspace(0.0, 2 * np.pi, 61)
    axes.plot(s, 0.5 * np.cos(2 * np.pi / 5 * s), color="0.3", lw=2.0)
    q, _ = motion.at(np.linspace(0.0, 5.5, 400))
    axes.plot(q[:, 0], q[:, 1], color=COLOURS[0], lw=1.0)
    for x, y, phi, _, contact in motion.at(np.linspace(0.0, 5.472, 9))[0]:
        axes.plot(x + RHO * np.cos(turn), y + RHO * np.sin(turn), color="0.5", lw=0.8)
        axes.plot([x, x + RHO * np.cos(phi)], [y, y + RHO * np.sin(phi)], color="0.5", lw=0.8)
        axes.plot(contact, 0.5 * np.cos(2 * np.pi / 5 * contact), "o", ms=4, color=COLOURS[1])
    axes.set_aspect("equal")
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    save(axes, file)


def arnold(folder: Path) -> None:
    """Joint forces of a stiff pendulum, the knife edge, and crank forces that are a choice."""
    _penalty(folder / "ar-penalty.svg")
    edge = zoo.load("knife-edge")
    motion = onesided.simulate(edge.system, edge.task.start, dict(edge.task.motion.velocities), (0.0, 5.0),
                               control=edge.task.p)  # fmt: skip
    axes = plots.history(motion, "x", x="y", ax=panels(1, size=(6.4, 2.6))[0])
    axes.set_xlabel("y, across the slope")
    axes.set_ylabel("x, down the slope")
    axes.invert_yaxis()
    save(axes, folder / "ar-knife-edge.svg")
    _cranks(folder / "ar-redundant.svg")


def _penalty(file: Path) -> None:
    pendulum = zoo.load("pendulum")
    system, start = pendulum.system, (np.array([np.sin(np.pi / 3), -np.cos(np.pi / 3)]), np.zeros(2))
    rigid = onesided.simulate(system, *start, (0.0, 1.0), control=pendulum.task.p)
    cells = panels(1, 2, size=(8.4, 3.2))
    for axes, ready in zip(cells, (False, True), strict=True):
        for k, eps in enumerate((0.04, 0.02)):
            soft = onesided.with_penalty(system, eps)
            begin = onesided.prepared(system, eps, *start, control=pendulum.task.p) if ready else start
            motion = onesided.simulate(soft, *begin, (0.0, 1.0), control=pendulum.task.p)
            t = np.linspace(0.0, 1.0, 800)
            q = motion.at(t)[0]
            gap = np.asarray([float(system.bilateral["rod"](row, pendulum.task.p, system.parameters)) for row in q])
            axes.plot(t, 2 * gap / eps**2, lw=0.9, color=COLOURS[k], label=f"ε = {eps:g}")
        fine = motion_dense(rigid, 400, ["t", "multiplier rod"]).columns
        axes.plot(fine["t"], -fine["multiplier rod"], color="0.1", lw=1.8, label="rigid")
        axes.set_title("prepared start" if ready else "start on the constraint")
        axes.set_xlabel("t")
        axes.legend()
    cells[0].set_ylabel("joint force λ")
    save(cells[0], file)


def _cranks(file: Path) -> None:
    platform = zoo.load("platform")
    rules = {
        "minimal norm": onesided.MinimalNorm(),
        "compliances 1, 4, 1": onesided.Compliances({"crank1": 1.0, "crank2": 4.0, "crank3": 1.0}),
        "compliances 1, 1, 100": onesided.Compliances({"crank1": 1.0, "crank2": 1.0, "crank3": 100.0}),
    }
    cells = panels(1, 3, size=(9.6, 3.0))
    for axes, (label, rule) in zip(cells, rules.items(), strict=True):
        motion = onesided.simulate(platform.system, platform.task.start, dict(platform.task.motion.velocities),
                                   (0.0, 1.0), control=platform.task.p, multipliers=rule)  # fmt: skip
        fine = motion_dense(motion, 400).columns
        for k, name in enumerate(motion.bilateral):
            axes.plot(fine["t"], -fine[f"multiplier {name}"], color=COLOURS[k], label=name)
        axes.set_title(label)
        axes.set_xlabel("t")
    cells[0].set_ylabel("multiplier")
    cells[0].legend()
    save(cells[0], file)
