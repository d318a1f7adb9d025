"""Event-driven integration: exact between switches for linear systems, of high order otherwise."""

from dataclasses import dataclass

import numpy as np

from onesided._types import Array
from onesided.complementarity_systems.cables import CableModes, CableStructure
from onesided.complementarity_systems.exact_run import Automaton, ExactRun
from onesided.complementarity_systems.linear import LinearComplementaritySystem
from onesided.complementarity_systems.linear_modes import LinearModes
from onesided.complementarity_systems.methods import Claim, MotionMethod, Positive, System
from onesided.complementarity_systems.smooth_run import SmoothRun
from onesided.tolerances import EPS, Tolerances

RTOL_LEAST = 100 * EPS  # what DOP853 accepts


@dataclass(frozen=True)
class EventDriven(MotionMethod):
    """Every switch is located to round-off; the modes in between are smooth.

    Linear systems are followed by the exponential of their matrix, inputs included. Where several pairs are at
    zero, right-hand derivatives decide, order by order.

    Attributes
    ----------
    max_switches : int
        Switches after which the run ends as `Status.enough`.
    rtol, atol : float
        Of the Runge–Kutta method DOP853, for nonlinear systems only; `atol` in the units of the state.
    """

    max_switches: int = 1_000_000
    rtol: float = 1e-13
    atol: float = 1e-15

    def __post_init__(self) -> None:
        for name in ("max_switches", "rtol", "atol"):
            Positive(name, getattr(self, name)).check()

    def run(self, system: System, x: Array, times: Array, tolerances: Tolerances) -> Claim:
        """Run to the last time."""
        if isinstance(system, LinearComplementaritySystem):
            return self._exact(system, LinearModes(system), x, times)
        if isinstance(system, CableStructure):
            return self._exact(system, CableModes(system), x, times)
        run = SmoothRun(system, times, max(self.rtol, RTOL_LEAST), self.atol, self.max_switches)
        status = run(x)
        done = len(run.out_x)
        return Claim(
            times[:done],
            np.array(run.out_x),
            np.array(run.out_s),
            run.first.astype(float),
            run.peak_s,
            run.peak_w,
            tuple(run.switches),
            status,
            run.note,
            {"steps": run.steps},
        )

    def _exact(
        self, system: LinearComplementaritySystem | CableStructure, automaton: Automaton, x: Array, times: Array
    ) -> Claim:
        record = ExactRun(automaton, times, self.max_switches)(system.augmented(float(times[0]), x))
        done, m = len(record.z), len(automaton.names)
        return Claim(
            times[:done],
            record.z[:, : len(x)],
            record.s,
            record.first_taut,
            record.peaks[:m],
            record.peaks[m:],
            record.switches,
            record.status,
            record.note,
            {"steps": record.steps},
        )
