"""Whether contact points are what they should be: on regular outlines, locally closest, and closest of all.

With the signed distance D(s_B) of a point of the second outline from the first one, the followed points are closest in
their neighbourhood if D″ > 0: in the plane the difference of the curvatures, in space the least one over all
directions. It vanishes for conformal contact, where the matrix of [SW (15)] is singular.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import EPS, HALF_DIGITS, QUARTER_DIGITS
from onesided.base.types import Array, Mask
from onesided.evaluation.compiling import compiled
from onesided.evaluation.jax_process import prepare_jax
from onesided.evaluation.user_functions import Parameters
from onesided.system.surface_geometry import PairGeometry, SurfacePair

CHUNK = 64  # configurations in one compiled call
SAMPLES = {1: 48, 2: 10}  # places along each parameter
FLAT = 0.001  # a curvature below this share of the largest one is conformal contact
THIN = QUARTER_DIGITS  # a tangent below this share of the longest one vanishes
NEWTON = 12


class ContactPoints(NamedTuple):
    """Quantities at K contact points.

    `gap`, `tangent` (shortest of both outlines), `curvature` (D″, least over all directions): (K,); `sides` (K, 2k) the
    conditions (c_t, c_p), `J` (K, 2k, 2k) their derivatives with respect to the parameters.
    """

    gap: Array
    sides: Array
    J: Array
    tangent: Array
    curvature: Array


@dataclass(frozen=True, eq=False)
class Window:
    """Where other closest points are looked for: low and high end of each parameter relative to the followed one."""

    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class SurfaceWatch:
    """Looks after the contact points of pairs on the first `n` coordinates of a system.

    `inner` watches the pairs that the system had before.
    """

    pairs: Mapping[str, SurfacePair]
    n: int
    inner: "SurfaceWatch | None" = None
    _compiled: dict[Any, Any] = field(default_factory=dict, repr=False)

    def all_pairs(self) -> list[tuple["SurfaceWatch", str]]:
        """Every pair with the watch it belongs to."""
        return [*(self.inner.all_pairs() if self.inner else ()), *((self, name) for name in self.pairs)]

    @cached_property
    def offsets(self) -> dict[str, int]:
        """Where the parameters of each pair stand among the coordinates."""
        places, at = {}, self.n
        for name, pair in self.pairs.items():
            places[name], at = at, at + len(pair.start)
        return places

    def parameters_of(self, name: str, x: Array) -> Array:
        """Parameters of a pair out of coordinates (…, all)."""
        return x[..., self.offsets[name] : self.offsets[name] + len(self.pairs[name].start)]

    def local(self, name: str, q: Array, s: Array, th: Mapping[str, float]) -> ContactPoints:
        """Quantities at configurations q (K, n or more) and parameters s (K, 2k)."""
        numbers, count = jnp.asarray(list(th.values()), dtype=jnp.float64), len(q)
        function, parts = self._function(name, tuple(th)), []
        for first in range(0, count, CHUNK):
            rows = np.minimum(np.arange(first, first + CHUNK), count - 1)
            parts.append([np.asarray(a) for a in function(q[rows, : self.n], s[rows], numbers)])
        gap, sides, J, t_a, t_b = (np.concatenate(a)[:count] for a in zip(*parts, strict=True))
        bend = _edge_curvature(J, t_a) if self.pairs[name].edge else _curvature(J, t_b)
        return ContactPoints(gap, sides, J, np.minimum(_thinnest(t_a), _thinnest(t_b)), bend)

    def _function(self, name: str, names: tuple[str, ...]) -> Any:
        """Compiled: q, s, th → gap, sides, J, tangents; for CHUNK configurations."""
        key = (name, names)
        if key not in self._compiled:
            prepare_jax()
            geometry = PairGeometry(self.pairs[name], self.n)
            k = geometry.k  # of the first outline

            def one(q: Any, s: Any, numbers: Any) -> Any:
                th = Parameters(zip(names, numbers, strict=True))
                gap, sides = geometry.conditions(q, s[:k], s[k:], th)
                J = jax.jacfwd(lambda r: geometry.conditions(q, r[:k], r[k:], th)[1])(s)
                tangents = [
                    geometry.tangents(f, q, r, th)
                    for f, r in ((geometry.pair.first, s[:k]), (geometry.pair.second, s[k:]))
                ]
                return gap, sides, J, *tangents

            self._compiled[key] = compiled(jax.vmap(one, in_axes=(0, 0, None)))
        return self._compiled[key]

    def outline(self, name: str, side: int, q: Array, s: Array, th: Mapping[str, float]) -> Array:
        """Points (K, S, 2 or 3) of an outline (0 or 1) at configurations q (K, n), parameters s (K, S, k)."""
        key = (name, side, tuple(th))
        if key not in self._compiled:
            prepare_jax()
            geometry = PairGeometry(self.pairs[name], self.n)
            shape = (geometry.pair.first, geometry.pair.second)[side]

            def one(place: Any, r: Any, numbers: Any) -> Any:
                return geometry._at(shape, place, r, Parameters(zip(th, numbers, strict=True)))

            self._compiled[key] = compiled(jax.vmap(jax.vmap(one, (None, 0, None)), (0, 0, None)))
        numbers = jnp.asarray(list(th.values()), dtype=jnp.float64)
        return np.asarray(self._compiled[key](q[:, : self.n], s, numbers))

    def check_regular(self, x: Array, th: Mapping[str, float]) -> None:
        """Refuse outlines without a tangent at a start x."""
        for watch, name in self.all_pairs():
            s = watch.parameters_of(name, x)
            size = float(watch.local(name, x[None], s[None], th).tangent[0])
            if not size > HALF_DIGITS:
                raise ModelError(
                    f"an outline of '{name}' is not regular at s = {s}",
                    got=f"a tangent of length {size:.3g}",
                    expected="a curve or surface with tangents that do not vanish",
                    advice="another parametrisation (arclength, an angle)",
                )

    def check(self, x: Array, th: Mapping[str, float]) -> None:
        """Refuse contact points that are no good at a consistent start x."""
        self.check_regular(x, th)
        for watch, name in self.all_pairs():
            _check_curvature(name, watch.local(name, x[None], watch.parameters_of(name, x)[None], th))


def _check_curvature(name: str, found: ContactPoints) -> None:
    sizes = np.linalg.norm(found.J[0], axis=1)
    flat = abs(np.linalg.det(found.J[0]) / np.prod(np.where(sizes > 0, sizes, 1.0))) < HALF_DIGITS
    if flat:
        raise ModelError(
            f"the outlines of '{name}' are conformal: their curvatures agree, no single pair of points is closest",
            got="a singular matrix of the contact parameters",
            expected="curvatures that differ",
            advice="change a radius a little, or describe the contact by several points",
        )
    if found.curvature[0] < 0:
        raise ModelError(
            f"the outlines of '{name}' press into each other beside the contact points",
            got=f"curvatures that differ by {found.curvature[0]:.4g}",
            expected="points that are the closest ones in their neighbourhood",
            advice="check that the first outline's normal points into its body, or take a smaller radius",
        )


def _thinnest(tangents: Array) -> Array:
    """Smallest singular value of the tangents (K, k, 2 or 3): zero where an outline is not regular."""
    return np.asarray(np.linalg.svd(tangents, compute_uv=False)[..., -1])


def _curvature(J: Array, t_b: Array) -> Array:
    """Least D″ over all directions, per length: minus the Schur complement of c_t in J, in the metric of t_B."""
    k = J.shape[1] // 2
    metric = t_b @ t_b.transpose(0, 2, 1)
    if k == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = J[:, 1, 0] * J[:, 0, 1] / J[:, 0, 0] - J[:, 1, 1]
            return np.nan_to_num(bend / metric[:, 0, 0], posinf=0.0, neginf=0.0)
    return np.array([_least(matrix, g) for matrix, g in zip(J, metric, strict=True)])


def _edge_curvature(J: Array, t_a: Array) -> Array:
    """Second derivative along the edge of its distance from the surface, per length."""
    size = (t_a[:, 0] ** 2).sum(axis=1)
    found = [m[2, 0] - m[2, 1:] @ _solved(m[:2, 1:], m[:2, 0]) for m in J]
    return np.asarray(found / size)


def _least(J: Array, metric: Array) -> float:
    try:
        bend = J[2:, :2] @ np.linalg.solve(J[:2, :2], J[:2, 2:]) - J[2:, 2:]
        root = np.linalg.inv(np.linalg.cholesky(metric))
        return float(np.linalg.eigvalsh(root @ (bend + bend.T) @ root.T / 2)[0])
    except np.linalg.LinAlgError:
        return 0.0


def windows(watch: SurfaceWatch, name: str, x: Array, th: Mapping[str, float]) -> Window:
    """Where to look for other closest points of a pair, from its state x at the start."""
    pair = watch.pairs[name]
    spans = (slice(0, pair.sizes[0]), slice(pair.sizes[0], len(pair.start)))
    s = watch.parameters_of(name, x)
    if pair.ranges:
        bounds = np.array(pair.ranges, dtype=float)
        return Window(bounds[:, 0] - s, bounds[:, 1] - s)
    half, closed = np.full(len(s), np.pi), [True, True]
    reach = 0.0
    for side in (0, 1):
        k = pair.sizes[side]
        places = s[spans[side]] + np.vstack([np.zeros(k), 2 * np.pi * np.eye(k), np.pi * np.eye(k)])
        points = watch.outline(name, side, x[None], places[None], th)[0]
        size = float(np.abs(points - points[0]).max())
        closed[side] = bool(np.abs(points[1 : 1 + k] - points[0]).max() <= HALF_DIGITS * max(size, EPS))
        reach = max(reach, size if closed[side] else 0.0)
    look = watch.local(name, x[None], s[None], th)
    if not any(closed):
        reach = 4.0 / max(float(look.curvature[0]), EPS)
    length = max(float(look.tangent[0]), EPS)
    for side in (0, 1):
        if not closed[side]:
            half[spans[side]] = 2.0 * reach / length
    return Window(-half, half)


def rivals(watch: SurfaceWatch, name: str, x: Array, window: Window, th: Mapping[str, float]) -> list[Array | None]:
    """For configurations x (K, all): parameters of other points that are closer than the followed ones, or None."""
    sizes, cut = watch.pairs[name].sizes, watch.pairs[name].sizes[0]
    here, grid = watch.parameters_of(name, x), _grid(window, sizes)
    gaps = watch.local(name, x, here, th).gap
    which, starts = list[int](), list[Array]()
    for first in range(0, len(x), CHUNK):
        rows = np.minimum(np.arange(first, first + CHUNK), len(x) - 1)
        sides = [part[rows, None] + grid[i] for i, part in enumerate((here[:, :cut], here[:, cut:]))]
        a, b = (watch.outline(name, i, x[rows], sides[i], th) for i in (0, 1))
        for j in range(min(CHUNK, len(x) - first)):
            samples = Samples(sides[0][j], sides[1][j], a[j], b[j], float(gaps[first + j]))
            begin = _candidates(samples, here[first + j], sizes)
            which += [first + j] * len(begin)
            starts += list(begin)
    found: list[Array | None] = [None] * len(x)
    if starts:
        s, gap = refine(watch, name, x[which], np.array(starts), th)
        for i, place, other in zip(which, s, gap, strict=True):
            if other < gaps[i] - HALF_DIGITS * max(float(np.abs(x[:, : watch.n]).max()), EPS):
                found[i] = place
    return found


def _grid(window: Window, sizes: tuple[int, int]) -> list[Array]:
    """Places relative to the followed ones, (count^k, k) for each outline with k parameters."""
    counts = [SAMPLES[k] for k in sizes for _ in range(k)]
    axes = [np.linspace(*ends) for ends in zip(window.low, window.high, counts, strict=True)]
    parts = (axes[: sizes[0]], axes[sizes[0] :])
    return [np.stack(np.meshgrid(*part, indexing="ij"), axis=-1).reshape(-1, len(part)) for part in parts]


class Samples(NamedTuple):
    """Sampled parameters and points of both outlines in one configuration, and the gap at the followed points."""

    s_a: Array
    s_b: Array
    a: Array
    b: Array
    gap: float


def _candidates(samples: Samples, here: Array, sizes: tuple[int, int]) -> Array:
    """Places where another pair of opposite points may be as close: sampled local minima, not the followed one."""
    s_a, s_b, a, b, gap = samples
    distance = np.sqrt(((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2))
    nearest, d = distance.argmin(axis=0), distance.min(axis=0)
    chosen = _lowest(d, sizes[1]) & (np.abs(s_b - here[sizes[0] :]) > 1.5 * _spacing(s_b, sizes[1])).any(axis=1)
    chosen &= d <= abs(gap) + _cell(a, sizes[0]) + _cell(b, sizes[1])
    return np.hstack([s_a[nearest[chosen]], s_b[chosen]])


def _lowest(d: Array, k: int) -> Mask:
    """Which samples (count^k,) are not above their neighbours."""
    table = d.reshape([round(len(d) ** (1 / k))] * k)
    low = np.ones(table.shape, dtype=bool)
    for axis in range(k):
        edge, ends = np.full_like(np.take(table, [0], axis=axis), np.inf), table.shape[axis]
        wide = np.concatenate([edge, table, edge], axis=axis)
        low &= (table <= np.take(wide, range(ends), axis)) & (table <= np.take(wide, range(2, ends + 2), axis))
    return low.ravel()


def _spacing(s: Array, k: int) -> Array:
    """Distance of neighbouring samples, for each parameter."""
    return np.asarray(np.ptp(s, axis=0) / (round(len(s) ** (1 / k)) - 1))


def _cell(points: Array, k: int) -> float:
    """Largest distance of neighbouring samples of an outline."""
    table = points.reshape([round(len(points) ** (1 / k))] * k + [-1])
    return max(float(np.linalg.norm(np.diff(table, axis=axis), axis=-1).max()) for axis in range(k))


def refine(watch: SurfaceWatch, name: str, x: Array, s: Array, th: Mapping[str, float]) -> tuple[Array, Array]:
    """Opposite points near s (K, 2k) at configurations x (K, all), by Newton's method, and their gaps (K,).

    The gap is infinite where there are none, or where they are not the closest in their neighbourhood.
    """
    for _ in range(NEWTON):
        look = watch.local(name, x, s, th)
        step = np.array([_solved(J, -c) for J, c in zip(look.J, look.sides, strict=True)])
        size = np.abs(step).max(axis=1)
        if (size <= HALF_DIGITS).all():
            break
        s = s + step * np.minimum(1.0, 0.5 / np.maximum(size, EPS))[:, None]
    good = (size <= HALF_DIGITS) & (look.curvature > 0)
    return s, np.where(good, look.gap, np.inf)


def _solved(J: Array, right: Array) -> Array:
    try:
        return np.asarray(np.linalg.solve(J, right))
    except np.linalg.LinAlgError:
        return np.zeros_like(right) + 1.0
