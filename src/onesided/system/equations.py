"""The equations of motion of one system under one control p(t), as a solver sees them: NumPy in, NumPy out.

Steppers know nothing else of a model: `terms` (all that is linear in accelerations and multipliers), `balance`,
`stages` and `jacobian` (residuals of the stabilised form and their derivatives), `check` (for rechecking a result).
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError, UsageError
from onesided.base.types import Array
from onesided.evaluation.motion_functions import SPARSE_FROM, MotionFunctions
from onesided.evaluation.motion_terms import Check, Control, Terms
from onesided.linalg import KKTPattern, Pattern
from onesided.system.held import Held, Sampled
from onesided.system.system import System

PROBES = 3
CHUNK = 64  # columns evaluated together when entries are looked for


class Equations:
    """Equations of motion of a system.

    Parameters
    ----------
    system : with `mass` or `kinetic`.
    control : the control parameter during motion: a number, a function of time in `jax.numpy`, or `Sampled`.
    held : whether forces are held between samples.
    """

    def __init__(self, system: System, control: float | Control | Sampled = 0.0, *, held: bool = False) -> None:
        if system.kinetic is None and system.mass is None:
            raise ModelError(
                "the system has no mass", expected="`mass=` or `kinetic=`", advice="mass=lambda q, th: jnp.diag(…)"
            )
        self.system, self.space = system, system.motion.space
        self.n, self.m, self.k = system.n, len(system.bilateral), len(system.nonholonomic)
        self.names = (*system.bilateral, *system.nonholonomic)
        self.functions: MotionFunctions = system.motion
        self.control = control if callable(control) else None
        self.held = Held(self.n) if held or isinstance(control, Sampled) else None
        self._p = 0.0 if callable(control) or isinstance(control, Sampled) else float(control)
        self._p_held = isinstance(control, Sampled)
        self._check_control(control)
        self.parameters = self.functions.constants(system)
        self.gap_terms = np.zeros(len(system.unilateral))  # sizes of the numbers in each gap, where looked for
        self._seeds: Any = None
        self._directions: Any = None
        self.pattern: KKTPattern | None = None
        self.jacobian_pattern: Pattern | None = None
        self._cuts = np.cumsum([self.n, self.n, self.n, self.m, self.rows, self.rows, self.rows, 1])

    @property
    def p(self) -> float:
        """The control parameter where it does not depend on time; of a sampled one, the value that is held."""
        return self.held.p if self._p_held and self.held is not None else self._p

    @property
    def rows(self) -> int:
        """Number of constraints: holonomic, then non-holonomic."""
        return self.m + self.k

    @property
    def conservative(self) -> bool:
        """Whether energy cannot change: no forces beside the potential, nothing moved from outside, no rolling."""
        system = self.system
        free = system.force is None and system.friction is None and not system.nonholonomic
        return free and self.control is None and self.held is None

    def _check_control(self, control: Any) -> None:
        if not callable(control):
            if not np.isfinite(self.p):
                raise UsageError("the control is not finite", got=repr(control), expected="a number or a function of t")
            return
        try:
            value = np.asarray(self.functions.control(control, jnp.asarray(0.0), jnp.asarray(0.0))[0])
        except (TypeError, ValueError, AttributeError) as e:
            raise UsageError(
                "the control cannot be evaluated", got=f"{type(e).__name__}: {e}", expected="p(t) in jax.numpy"
            ) from e
        if value.shape != ():
            raise UsageError("the control returned an array", got=f"shape {value.shape}", expected="one number p(t)")

    def find_pattern(self, t: float, q: Array, v: Array) -> None:
        """For large systems: find out where the matrices have entries, by evaluating them at a few points nearby."""
        if self.n + self.rows <= SPARSE_FROM or self.pattern is not None:
            return
        points = [(t, q, *rest, np.zeros(self.m)) for rest in self._nearby(q, v)]

        def both(point: Any, seeds: Any) -> Array:
            found = self._terms_along(point, (seeds, seeds))
            return np.vstack([found.M, found.G])

        whole, own = _find(both, points, (self.n + self.rows, self.n)), np.arange(self.n)
        low = whole.rows >= self.n
        places = np.unique(np.r_[own * self.n + own, (whole.rows * self.n + whole.columns)[~low]])
        pattern = KKTPattern(
            Pattern(places // self.n, places % self.n, (self.n, self.n)),
            Pattern(whole.rows[low] - self.n, whole.columns[low], (self.rows, self.n)),
        )
        if pattern.M.count + pattern.G.count < self.n:
            self.pattern = pattern
            self._seeds = tuple(jnp.asarray(seeds) for seeds in pattern.seeds)

    def find_jacobian(self, t: float, q: Array, v: Array) -> None:
        """The same for the derivatives that implicit methods need."""
        if self._directions is not None:
            return
        columns = 3 * self.n + self.rows
        self._directions = jnp.eye(columns)
        if self.pattern is None:
            return
        rng = np.random.default_rng(1)
        points = [
            np.concatenate(
                [(t, self.p), q, delta, u, u, rng.normal(size=self.n), rng.normal(size=self.rows), np.zeros(self.m)]
            )
            for delta, u in self._nearby(q, v)
        ]
        self.jacobian_pattern = _find(self._jacobian_along, points, (self.n + self.m + self.rows, columns))
        self._directions = jnp.asarray(self.jacobian_pattern.seeds)

    def _nearby(self, q: Array, v: Array) -> list[tuple[Array, Array]]:
        """Changes of configuration and velocities of a few points about a state."""
        rng, size = np.random.default_rng(0), 1.0 + float(np.max(np.abs(q)))
        return [(size * rng.uniform(-0.5, 0.5, self.n), v + rng.uniform(-0.5, 0.5, self.n)) for _ in range(PROBES)]

    def terms(self, t: float, q: Array, delta: Array, v: Array, mu: Array) -> Terms:
        """Everything linear in (a, μ) at (t, q∘exp δ, v); `mu` (m,) matters to friction only."""
        return self._terms_along((t, q, delta, v, mu), self._seeds)

    def _terms_along(self, point: tuple[Any, ...], seeds: Any) -> Terms:
        t, q, delta, v, mu = point
        x = np.concatenate([(t, self.p), q, delta, v, mu[: self.m]])
        if seeds is None and self.functions.tiny:
            return self._with_held(self._unpacked(self._several([x])[0], None), v)
        out = np.asarray(self.functions.terms(x, self.parameters, self.control, seeds))
        return self._with_held(self._unpacked(out, seeds), v)

    def _several(self, points: Sequence[Array]) -> Array:
        """All terms at some points in one call."""
        return self.functions.terms_along(np.array(points), self.parameters, self.control)

    def _with_held(self, terms: Terms, v: Array) -> Terms:
        """The terms with forces that are held between samples; each array may have a leading axis."""
        if self.held is None:
            return terms
        power = v @ self.held.force
        more: Any = float(power) if power.ndim == 0 else power[:, None]
        return terms._replace(h=terms.h + self.held.force, power=terms.power + more)

    def stepped(self, late: float, t: float, q: Array, delta: Array, v: Array, mu: Array) -> tuple[Array, Terms]:
        """Holonomic residuals at (t, q), and the terms at (t + late, q∘exp δ, v): for a time step."""
        return self.spanned((t, np.zeros(self.n)), t + late, q, delta, v, mu)

    def spanned(
        self, end: tuple[float, Array], t: float, q: Array, delta: Array, v: Array, mu: Array
    ) -> tuple[Array, Terms]:
        """Holonomic residuals at one end (t₁, q∘exp δ₁) of a step, and the terms at (t, q∘exp δ, v) within it."""
        if self._seeds is None and self.functions.tiny:
            other, inner = (np.concatenate([(s, self.p), q, d, v, mu[: self.m]]) for s, d in (end, (t, delta)))
            at_end, out = self._several([other, inner])[:2]
            return at_end[self._cuts[2] : self._cuts[3]], self._with_held(self._unpacked(out, None), v)
        x = np.concatenate([(end[0], self.p), q, end[1]])
        found = np.asarray(self.functions.residuals(x, self.parameters, self.control))
        return found, self.terms(t, q, delta, v, mu)

    def pushes(self, t: float, q: Array, delta: Array, v: Array, mu: Array) -> tuple[Array, Array, Array]:
        """The force h (n,) at (t, q∘exp δ, v), its derivatives by configuration and by velocity, (n, n) each."""
        x = np.concatenate([(t, self.p), q, delta, v, mu[: self.m]])
        out = np.asarray(self.functions.pushes(x, self.parameters, self.control))
        push = out[:, 0] if self.held is None else out[:, 0] + self.held.force
        return push, out[:, 1 : 1 + self.n], out[:, 1 + self.n :]

    def _unpacked(self, out: Array, seeds: Any) -> Terms:
        a, b, c, d, e, f, g, last = self._cuts
        columns = self.n if seeds is None else seeds[0].shape[1]
        end = last + self.n * columns
        return Terms(
            out[:a],
            out[a:b],
            out[b:c],
            out[c:d],
            out[d:e],
            out[e:f],
            out[f:g],
            float(out[g]),
            out[last:end].reshape(self.n, columns),
            out[end:].reshape(self.rows, self.n if seeds is None else seeds[1].shape[1]),
        )

    def matrices(self, terms: Terms) -> tuple[Array, Array]:
        """M and G as dense matrices."""
        pattern = self.pattern
        return (terms.M, terms.G) if pattern is None else (pattern.M.dense(terms.M), pattern.G.dense(terms.G))

    def balance(self, x: Array) -> Array:
        """Residual of the stabilised form at x = (t, p, q, δ, δ̇, v, v̇, μ, η): (2n + 2m + k,)."""
        return self._less_held(np.array(self.functions.balance(x, self.parameters, self.control)))

    def _less_held(self, residual: Array) -> Array:
        """Residuals of the stabilised form with forces that are held between samples."""
        if self.held is not None:
            residual[..., self.n : 2 * self.n] -= self.held.force
        return residual

    def stages(self, x: Array) -> Array:
        """The same at several points at once, one per row."""
        return self._less_held(np.array(self.functions.stages(x, self.parameters, self.control)))

    def jacobian(self, x: Array) -> Array:
        """Derivatives of force balance, positions, velocity level by (δ, v, v̇, μ); compressed where there is a pattern.

        `find_jacobian` comes first.
        """
        return self._jacobian_along(x, self._directions)

    def _jacobian_along(self, x: Array, seeds: Any) -> Array:
        return np.asarray(self.functions.jacobian(x, self.parameters, self.control, seeds))

    def check(self, t: Array, q: Array, v: Array, a: Array, mu: Array) -> Check:
        """Energies, residuals and gaps at many points, straight from the model."""
        p, force = (np.full(len(t), self.p), np.zeros_like(q)) if self.held is None else self.held.at(t)
        p = p if self._p_held else np.full(len(t), self.p)
        x = np.column_stack([t, p, q, v, a, mu])
        out = self._checked(x)
        cuts = np.cumsum([1, 1, 1, 1, self.n, self.m, self.rows, self.rows])
        energy, kinetic, power, forces, balance, c, c_dot, c_ddot, gaps = np.split(out, cuts, axis=1)
        power = power[:, 0] + np.sum(force * v, axis=1)
        forces = np.maximum(forces[:, 0], np.max(np.abs(force), axis=1))
        return Check(energy[:, 0], kinetic[:, 0], power, forces, balance - force, c, c_dot, c_ddot, gaps)

    def _checked(self, x: Array) -> Array:
        return self.functions.check(x, self.parameters, self.control)

    def energy(self, t: float, q: Array, v: Array) -> float:
        """Kinetic and potential energy now."""
        x = np.concatenate([(t, self.p), q, v, np.zeros(self.n + self.rows + len(self.system.servo))])
        return float(self._checked(x[None])[0, 0])

    def control_at(self, t: float) -> float:
        """The control parameter at a time: a number, the function of time, or the value held."""
        if self._p_held and self.held is not None:
            return float(self.held.at(np.array([t]))[0][0])
        return self.p if self.control is None else float(self.control(t))

    def control_along(self, times: Array) -> tuple[Array, Array]:
        """Values p(t) and their rates at many times: (N,) each."""
        p = np.array([self.control_at(t) for t in times])
        if self.control is None:
            return p, np.zeros_like(p)
        none = np.zeros(self.n)
        return p, self.forcing_along(times, none, none)[:, -2]

    def gaps(self, t: float, q: Array) -> Array:
        """Gaps of the unilateral constraints."""
        if not self.system.unilateral:
            return np.zeros(0)
        return np.asarray(self.functions.gaps_at(q, self.control_at(t), self.parameters))

    def gaps_along(self, t: Array, q: Array) -> Array:
        """Gaps at many times: (N, gaps)."""
        if not self.system.unilateral:
            return np.zeros((len(t), 0))
        x = np.column_stack([t, np.full(len(t), self.p), q])
        return self.functions.gaps_along(x, self.parameters, self.control)

    @property
    def forced(self) -> bool:
        """Whether something acts from outside that changes with time."""
        return self.control is not None or self.functions.depends_on_time

    def forcing_along(self, t: Array, q: Array, v: Array) -> Array:
        """What acts from outside on one state at many times: (N, forces and p with two derivatives)."""
        x = np.column_stack([t, np.full(len(t), self.p), np.tile(q, (len(t), 1)), np.tile(v, (len(t), 1))])
        return self.functions.forcing_along(x, self.parameters, self.control)

    def gap_slopes(self, t: float, q: Array, directions: Array) -> Array:
        """Derivatives of the gaps along directions (n, d): (gaps, d)."""
        if not self.system.unilateral:
            return np.zeros((0, directions.shape[1]))
        x = np.concatenate([(t, self.p), q])
        return np.asarray(self.functions.gap_slopes(x, self.parameters, self.control, directions))

    def terms_along(self, t: Array, q: Array, v: Array) -> Terms:
        """`terms` at many times, each array with a leading axis; for small systems."""
        none = np.zeros((len(t), self.m))
        x = np.column_stack([t, np.full(len(t), self.p), q, 0.0 * q, v, none])
        out = self.functions.terms_along(x, self.parameters, self.control)
        *vectors, rest = np.split(out, self._cuts, axis=1)
        M, G = rest[:, : self.n**2], rest[:, self.n**2 :]
        found = Terms(*vectors, M.reshape(-1, self.n, self.n), G.reshape(-1, self.rows, self.n))  # type: ignore
        return self._with_held(found, v)


def _find(evaluate: Callable[[Any, Any], Array], points: list[Any], shape: tuple[int, int]) -> Pattern:
    """Where a matrix has entries at any of the points, a few columns at a time; `evaluate` gives it times the seeds."""
    places = []
    for first in range(0, shape[1], CHUNK):
        seeds = jnp.asarray(np.eye(shape[1], CHUNK, -first))
        some = np.any([~(evaluate(point, seeds) == 0.0) for point in points], axis=0)
        i, j = np.nonzero(some[:, : shape[1] - first])
        places.append(i * shape[1] + first + j)
    found = np.unique(np.concatenate(places))
    return Pattern(found // shape[1], found % shape[1], shape)
