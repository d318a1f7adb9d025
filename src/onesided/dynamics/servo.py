"""Motion under servo conditions: inputs by differentiation, states kept on the hidden constraints by projection."""

import numpy as np

from onesided._types import Array, Status
from onesided.dynamics.mechanics import PROJECTIONS, Accelerated, Mechanics, Settled, State
from onesided.model.servo import Inputs, ServoFunctions
from onesided.tolerances import EPS


class ServoMechanics(Mechanics):
    """Equations of motion whose inputs u are found so that the servo conditions hold."""

    functions: ServoFunctions

    def prepare(self, t: float, q: Array, v: Array) -> None:
        """Find out how often the conditions must be differentiated."""
        self.functions = ServoFunctions(self.equations, np.concatenate([[t], q, v]))

    @property
    def words(self) -> str:
        """The index found."""
        return f"servo conditions of index {self.functions.index}"

    def accelerate(
        self, t: float, q: Array, delta: Array, v: Array, mu: Array, baumgarte: tuple[float, float] | None = None
    ) -> Accelerated:
        """Accelerations under the inputs that keep the conditions."""
        terms = self.equations.terms(t, q, delta, v, mu)
        factor = self.factor(terms)
        found = self.functions.solve(t, terms.q, v)
        a, _ = self.solve(factor, terms.h + found.force, np.zeros(0))
        return Accelerated(a, mu, terms.power + float(found.force @ v), terms, factor)

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
        state = State(t, space.wrap(q), v, now.a, mu, 0.0, now.power, found.u)
        status = Status.solved if off <= 100.0 * target else Status.infeasible
        return Settled(state, now, space.local(first_q, q), v - first_v, status, f"servo conditions off by {off:.3g}")

    def _violation(self, found: Inputs, scale: Array) -> float:
        steep = np.maximum(np.abs(found.gradient) @ scale, EPS)
        return float(np.max(np.abs(found.hidden) / steep, initial=0.0))
