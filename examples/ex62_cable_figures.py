"""The figures 5 to 8 of Qi and Tu, redrawn from our own runs.

You will see:
1. tensions and elongations of the three slings of the suspension structure (figures 5 and 6);
2. guys of the mast that push, if they are taken as two-sided springs (figure 7);
3. the same guys as cables: they go slack, never all three together (figure 8).

Run as `python examples/ex62_cable_figures.py [FOLDER]`; needs matplotlib.
"""

import sys
from pathlib import Path

import numpy as np

from onesided.complementarity_systems import simulate
from onesided.zoo.mast import NAMES, Bilateral, Mast, Taut
from onesided.zoo.suspension import Suspension

START = (0.015, 0.0075, 0.0, 0.0)  # the mast, pulled aside and let go

Series = dict[str, tuple[np.ndarray, np.ndarray]]  # name → times, values


def slings(until: float = 20.0) -> tuple[Series, Series]:
    """Tensions [N] and elongations [mm] of the slings."""
    model = Suspension()
    motion = simulate(model.system(), times=np.linspace(0.0, until, 4001))
    elongations = 1e3 * model.elongations(motion.x)
    return (
        {name: (motion.t, motion.s[:, i]) for i, name in enumerate(motion.names)},
        {name: (motion.t, elongations[:, i]) for i, name in enumerate(motion.names)},
    )


def guys(mast: Mast, until: float = 20.0) -> Series:
    """Tensions [kN] of the guys of the mast."""
    motion = simulate(mast.system(), start=START, times=np.linspace(0.0, until, 4001))
    tensions = mast.tensions(motion.x[:, :2]) / 1e3
    return {name: (motion.t, tensions[:, i]) for i, name in enumerate(NAMES)}


def draw(series: Series, label: str, file: Path) -> None:
    """One panel per cable, one below the other."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 1.9 * len(series)), layout="constrained")
    axes = figure.subplots(len(series), 1, sharex=True)
    for axis, (name, (t, values)) in zip(axes, series.items(), strict=True):
        axis.plot(t, values, linewidth=0.8)
        axis.axhline(0.0, color="0.6", linewidth=0.6)
        axis.set_ylabel(f"{name}\n{label}")
    axes[-1].set_xlabel("t [s]")
    figure.savefig(file, dpi=150)


def figures(folder: Path, until: float = 20.0) -> dict[str, Series]:
    """Draw all four; returns what is drawn."""
    folder.mkdir(parents=True, exist_ok=True)
    tensions, elongations = slings(until)
    drawn = {
        "figure5": (tensions, "tension [N]"),
        "figure6": (elongations, "elongation [mm]"),
        "figure7": (guys(Mast(Bilateral()), until), "tension [kN]"),
        "figure8": (guys(Mast(Taut()), until), "tension [kN]"),
    }
    for name, (series, label) in drawn.items():
        draw(series, label, folder / f"{name}.png")
    return {name: series for name, (series, _) in drawn.items()}


if __name__ == "__main__":
    place = Path(sys.argv[1] if len(sys.argv) > 1 else "cable-figures")
    for name, series in figures(place).items():
        low = ", ".join(f"{key} {values.min():.4g} to {values.max():.4g}" for key, (_, values) in series.items())
        print(f"{place / name}.png: {low}")
