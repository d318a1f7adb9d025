"""Motion under servo conditions: inputs by differentiation, states kept on the hidden constraints by projection."""

import numpy as np

from onesided.base.tolerances import EPS
from onesided.base.types import Array, Status
from onesided.dynamics.mechanics import PROJECTIONS, Accelerated, Mechanics, MotionState, Settled
from onesided.evaluation.motion_terms import Terms
from onesided.system.servo_conditions import Inputs, ServoFunctions


class ServoMechanics(Mechanics):
    """Equations of motion whose inputs u are found so that the servo conditions hold."""

    functions: ServoFunctions
    _start: Array

    def prepare(self, t: float, q: Array, v: Array) -> None:
        """Remember where to find out how often the conditions must be differentiated."""
        self._start = np.concatenate([[t], q, v])

    def choose_rows(self, terms: Terms) -> None:
        """Find independent constraints here; the conditions are differentiated along motions that keep them."""
        super().choose_rows(terms)
        known = getattr(self, "functions", None)
        if known is None or not np.array_equal(known.rows, self.rows):
            self.functions = ServoFunctions(self.equations, self._start, self.rows)

    @property
    def words(self) -> str:
        """The index of the servo conditions: how often they are differentiated to give the inputs."""
        return f"servo conditions of index {self.functions.index}"

    def accelerate(
        self, t: float, q: Array, delta: Array, v: Array, mu: Array, baumgarte: tuple[float, float] | None = None
    ) -> Accelerated:
        """Accelerations under the inputs that keep the conditions."""
        terms = self.equations.terms(t, q, delta, v, mu)
        factor = self.factor(terms)
        found = self.functions.solve(t, terms.q, v)
        a, mu = self.solve(factor, terms.h + found.force, -terms.gamma)
        power = terms.power + float(found.force @ v) + float(mu @ terms.Gv)
        return Accelerated(a, mu, power, terms, factor)

    def _settle(self, t: float, q: Array, v: Array, mu: Array) -> Settled:
        """The nearest state on the hidden constraints, in units of the sizes of positions and velocities."""
        space, n, first_q, first_v = self.equations.space, self.equations.n, q, v
        scale, target, best = np.concatenate([self.sizes.q, self.sizes.v]), 0.01 * self.tolerances.residual, np.inf
        for _ in range(PROJECTIONS):
            found = self.functions.solve(t, q, v)
            off = self._violation(found, scale)
            if not np.isfinite(off) or off <= target or (off <= 100.0 * target and off >= 0.5 * best):
                break
            best = min(best, off)
            step = -scale * np.linalg.lstsq(found.gradient * scale, found.hidden, rcond=None)[0]
            q, v = space.retract(q, step[:n]), v + step[n:]
        now = self.accelerate(t, q, np.zeros(n), v, mu)
        shared = self.multipliers(now.terms, now.a, now.mu, found.force)
        state = MotionState(t, space.wrap(q), v, now.a, shared, 0.0, now.power, found.u)
        status = Status.solved if off <= 100.0 * target else Status.infeasible
        words = f"servo conditions and joints off by {off:.3g}"
        return Settled(state, now, space.local(first_q, q), v - first_v, status, words)

    def _violation(self, found: Inputs, scale: Array) -> float:
        steep = np.maximum(np.abs(found.gradient) @ scale, EPS)
        return float(np.max(np.abs(found.hidden) / steep, initial=0.0))
