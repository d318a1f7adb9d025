"""Event-driven integration: exact between switches for linear systems, of high order otherwise."""

from dataclasses import dataclass
from typing import ClassVar

from onesided.base.tolerances import EPS, Tolerances
from onesided.base.types import Array
from onesided.dynamics.switching.cable_structures import CableModes
from onesided.dynamics.switching.exact_run import Automaton, ExactRun
from onesided.dynamics.switching.linear import LinearComplementaritySystem
from onesided.dynamics.switching.linear_modes import LinearModes
from onesided.dynamics.switching.recheck import System
from onesided.dynamics.switching.runs import LinearRun, Positive
from onesided.dynamics.switching.slackness import SlacknessSystem
from onesided.dynamics.switching.smooth_run import SmoothRun
from onesided.dynamics.switching.switching_motion import SwitchingMethod

RTOL_LEAST = 100 * EPS  # what DOP853 accepts


@dataclass(frozen=True)
class LocatedSwitches(SwitchingMethod):
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
    fixed_step: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("max_switches", "rtol", "atol"):
            Positive(name, getattr(self, name)).check()

    def start(self, system: System, x: Array, times: Array, tolerances: Tolerances) -> LinearRun:
        """A run to the last time."""
        if isinstance(system, SlacknessSystem):
            return SmoothRun(system, times, max(self.rtol, RTOL_LEAST), self.atol, self.max_switches, x)
        linear = isinstance(system, LinearComplementaritySystem)
        automaton: Automaton = LinearModes(system) if linear else CableModes(system)  # type: ignore[arg-type]
        return ExactRun(automaton, times, self.max_switches, system.augmented(float(times[0]), x), len(x))
