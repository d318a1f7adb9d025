"""Exact equilibrium paths of one coordinate: U = V(x) − p x + c p x², gaps a + b x + e x² + d p ≥ 0.

Every equilibrium lies on one of a few curves of the (x, p) plane: the free one p = V'/(1 − 2 c x), or the zero set of
a gap, which is a graph over x where the gap moves with p and a line x = const where it does not. On each of them every
event is a root of a polynomial in one variable; a walk goes from root to root.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.polynomial import Polynomial

from onesided import Kind, Status

from .polynomials import UndecidedError, real_roots
from .verdicts import Fact, Truth

X = Polynomial([0.0, 1.0])
MOST = 60  # events of a walk
REACH = 6.0  # how far from the middle a path may lead, in sizes
STILL = 1e-9  # a range below this share of the whole is none


@dataclass(frozen=True)
class Gap:
    """The gap a + b x + e x² + d p ≥ 0."""

    a: float
    b: float
    e: float
    d: float

    @property
    def of_x(self) -> Polynomial:
        return Polynomial([self.a, self.b, self.e])

    def __call__(self, x: float, p: float) -> float:
        return float(self.of_x(x) + self.d * p)

    def slope(self, x: float) -> float:
        return float(self.b + 2 * self.e * x)


@dataclass(frozen=True)
class Line:
    """A system of one coordinate, with the bounds of p."""

    V: Polynomial
    c: float
    gaps: tuple[Gap, ...]
    bounds: tuple[float, float]
    size: float = 1.0  # of x
    known: dict[int | None, dict[object, list[float]]] = field(default_factory=dict, init=False, repr=False)

    @property
    def V_x(self) -> Polynomial:
        return self.V.deriv()

    @property
    def D(self) -> Polynomial:
        return Polynomial([1.0, -2 * self.c])

    def force(self, x: float, p: float) -> float:
        """U_x."""
        return float(self.V_x(x) - p * self.D(x))

    def degree(self, x: float, p: float) -> int:
        """1 where U_xx < 0."""
        return int(self.V.deriv(2)(x) + 2 * self.c * p < 0)


@dataclass(frozen=True)
class Spot:
    """A point on a curve (`gap` None: the free one), with the sense in which the parameter of the curve changes."""

    gap: int | None
    x: float
    p: float
    sense: int = 0


def fixed(system: Line, gap: int | None) -> bool:
    """Whether the curve is a line x = const, with p as parameter."""
    return gap is not None and system.gaps[gap].d == 0


def p_on(system: Line, gap: int | None) -> tuple[Polynomial, Polynomial]:
    """p along a curve as quotient of polynomials in x."""
    if gap is None:
        return system.V_x, system.D
    return system.gaps[gap].of_x, Polynomial([-system.gaps[gap].d])


def slope_of(pair: tuple[Polynomial, Polynomial], x: float) -> float:
    """Derivative of a quotient."""
    top, under = pair
    return float((top.deriv()(x) * under(x) - top(x) * under.deriv()(x)) / under(x) ** 2)


def p_sense(system: Line, spot: Spot) -> int:
    """Sign of the change of p."""
    if fixed(system, spot.gap):
        return spot.sense
    return int(np.sign(spot.sense * slope_of(p_on(system, spot.gap), spot.x)))


def equilibria(system: Line, p: float) -> list[Spot]:
    """All equilibria at p."""
    spots = [Spot(None, x, p) for x in real_roots(system.V_x - p * system.D, system.size)]
    for i, gap in enumerate(system.gaps):
        spots += [Spot(i, x, p) for x in real_roots(gap.of_x + gap.d * p, system.size)]
    return [spot for spot in spots if admissible(system, spot)]


def admissible(system: Line, spot: Spot) -> bool:
    """Whether all other gaps are open and the reaction pushes."""
    others = all(gap(spot.x, spot.p) > 0 for j, gap in enumerate(system.gaps) if j != spot.gap)
    return others and (spot.gap is None or system.force(spot.x, spot.p) * system.gaps[spot.gap].slope(spot.x) > 0)


def departing(system: Line, spot: Spot, direction: int) -> Spot:
    """The spot with the sense in which p changes as asked."""
    forward = replace(spot, sense=1)
    return forward if p_sense(system, forward) == direction else replace(spot, sense=-1)


def parameter(system: Line, spot: Spot) -> float:
    return spot.p if fixed(system, spot.gap) else spot.x


def candidates(system: Line, spot: Spot) -> dict[object, list[float]]:
    """Where along the curve something may happen, by what happens there."""
    if fixed(system, spot.gap):
        return _on_line(system, spot)
    if spot.gap not in system.known:
        system.known[spot.gap] = _on_curve(system, spot)
    return system.known[spot.gap]


def _on_curve(system: Line, spot: Spot) -> dict[object, list[float]]:
    top, under = p_on(system, spot.gap)
    gaps = [(j, top * gap.d + gap.of_x * under) for j, gap in enumerate(system.gaps) if j != spot.gap]
    found: dict[object, list[float]] = {j: real_roots(f, system.size) for j, f in gaps}
    found["bound"] = [x for b in system.bounds for x in real_roots(top - b * under, system.size)]
    if spot.gap is None:
        found["limit"] = real_roots(system.V.deriv(2) * under + 2 * system.c * top, system.size)
    else:
        found["release"] = real_roots(system.V_x * under - top * system.D, system.size)
        found["far"] = real_roots(system.gaps[spot.gap].of_x.deriv(), system.size)
    return found


def _on_line(system: Line, spot: Spot) -> dict[object, list[float]]:
    found: dict[object, list[float]] = {
        j: [-float(gap.of_x(spot.x)) / gap.d] for j, gap in enumerate(system.gaps) if j != spot.gap and gap.d != 0
    }
    found["bound"] = list(system.bounds)
    found["release"] = [float(system.V_x(spot.x) / system.D(spot.x))]
    return found


def next_event(system: Line, spot: Spot, clear: float) -> tuple[object, Spot]:
    """What happens first on the curve ahead of a spot; `clear` is the distance within which nothing can."""
    here = parameter(system, spot)
    ahead = [
        (spot.sense * (t - here), str(what), what, t)
        for what, places in candidates(system, spot).items()
        for t in places
        if spot.sense * (t - here) > clear
    ]
    if not ahead:
        raise UndecidedError("the walk never ends")
    _, _, what, t = min(ahead)
    return what, at(system, spot, t)


def again(system: Line, what: object, stop: Spot) -> Spot | None:
    """The next root of the same event function on the same curve, within the bounds of p."""
    here = parameter(system, stop)
    places = [t for t in candidates(system, stop)[what] if stop.sense * (t - here) > STILL * system.size]
    places = [t for t in places if fixed(system, stop.gap) or p_on(system, stop.gap)[1](t) != 0]
    beyond = at(system, stop, min(places, key=lambda t: stop.sense * t)) if places else None
    return beyond if beyond is not None and system.bounds[0] < beyond.p < system.bounds[1] else None


def at(system: Line, spot: Spot, t: float) -> Spot:
    """The point of the same curve at parameter t."""
    if fixed(system, spot.gap):
        return replace(spot, p=t)
    top, under = p_on(system, spot.gap)
    return replace(spot, x=t, p=float(top(t) / under(t)))


def onto_contact(system: Line, gap: int, x: float, p: float, grows: Callable[[float, float], float]) -> Spot:
    """The curve of a gap from (x, p), in the sense in which a function that vanishes here grows."""
    spot = Spot(gap, x, p, 1)
    step = 1e-5 * (abs(system.bounds[1] - system.bounds[0]) if fixed(system, gap) else system.size)
    ends = [at(system, spot, parameter(system, spot) + sign * step) for sign in (1, -1)]
    rise = grows(ends[0].x, ends[0].p) - grows(ends[1].x, ends[1].p)
    return replace(spot, sense=1 if rise > 0 else -1)


def closing(system: Line, j: int, spot: Spot) -> Spot:
    """From the free curve onto gap j: along it the reaction grows."""
    push = np.sign(system.gaps[j].slope(spot.x))
    return onto_contact(system, j, spot.x, spot.p, lambda x, p: push * system.force(x, p))


def opening(system: Line, i: int, spot: Spot) -> Spot:
    """From gap i onto the free curve: along it the gap grows."""
    gap, pair = system.gaps[i], p_on(system, None)
    rise = gap.slope(spot.x) + gap.d * slope_of(pair, spot.x)
    return Spot(None, spot.x, spot.p, 1 if rise > 0 else -1)


def degree_of(system: Line, spot: Spot) -> int:
    return system.degree(spot.x, spot.p) if spot.gap is None else 0


@dataclass(frozen=True)
class Leg:
    """A walk along one curve, and the facts at its end; `end` where the path does not go on."""

    start: Spot
    stop: Spot
    facts: tuple[Fact, ...]
    end: Status | None = None
    beyond: Spot | None = None  # where the same thing would happen again, had the path gone straight on


def legs(system: Line, start: Spot) -> Iterator[Leg]:
    """The whole walk, leg by leg."""
    spot, degree = start, degree_of(system, start)
    clear = 0.0
    for number in range(MOST):
        what, stop = next_event(system, spot, clear)
        if number and _passes(system, spot, stop, start):
            yield Leg(spot, start, (), Status.closed)
            return
        facts, onward, end = meet(system, what, stop, degree)
        yield Leg(spot, stop, facts, end, again(system, what, stop))
        if onward is None:
            return
        spot, degree = onward, facts[-1].after or 0
        clear = 1e-9 * (system.bounds[1] - system.bounds[0] if fixed(system, spot.gap) else system.size)
    raise UndecidedError("too many events")


def _passes(system: Line, spot: Spot, stop: Spot, start: Spot) -> bool:
    """Whether the leg leads through the start, the way it was left."""
    if spot.gap != start.gap or spot.sense != start.sense or (fixed(system, spot.gap) and abs(spot.x - start.x) > 1e-9):
        return False
    a, b, s = (parameter(system, point) for point in (spot, stop, start))
    return min(a, b) < s < max(a, b)


def meet(system: Line, what: object, stop: Spot, degree: int) -> tuple[tuple[Fact, ...], Spot | None, Status | None]:
    """Facts at an event, the spot from which the path goes on, or how it ends."""

    def fact(*kinds: Kind, after: int | None) -> Fact:
        return Fact(kinds, stop.p, (stop.x,), degree, after)

    if what == "bound":
        return (fact(Kind.bound, after=None),), None, Status.bound_reached
    if what == "far":
        return (), None, Status.far
    if what == "limit":
        return (fact(Kind.limit, after=1 - degree),), stop, None
    if stop.gap is not None and isinstance(what, int):
        return _two_gaps(system, what, stop)
    onward = closing(system, int(str(what)), stop) if stop.gap is None else opening(system, stop.gap, stop)
    after = degree_of(system, onward)
    kind = Kind.closes if stop.gap is None else Kind.opens
    turned = p_sense(system, stop) != p_sense(system, onward)
    return (fact(Kind.corner_limit if turned else kind, after=after),), onward, None


def _two_gaps(system: Line, j: int, stop: Spot) -> tuple[tuple[Fact, ...], Spot | None, Status | None]:
    """A second gap closes: opposite ones jam, others hand the force over in place, which may be told as one event."""
    i = stop.gap
    assert i is not None
    closes = Fact((Kind.closes,), stop.p, (stop.x,), 0, 0)
    if system.gaps[i].slope(stop.x) * system.gaps[j].slope(stop.x) < 0:
        return (closes,), None, Status.far
    onward = onto_contact(system, j, stop.x, stop.p, system.gaps[i])
    return (closes, replace(closes, kinds=(Kind.opens, Kind.corner_limit), part=True)), onward, None


def truth_of(system: Line, start: Spot, blur: float = 1e-7) -> Truth:
    """The event list from a start, with positions along the path."""
    walk = list(legs(system, start))
    curves = [samples(system, leg) for leg in walk]
    points = np.concatenate(curves)
    if np.abs(points[:, 0]).max() > REACH * system.size:
        raise UndecidedError("so far out that the polynomial is inaccurate")
    whole = np.array([system.size, system.bounds[1] - system.bounds[0]])
    sizes = np.where(np.ptp(points, axis=0) > STILL * whole, np.ptp(points, axis=0), whole)
    s, facts = 0.0, []
    for leg, curve in zip(walk, curves, strict=True):
        s += float(np.linalg.norm(np.diff(curve, axis=0) / sizes, axis=1).sum())
        for number, fact in enumerate(leg.facts):
            s += 0.1 * number  # the reaction goes from one gap to the other
            facts.append(replace(fact, s=s, extent=_extent(leg, sizes)))
    return Truth(tuple(facts), walk[-1].end or Status.far, s, float(sizes[1]), (float(sizes[0]),), blur)


def _extent(leg: Leg, sizes: np.ndarray) -> float:
    """How far the path would have gone wrong, had the event been missed."""
    if leg.beyond is None:
        return np.inf
    return float(np.linalg.norm(np.array([leg.beyond.x - leg.stop.x, leg.beyond.p - leg.stop.p]) / sizes))


def samples(system: Line, leg: Leg) -> np.ndarray:
    """Points (x, p) along a leg, evenly spaced in its parameter."""
    values = np.linspace(parameter(system, leg.start), parameter(system, leg.stop), 101)
    return np.array([(spot.x, spot.p) for spot in (at(system, leg.start, float(t)) for t in values)])
