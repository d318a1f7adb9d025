"""Equilibrium paths of two coordinates by tiny fixed steps in plain arithmetic, independent of the library.

U = Σ c_ij xⁱyʲ + p (b₁x + b₂y + (k₁x² + 2k₂xy + k₃y²)/2), gaps a + bx + cy + e(x² + y²) + dp ≥ 0. With no gap closed
an equilibrium solves U_x = U_y = 0, with one closed g = 0 and U_x g_y − U_y g_x = 0, with two g₁ = g₂ = 0: two surfaces
in the space of (x, y, p), whose normals' cross product is the tangent; its last component changes sign at limit points.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from onesided import Kind, Status

from .polynomials import UndecidedError
from .verdicts import Fact, Truth

Vector = tuple[float, float, float]
LONGEST = 25.0  # arc length of a walk
PRECISE = 1e-13
LOOK = 20  # steps beyond a missed event


@dataclass(frozen=True)
class Wall:
    """The gap a + b x + c y + e (x² + y²) + d p."""

    a: float
    b: float
    c: float
    e: float
    d: float

    def value(self, z: Vector) -> float:
        x, y, p = z
        return self.a + self.b * x + self.c * y + self.e * (x * x + y * y) + self.d * p

    def normal(self, z: Vector) -> Vector:
        return (self.b + 2 * self.e * z[0], self.c + 2 * self.e * z[1], self.d)


@dataclass(frozen=True)
class Plane:
    """A system of two coordinates with p of the order of one."""

    terms: tuple[tuple[int, int, float], ...]
    load: tuple[float, float, float, float, float]
    walls: tuple[Wall, ...]
    bounds: tuple[float, float]

    def derivatives(self, z: Vector) -> tuple[float, ...]:
        """U_x, U_y, U_xx, U_xy, U_yy, U_xp, U_yp."""
        x, y, p = z
        b1, b2, k1, k2, k3 = self.load
        xs, ys = (0.0, 0.0, 1.0, x, x * x, x * x * x, x**4), (0.0, 0.0, 1.0, y, y * y, y * y * y, y**4)
        u_xp, u_yp = b1 + k1 * x + k2 * y, b2 + k2 * x + k3 * y
        u_x, u_y, u_xx, u_xy, u_yy = p * u_xp, p * u_yp, p * k1, p * k2, p * k3
        for i, j, c in self.terms:
            u_x += c * i * xs[i + 1] * ys[j + 2]
            u_y += c * j * xs[i + 2] * ys[j + 1]
            u_xx += c * i * (i - 1) * xs[i] * ys[j + 2]
            u_xy += c * i * j * xs[i + 1] * ys[j + 1]
            u_yy += c * j * (j - 1) * xs[i + 2] * ys[j]
        return u_x, u_y, u_xx, u_xy, u_yy, u_xp, u_yp


def surfaces(system: Plane, closed: tuple[int, ...], z: Vector) -> tuple[float, Vector, float, Vector]:
    """Values and normals of the two surfaces that meet in the path."""
    if len(closed) == 2:
        first, second = (system.walls[i] for i in closed)
        return first.value(z), first.normal(z), second.value(z), second.normal(z)
    u_x, u_y, u_xx, u_xy, u_yy, u_xp, u_yp = system.derivatives(z)
    if not closed:
        return u_x, (u_xx, u_xy, u_xp), u_y, (u_xy, u_yy, u_yp)
    wall = system.walls[closed[0]]
    g_x, g_y, _ = wall.normal(z)
    bend = 2 * wall.e
    along = (
        u_xx * g_y - u_xy * g_x - u_y * bend,
        u_xy * g_y + u_x * bend - u_yy * g_x,
        u_xp * g_y - u_yp * g_x,
    )
    return wall.value(z), wall.normal(z), u_x * g_y - u_y * g_x, along


def cross(a: Vector, b: Vector) -> Vector:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def moved(z: Vector, h: float, t: Vector) -> Vector:
    return (z[0] + h * t[0], z[1] + h * t[1], z[2] + h * t[2])


def tangent(system: Plane, closed: tuple[int, ...], z: Vector) -> Vector:
    """Of length one, with the sense of the cross product."""
    _, n1, _, n2 = surfaces(system, closed, z)
    t = cross(n1, n2)
    size = math.sqrt(dot(t, t))
    if size < 1e-9 * math.sqrt(dot(n1, n1) * dot(n2, n2)):
        raise UndecidedError("the surfaces touch")
    return (t[0] / size, t[1] / size, t[2] / size)


def corrected(system: Plane, closed: tuple[int, ...], z: Vector) -> Vector:
    """The nearest point of the path: Newton's method in the plane of the two normals."""
    for _ in range(8):
        f1, n1, f2, n2 = surfaces(system, closed, z)
        a, b, c = dot(n1, n1), dot(n1, n2), dot(n2, n2)
        det = a * c - b * b
        if det <= 0:
            raise UndecidedError("the surfaces touch")
        u, v = (f1 * c - f2 * b) / det, (f2 * a - f1 * b) / det
        step = (u * n1[0] + v * n2[0], u * n1[1] + v * n2[1], u * n1[2] + v * n2[2])
        z = moved(z, -1.0, step)
        if dot(step, step) < PRECISE**2:
            return z
    raise UndecidedError("no convergence")


def reactions(system: Plane, closed: tuple[int, ...], z: Vector) -> dict[int, float]:
    """Multipliers of the closed gaps."""
    if not closed:
        return {}
    u = np.array(system.derivatives(z)[:2])
    E = np.array([system.walls[i].normal(z)[:2] for i in closed])
    lam = np.linalg.lstsq(E.T, u, rcond=None)[0] if len(closed) == 1 else np.linalg.solve(E.T, u)
    return dict(zip(closed, (float(v) for v in lam), strict=True))


def degree(system: Plane, closed: tuple[int, ...], z: Vector) -> int:
    """Negative eigenvalues of the Hessian of the Lagrangian on the tangents of the closed gaps."""
    if len(closed) == 2:
        return 0
    _, _, u_xx, u_xy, u_yy, _, _ = system.derivatives(z)
    if not closed:
        return int((np.linalg.eigvalsh([[u_xx, u_xy], [u_xy, u_yy]]) < 0).sum())
    wall = system.walls[closed[0]]
    g_x, g_y, _ = wall.normal(z)
    bend = 2 * wall.e * reactions(system, closed, z)[closed[0]]
    return int((u_xx - bend) * g_y**2 - 2 * u_xy * g_x * g_y + (u_yy - bend) * g_x**2 < 0)


@dataclass(frozen=True)
class State:
    """A point, the gaps closed there, and the sense along the cross product of the normals."""

    closed: tuple[int, ...]
    z: Vector
    sense: int

    def ahead(self, system: Plane) -> Vector:
        t = tangent(system, self.closed, self.z)
        return t if self.sense > 0 else (-t[0], -t[1], -t[2])


def watched(system: Plane, closed: tuple[int, ...]) -> dict[object, Callable[[Vector], float]]:
    """Functions of the point that are positive until something happens."""
    found: dict[object, Callable[[Vector], float]] = {
        ("closes", j): wall.value for j, wall in enumerate(system.walls) if j not in closed
    }
    for i in closed:
        found["opens", i] = lambda z, i=i: reactions(system, closed, z)[i]
    found["low"] = lambda z: z[2] - system.bounds[0]
    found["high"] = lambda z: system.bounds[1] - z[2]
    return found


@dataclass
class Walk:
    """A path so far: its facts, its points, and how it ended."""

    system: Plane
    state: State
    h: float
    facts: list[Fact] = field(default_factory=list)
    points: list[tuple[tuple[int, ...], Vector]] = field(default_factory=list)
    end: Status | None = None
    s: float = 0.0

    def __post_init__(self) -> None:
        self.home, self.way = self.state, self.state.ahead(self.system)
        self.now = degree(self.system, self.state.closed, self.state.z)
        self.points.append((self.state.closed, self.state.z))

    def run(self) -> "Walk":
        for number in range(int(LONGEST / self.h)):
            self._step(number)
            if self.end is not None:
                return self
        raise UndecidedError("the walk is too long")

    def _advance(self, h: float) -> Vector:
        """The point after a step of length h."""
        here = self.state
        z = corrected(self.system, here.closed, moved(here.z, h, here.ahead(self.system)))
        t = replace(here, z=z).ahead(self.system)
        if dot(t, here.ahead(self.system)) < 0.9:
            raise UndecidedError("the path bends too sharply for these steps")
        return z

    def _step(self, number: int) -> None:
        state, z = self.state, self._advance(self.h)
        hits = []
        for what, value in watched(self.system, state.closed).items():
            if value(z) < 0:
                hits.append((self._where(value), what))
        turn = tangent(self.system, state.closed, state.z)[2]
        if turn * tangent(self.system, state.closed, z)[2] < 0:
            hits.append((self._where(lambda z: tangent(self.system, state.closed, z)[2] * turn), "limit"))
        if number > 2 and state.closed == self.home.closed and self._home_again(z):
            hits.append((self.h / 2, "closed"))
        h, what = min(hits, key=lambda hit: hit[0], default=(self.h, None))
        self.state = replace(state, z=self._advance(h) if what else z)
        self.s += h
        self.points.append((state.closed, self.state.z))
        if what:
            self._meet(what)

    def _home_again(self, z: Vector) -> bool:
        """Whether the step passes the start, the way it was left."""
        before, after = (dot(moved(point, -1.0, self.home.z), self.way) for point in (self.state.z, z))
        off = moved(z, -1.0, self.home.z)
        return before < 0 <= after and dot(off, off) < 4 * self.h**2 and self.state.sense == self.home.sense

    def _where(self, value: Callable[[Vector], float]) -> float:
        """Length of the step at which a function that is positive here vanishes, by bisection and secants in turn."""
        low, high = 0.0, self.h
        f_low, f_high = value(self.state.z), value(self._advance(high))
        if f_low <= 0:
            raise UndecidedError("two events in one place")
        for number in range(60):
            h = (low * f_high - high * f_low) / (f_high - f_low) if number % 3 else (low + high) / 2
            f = value(self._advance(h))
            low, f_low, high, f_high = (h, f, high, f_high) if f > 0 else (low, f_low, h, f)
            if high - low < PRECISE or f == 0:
                break
        return high

    def _meet(self, what: object) -> None:
        """What the path does at an event."""
        system, state = self.system, self.state
        if what == "closed":
            self.end = Status.closed
            return
        if what in {"low", "high"}:
            self.end = Status.bound_reached
            self._note((Kind.bound,), None, state.z)
            return
        if what == "limit":
            beyond = self._advance(self.h / 50)
            self.state = replace(state, z=self._advance(self.h / 1000))
            self._note((Kind.limit,), degree(system, state.closed, beyond), state.z)
            return
        self._switch(what)

    def _extent(self, value: Callable[[Vector], float]) -> float:
        """How far a path goes wrong that misses the event here; infinite where that is no short way."""
        state, length = self.state, math.inf
        for number in range(1, LOOK + 1):
            self.state = replace(state, z=self._advance(self.h))
            if value(self.state.z) > 0:
                length = number * self.h
                break
        self.state = state
        return length

    def _switch(self, what: object) -> None:
        assert isinstance(what, tuple)
        kind, j = what
        system, old = self.system, self.state
        extent = self._extent(watched(system, old.closed)[what])
        closed = tuple(sorted({*old.closed, j} if kind == "closes" else {*old.closed} - {j}))
        new = State(closed, corrected(system, closed, old.z), 1)
        value = watched(system, closed)["opens" if kind == "closes" else "closes", j]
        t = new.ahead(system)
        rise = value(moved(new.z, 1e-5, t)) - value(moved(new.z, -1e-5, t))
        new = replace(new, sense=1 if rise > 0 else -1)
        turned = old.ahead(system)[2] * new.ahead(system)[2] < 0
        self.state = new
        beyond = self._advance(self.h / 50)
        name = Kind.corner_limit if turned else Kind[kind]
        self._note((name,), degree(system, closed, beyond), new.z, extent)
        self.state = replace(new, z=self._advance(self.h / 1000))

    def _note(self, kinds: tuple[Kind, ...], after: int | None, z: Vector, extent: float = math.inf) -> None:
        self.facts.append(Fact(kinds, z[2], z[:2], self.now, after, self.s, extent))
        self.now = self.now if after is None else after


def truth_of(walk: Walk) -> Truth:
    """The facts of a finished walk, with the sizes of the path."""
    places = np.array([z for _, z in walk.points])
    sizes = np.maximum(np.ptp(places, axis=0), 0.1)
    return Truth(tuple(walk.facts), walk.end or Status.far, walk.s, float(sizes[2]), (float(sizes[0]), float(sizes[1])))
