"""What the commands for cable structures do: simulate, save, print."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.base.interrupt import Interrupt
from onesided.cli.exits import exit_code
from onesided.cli.live_progress import json_line, progress
from onesided.cli.work import results_folder
from onesided.complementarity_systems import (
    FrozenModes,
    LocatedSwitches,
    PrintedNetwork,
    SwitchingMethod,
    TimeStepping,
    simulate,
)
from onesided.results import ComplementarityMotion, save
from onesided.zoo.mast import NAMES, Bilateral, Catenary, GuyLaw, Mast, Taut, Wind
from onesided.zoo.suspension import Suspension


@dataclass(frozen=True)
class Run:
    """How a command follows a motion, and what it prints.

    Attributes
    ----------
    interrupt : notices Ctrl-C;  method : its name;  step : of methods that have one;  until : last time.
    output : folder, or None for the default;  show : how many switches to print;  as_json, quiet : as on the command
        line.
    """

    interrupt: Interrupt
    method: str
    step: float
    until: float
    output: Path | None
    show: int
    as_json: bool
    quiet: bool

    def suspension(self, slings: int, stiffness: float, stretch: float, damping: float, load: float) -> int:
        """A beam hung by slings; returns the exit code."""
        folder = self._folder("suspension")
        found = self._simulate(Suspension(slings, stiffness, stretch, damping, load).system())
        return self._finish(found, found.peak_s, found.names, folder)

    def mast(self, law: str, aside: tuple[float, float], wind: float, frequency: float | None) -> int:
        """A guyed mast in the wind; returns the exit code."""
        folder, model = self._folder("mast"), Mast(_law(law), Wind(wind, frequency=frequency))
        found = self._simulate(model.system(), (*aside, 0.0, 0.0))
        tensions = model.tensions(found.x[:, :2])
        top = found.peak_s if found.names else tensions.max(axis=0)
        return self._finish(found, top, NAMES, folder, low=tensions.min(axis=0))

    def _folder(self, name: str) -> Path:
        return results_folder(self.output, Path(name), "motion")

    def _simulate(self, system: Any, start: Any = None) -> ComplementarityMotion:
        times = (0.0, self.until)
        bar = progress(self.interrupt.pressed, "t", times, quiet=self.quiet, as_json=self.as_json)
        return simulate(system, _method(self.method, self.step), start, times=times, progress=bar, throw=False)

    def _finish(self, found: ComplementarityMotion, top: Any, names: Any, folder: Path, low: Any = None) -> int:
        """Save, print the switches and one line per cable."""
        place = str(save(found, folder))
        rows = []
        for i, name in enumerate(names):
            row = {"cable": name, "largest_tension": float(top[i])}
            if low is not None:
                row["smallest_tension"] = float(low[i])
            if name in found.names:
                row |= {"goes_slack": found.slackenings(name), "slack_time": found.slack_time(name)}
            rows.append(row)
        if self.as_json:
            self._json(found, rows, place)
        else:
            _print(found, rows, self.show, place)
        return exit_code(found.status)

    def _json(self, found: ComplementarityMotion, rows: list[dict[str, Any]], place: str) -> None:
        for row in rows:
            json_line({"kind": "cable", **row})
        for switch in found.switches[: self.show]:
            json_line({"kind": "event", "switch": {**switch._asdict(), "words": switch.words()}})
        facts = {"residual": found.residual, "defect": found.defect, "folder": place}
        json_line({"kind": "result", "status": found.status.name, "note": found.note, **facts})


def _method(name: str, step: float) -> SwitchingMethod:
    if name == "events":
        return LocatedSwitches()
    if name == "stepping":
        return TimeStepping(step)
    return FrozenModes(step) if name == "explicit" else FrozenModes(step, PrintedNetwork())


def _law(name: str) -> GuyLaw:
    laws: dict[str, GuyLaw] = {"taut": Taut(), "catenary": Catenary(), "bilateral": Bilateral()}
    return laws.get(name, Catenary(printed=True))


def _print(found: ComplementarityMotion, rows: list[dict[str, Any]], show: int, place: str) -> None:
    lines = [f"{number:3d}  {switch.words()}" for number, switch in enumerate(found.switches[:show], 1)]
    if len(found.switches) > show:
        lines.append(f"     … {len(found.switches) - show} more switches")
    for row in rows:
        text = f"{row['cable']:9} largest tension {row['largest_tension']:.6g} N"
        if "smallest_tension" in row:
            text += f", smallest {row['smallest_tension']:.6g} N"
        if "goes_slack" in row:
            text += f", goes slack {row['goes_slack']} times, {row['slack_time']:.6g} s in all"
        lines.append(text)
    if not found.ok:
        lines.append(f"{found.status.value}: {found.note}")
    trust = f"largest relative residual {found.residual:.1e}, {found.defect:.1e} of ẋ unexplained"
    lines.append(f"t from {found.t[0]:g} to {found.t[-1]:g}; rechecked, {trust}")
    lines.append(f"results in {place}")
    sys.stdout.write("\n".join(lines) + "\n")
