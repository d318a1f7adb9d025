"""Accelerations, multipliers and consistent states: what every stepper asks of the equations of motion."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import norm as sparse_norm

from onesided.base.errors import ModelError
from onesided.base.tolerances import DEFAULT, EPS, Tolerances
from onesided.base.types import Array, Indices, Status
from onesided.dynamics.multipliers import MinimalNorm, Rule, not_unique, share, share_on
from onesided.evaluation.motion_terms import Terms
from onesided.linalg import DenseKKT, KKTFactor, KKTPattern, RankKKT, RowProducts, independent_rows
from onesided.system.equations import Equations

FRICTION_ROUNDS = 60
PROJECTIONS = 12


@dataclass(frozen=True, eq=False)
class MotionState:
    """One instant: configuration, velocity, acceleration, multipliers (m + k,), work done so far, power, inputs."""

    t: float
    q: Array
    v: Array
    a: Array
    mu: Array
    work: float = 0.0
    power: float = 0.0
    u: Array = field(default_factory=lambda: np.zeros(0))


class Accelerated(NamedTuple):
    """Accelerations and multipliers at a state, with what they were computed from."""

    a: Array
    mu: Array
    power: float
    terms: Terms
    factor: KKTFactor


@dataclass
class MotionSizes:
    """Typical sizes of coordinates and velocities, which grow with the motion.

    Coordinates may be counted from far away, and velocities of a system that starts at rest are guessed: errors of
    steps are compared with what was `seen`, the longest way from `home` and the largest velocity, or if that is more,
    with a length `least` and a small `share` of the guess. Explicit methods, whose errors have no noise of iterations,
    can do with a smaller length `close`. All but `q`, `v` and `home` are numbers in the `units` of coordinates. Speeds
    of contacts are compared with `fastest`, the largest velocity, times `lever`, what such a velocity makes of one.
    """

    q: Array
    v: Array
    home: Array
    least: float = np.inf
    close: float = np.inf
    share: float = 1.0
    seen: tuple[float, float] = (0.0, 0.0)
    units: Array | float = 1.0
    fastest: float = 0.0
    lever: float = 1.0

    @property
    def of_contacts(self) -> float:
        """The largest speed of contacts that is to be expected."""
        return self.lever * self.fastest

    @property
    def of_gaps(self) -> float:
        """The largest gap that is to be expected."""
        return self.lever * float(np.max(self.q / self.units, initial=0.0))

    def grow(self, q: Array, v: Array) -> None:
        """Take states into account, one or several."""
        farthest, fastest = (float(np.max(np.abs(x) / self.units, initial=0.0)) for x in (q - self.home, v))
        np.maximum(self.q, np.max(np.abs(np.atleast_2d(q)), axis=0), out=self.q)
        np.maximum(self.v, fastest * self.units, out=self.v)
        self.fastest = max(self.fastest, fastest)
        self.seen = (max(self.seen[0], farthest), max(self.seen[1], fastest))

    def of_errors(self, *, closely: bool = False) -> tuple[Array, Array]:
        """Sizes that errors of steps are compared with."""
        speeds = self.v if self.share == 1.0 else np.maximum(self.share * self.v, self.seen[1] * self.units)
        return np.minimum(self.q, max(self.close if closely else self.least, self.seen[0]) * self.units), speeds


@dataclass(frozen=True, eq=False)
class Settled:
    """A state moved onto the constraints, by how much, and how it went."""

    state: MotionState
    accelerated: Accelerated
    dq: Array
    dv: Array
    status: Status = Status.solved
    worst: str = ""


class Mechanics:
    """The equations of motion with a set of independent constraint rows, kept up to date.

    Dependent constraints are dropped from the linear systems (a joint stated twice changes nothing); their
    multipliers are found afterwards by `rule`. Where even the kept ones become dependent the solve goes by singular
    values.
    """

    def __init__(self, equations: Equations, rule: Rule | None = None, tolerances: Tolerances = DEFAULT) -> None:
        self.equations, self.tolerances = equations, tolerances
        self.rule = MinimalNorm() if rule is None else rule
        self.rule.weights(equations.names)  # refuses unknown names at once
        self.rows: Indices = np.arange(equations.rows)
        self.weights = np.ones(equations.rows)
        self.loose: tuple[int, ...] = ()
        self.sizes = MotionSizes(np.ones(equations.n), np.ones(equations.n), np.zeros(equations.n))
        self.rounded: Array = np.zeros(equations.m)  # residuals of positions that are round-off
        self.closest = 1.0  # smallest pivot met, relative to the one at the start
        self._reference = 0.0
        self._factorise: Any = None
        self._zero = np.zeros(equations.n)
        self.units = equations.system.units  # gradients are compared where lengths and angles are

    def prepare(self, t: float, q: Array, v: Array) -> None:
        """What can be found out at the start only."""
        self.equations.find_pattern(t, q, v)

    @property
    def words(self) -> str:
        """Remarks for the note of the result; empty unless a kind of mechanics has some."""
        return ""

    # linear algebra

    def choose_rows(self, terms: Terms) -> None:
        """Find independent constraints here, and which multipliers are not unique."""
        pattern, distance = self.equations.pattern, np.sqrt(self.tolerances.rank)
        if pattern is None:
            G, mass = terms.G, np.diagonal(terms.M)
            self.rows = independent_rows(G * self.units, rank=distance)
            self.loose = not_unique(G * self.units) if len(self.rows) < len(G) else ()
            norms = np.linalg.norm(G, axis=1)
        else:
            products = RowProducts(self._gradients(pattern, terms), distance)
            self.rows, norms = products.kept, sparse_norm(pattern.G.sparse(terms.G), axis=1)
            self.loose = products.loose if len(self.rows) < len(norms) else ()
            mass = pattern.M.entries(terms.M)[pattern.M.rows == pattern.M.columns]
        scale = float(np.mean(np.abs(mass))) or 1.0
        self.weights = scale / np.where(norms > 0, norms, 1.0)
        self._factorise = None if pattern is None else pattern.factoriser(self.rows, self.weights)
        self._reference = 0.0
        self._reference = self.factor(terms).pivot

    def _gradients(self, pattern: KKTPattern, terms: Terms) -> Any:
        """The sparse constraint gradients (rows, n) for coordinates in their units."""
        return pattern.G.sparse(terms.G) @ sparse.diags_array(self.units)

    def factor(self, terms: Terms) -> KKTFactor:
        """Factorise the KKT matrix of the kept rows; by singular values where it is singular."""
        if self._factorise is not None:
            found: KKTFactor = self._factorise(terms.M, terms.G)
        else:
            G = terms.G if len(self.rows) == len(terms.G) else terms.G[self.rows]
            found = DenseKKT(terms.M, G * self.weights[self.rows, None])
        if self._reference > 0.0:
            self.closest = min(self.closest, found.pivot / self._reference)
        if not found.pivot <= self.tolerances.rank * self._reference:
            return found  # regular, or not finite at all, which the result will show
        M, G = self.equations.matrices(terms)
        return RankKKT(M, G[self.rows] * self.weights[self.rows, None], rank=np.sqrt(self.tolerances.rank))

    @property
    def reference(self) -> float:
        """Smallest pivot where the rows were chosen."""
        return self._reference

    def closeness(self, factor: KKTFactor) -> float:
        """Smallest pivot relative to the one at the start: near zero at a singular configuration."""
        return factor.pivot / self._reference if self._reference > 0.0 else 1.0

    def independence(self, t: float, q: Array, v: Array) -> float:
        """Smallest singular value of the kept gradients, each of length one: zero where they are dependent."""
        if not len(self.rows):
            return 1.0
        terms, pattern = self.equations.terms(t, q, self._zero, v, np.zeros(self.equations.m)), self.equations.pattern
        if pattern is not None:
            return RowProducts(self._gradients(pattern, terms), self.tolerances.rank, self.rows).smallest
        kept = terms.G[self.rows] * self.units
        return float(np.linalg.svd(kept / np.linalg.norm(kept, axis=1)[:, None], compute_uv=False)[-1])

    def solve(self, factor: KKTFactor, f: Array, g: Array) -> tuple[Array, Array]:
        """Solve for x and multipliers with M x − Gᵀμ = f, G x = g on the kept rows; zero on the others."""
        weights = self.weights[self.rows]
        x, nu = factor.solve(f, g[self.rows] * weights)
        mu = np.zeros(self.equations.rows)
        mu[self.rows] = -nu * weights
        return x, mu

    def multipliers(self, terms: Terms, a: Array, mu: Array, inputs: Array | float = 0.0) -> Array:
        """The multipliers to report: as solved, or by the rule where they are not unique; `inputs` add to forces."""
        if len(self.rows) == self.equations.rows:
            return mu
        pattern, names = self.equations.pattern, self.equations.names
        if pattern is None:
            return share(self.rule, names, terms.G, terms.M @ a - terms.h - inputs)
        products = RowProducts(self._gradients(pattern, terms), self.tolerances.rank, self.rows)
        return share_on(self.rule, names, products.combinations, mu)

    # accelerations

    def accelerate(
        self, t: float, q: Array, delta: Array, v: Array, mu: Array, baumgarte: tuple[float, float] | None = None
    ) -> Accelerated:
        """Accelerations and multipliers at (t, q∘exp δ, v) [AR (2a), (3b)]; friction starts from the guess `mu`."""
        terms = self.equations.terms(t, q, delta, v, mu)
        factor = self.factor(terms)
        gamma = terms.gamma if baumgarte is None else self._stabilised(terms, *baumgarte)
        a, found = self.solve(factor, terms.h, -gamma)
        if self.equations.system.friction is not None:
            terms, a, found = self._with_friction(t, q, delta, v, (terms, factor, gamma, a, found))
        return Accelerated(a, found, terms.power + float(found @ terms.Gv), terms, factor)

    def _stabilised(self, terms: Terms, alpha: float, beta: float) -> Array:
        """γ with Baumgarte's terms: c̈ + 2α ċ + β² c = 0."""
        m = self.equations.m
        gamma = terms.gamma + 2.0 * alpha * terms.c_dot
        gamma[:m] += beta**2 * terms.c
        return gamma

    def _with_friction(
        self, t: float, q: Array, delta: Array, v: Array, first: tuple[Terms, KKTFactor, Array, Array, Array]
    ) -> tuple[Terms, Array, Array]:
        """Iterate on the multipliers that friction depends on; the share of redundant ones follows the rule."""
        terms, factor, gamma, a, mu = first
        for _ in range(FRICTION_ROUNDS):
            before = self.multipliers(terms, a, mu)
            terms = self.equations.terms(t, q, delta, v, before)
            a, mu = self.solve(factor, terms.h, -gamma)
            change = np.max(np.abs(self.multipliers(terms, a, mu) - before), initial=0.0)
            if change <= EPS * 8.0 * np.max(np.abs(before), initial=0.0):
                return terms, a, mu
        raise ModelError(
            "friction and joint forces do not settle on each other",
            got=f"multipliers still change by {change:.3g} at t = {t:.6g}",
            expected="friction coefficients at which forces are unique (no jamming)",
            advice="lower the coefficient, or model the clearance",
        )

    # consistent states

    def residuals(self, terms: Terms) -> tuple[float, float]:
        """Largest relative violation of positions and velocities, over all constraints, kept or not."""
        if not self.equations.rows:
            return 0.0, 0.0
        steep = np.maximum(np.abs(terms.G).sum(axis=1), EPS)
        c = np.maximum(np.abs(terms.c) - self.rounded, 0.0) / steep[: self.equations.m]
        c_dot = np.abs(terms.c_dot) / steep
        return float(c.max(initial=0.0) / self.sizes.q.max()), float(c_dot.max() / self.sizes.v.max())

    def settle(self, t: float, q: Array, v: Array, mu: Array) -> Settled:
        """Move a state onto the constraints in the metric of the mass, positions and velocities [AR (2b), (3a)].

        Where constraints that were thought to depend on the others are violated, the independent ones are chosen anew.
        """
        found = self._settle(t, q, v, mu)
        if found.status.ok or len(self.rows) == self.equations.rows:
            return found
        self.choose_rows(found.accelerated.terms)
        return self._settle(t, q, v, mu)

    def _settle(self, t: float, q: Array, v: Array, mu: Array) -> Settled:
        equations, target = self.equations, 0.01 * self.tolerances.residual
        dq, dv, zero = self._zero, self._zero, self._zero
        start_q, best = q, np.inf
        for _ in range(PROJECTIONS):
            now = self.accelerate(t, q, zero, v, mu)
            off = max(self.residuals(now.terms))
            if not np.isfinite(off) or off <= target or (off <= 100.0 * target and off >= 0.5 * best):
                break
            best = min(best, off)
            step, _ = self.solve(now.factor, zero, np.concatenate([-now.terms.c, np.zeros(equations.k)]))
            change, _ = self.solve(now.factor, zero, -now.terms.c_dot)
            q, v = equations.space.retract(q, step), v + change
            dv = dv + change
        dq = equations.space.local(start_q, q)
        state = MotionState(
            t, equations.space.wrap(q), v, now.a, self.multipliers(now.terms, now.a, now.mu), 0.0, now.power
        )
        good = off <= 100.0 * target
        return Settled(state, now, dq, dv, Status.solved if good else Status.infeasible, self._worst(now.terms))

    def _worst(self, terms: Terms) -> str:
        if not self.equations.rows:
            return ""
        values = np.concatenate([np.abs(terms.c), np.zeros(self.equations.k)]) + np.abs(terms.c_dot)
        i = int(np.argmax(values))
        return f"'{self.equations.names[i]}' is off by {values[i]:.3g}"
