"""Special points of curves of events in families with closed forms, hidden by coordinates, units, origins and senses.

Every family is stated in plain numbers (x, y, z), p, t. Coordinates are then turned, stretched and moved, p and t
stretched, moved and perhaps turned round, energy stretched, and a coordinate is coupled to the others that leaves all
events alone.
"""

from dataclasses import dataclass, field

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Kind
from onesided.results import Encounter

R3, NEAR = 3.0**-0.5, 1e-10


@dataclass(frozen=True)
class Family:
    """Energy and gaps of (x, y), p, t; where the path begins; the event that is followed, from where to where.

    `meetings` : kind and (t, p) of all that is met, in order of t.
    """

    energy: object
    start: tuple
    t: float
    reach: tuple
    p_end: float
    event: Kind
    meetings: tuple
    gaps: dict = field(default_factory=dict)


def _double_well(x, p):
    return x**4 / 4 - x**2 / 2 - p * x


WELL = -R3, 2 * R3**3
FAMILIES = {
    "two limit points meet": Family(
        lambda x, y, p, t: x**4 / 4 + t * x**2 / 2 - p * x + y**2, (-1.3, 0.0, -1.3 * 0.69), -1.0, (-1.7, 0.6), 3.0,
        Kind.limit, ((Encounter.cusp, 0.0, 0.0),),
    ),
    "a limit point meets a fork": Family(
        lambda x, y, p, t: _double_well(x, p) + (t - x) * y**2 / 2 + y**4, (-1.0, 0.0, 0.0), -0.75, (-0.9, 0.1), 2.0,
        Kind.limit, ((Encounter.hilltop, *WELL),),
    ),
    "a fork meets a limit point": Family(
        lambda x, y, p, t: _double_well(x, p) + (t - x) * y**2 / 2 + y**4, (-1.2, 0.0, -0.528), -0.8, (-0.95, 0.1), 2.0,
        Kind.smooth_bifurcation, ((Encounter.hilltop, *WELL),),
    ),
    "a curve of forks turns back": Family(
        lambda x, y, p, t: x**2 / 2 - p * x + (x**2 - t) * y**2 / 2 + y**4, (-1.0, 0.0, -1.0), 0.5, (-0.5, 0.9), 2.0,
        Kind.smooth_bifurcation, ((Encounter.turns, 0.0, 0.0),),
    ),
    "a corner meets limit points": Family(
        lambda x, y, p, t: _double_well(x, p) + y**2, (-1.2, 0.0, -0.528), -0.8, (-1.0, 0.9), 2.0,
        Kind.closes, ((Encounter.corner_limit, *WELL), (Encounter.corner_limit, R3, -2 * R3**3)),
        {"stop": lambda x, y, p, t: t - x},
    ),
    "a limit point meets a corner": Family(
        lambda x, y, p, t: _double_well(x, p) + y**2, (-1.2, 0.0, -0.528), 0.1, (-0.9, 0.5), 2.0,
        Kind.limit, ((Encounter.corner_limit, *WELL),), {"stop": lambda x, y, p, t: t - x},
    ),
    "two corners meet": Family(
        lambda x, y, p, t: (x - p) ** 2 / 2 + (y - 2 * p) ** 2 / 2, (-0.5, -1.0, -0.5), 0.2, (-0.3, 1.0), 3.0,
        Kind.closes, ((Encounter.corners, 0.4, 0.4),),
        {"one": lambda x, y, p, t: t - x, "two": lambda x, y, p, t: 0.8 - y},
    ),
    "a gap is not met any more": Family(
        lambda x, y, p, t: (x - p) ** 2 / 2 + y**2, (-1.0, 0.0, -1.0), -0.3, (-0.6, 0.4), 3.0,
        Kind.closes, ((Encounter.grazes, 0.0, 1.0),), {"hump": lambda x, y, p, t: (x - 1.0) ** 2 + t},
    ),
    "a reaction does not vanish any more": Family(
        lambda x, y, p, t: x * ((p - 1.0) ** 2 + t) + x**2 / 2 + y**2, (0.0, 0.0, 0.0), -0.3, (-0.6, 0.4), 3.0,
        Kind.opens, ((Encounter.grazes, 0.0, 1.0),), {"floor": lambda x, y, p, t: x},
    ),
    "a fork passes through a contact": Family(
        lambda x, y, p, t: x**2 / 2 - p * x + (0.8 - p) * y**2 / 2 + y**4, (-0.2, 0.0, -0.2), 0.3, (0.1, 1.5), 9.0,
        Kind.closes, ((Encounter.degree, 0.8, 0.8), (Encounter.degree, 0.8, 0.8)), {"stop": lambda x, y, p, t: t - x},
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Disguise:
    """q = length · (Q (x, y, z) + away), p = size · (p + moved), t likewise; energies times `energy`."""

    Q: np.ndarray
    away: np.ndarray
    length: float
    p: tuple
    t: tuple
    energy: float

    @classmethod
    def of(cls, seed):
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        sizes = 10.0 ** rng.uniform(-3, 3, 4)
        sign = rng.choice([-1.0, 1.0], 2)
        p, t = ((sizes[i] * sign[i], rng.uniform(-2, 2)) for i in (0, 1))
        return cls(Q, rng.uniform(-2, 2, 3), sizes[2], p, t, sizes[3])

    def system(self, family):
        def plain(q, p, th):
            x = jnp.asarray(self.Q.T) @ (jnp.asarray(q) / self.length - self.away)
            return *x, p / self.p[0] - self.p[1], th.t / self.t[0] - self.t[1]

        def energy(q, p, th):
            x, y, z, p, t = plain(q, p, th)
            return self.energy * (family.energy(x, y, p, t) + (z - x * x / 4 + y / 3 + t / 5) ** 2)

        def gap_of(function):
            def gap(q, p, th):
                x, y, _, p, t = plain(q, p, th)
                return self.length * function(x, y, p, t)

            return gap

        gaps = {name: gap_of(function) for name, function in family.gaps.items()}
        return onesided.System(("u", "v", "w"), energy, unilateral=gaps, parameters={"t": self.to(self.t, family.t)})

    @staticmethod
    def to(scale, value):
        return scale[0] * (value + scale[1])

    @staticmethod
    def back(scale, value):
        return value / scale[0] - scale[1]

    def loading(self, family):
        """Where paths begin, and how far they go."""
        x, y, p = family.start
        q = self.length * (self.Q @ np.array([x, y, x * x / 4 - y / 3 - family.t / 5]) + self.away)
        bounds = sorted(self.to(self.p, one) for one in (p - 0.1, family.p_end))
        sense = 1 if self.p[0] > 0 else -1
        return {"q0": q, "p0": self.to(self.p, p), "direction": sense, "p_bounds": tuple(bounds)}


def _check(name, seed):
    """All that is met, and nothing else, at the places of the closed form."""
    family, disguise = FAMILIES[name], Disguise.of(seed)
    event = next(
        one
        for one in onesided.trace(disguise.system(family), **disguise.loading(family)).events
        if one.kind is family.event
    )
    reach = sorted(disguise.to(disguise.t, one) for one in family.reach)
    found = onesided.follow(event, "t", tuple(reach))
    assert {one.kind for one in found.meetings} == {kind for kind, *_ in family.meetings}, found.meetings
    met = np.array([(disguise.back(disguise.t, one.theta), disguise.back(disguise.p, one.p)) for one in found.meetings])
    expected = np.array([place for _, *place in family.meetings])
    apart = np.max(np.abs(met[:, None] - expected), axis=2)  # both branches at a contact may have the same
    assert np.max(np.min(apart, axis=0)) < NEAR
    assert np.max(np.min(apart, axis=1)) < NEAR
    assert max(one.precision for one in found.meetings) < NEAR


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 22))])
def test_what_is_met_and_where(name, seed):
    _check(name, seed)


@pytest.mark.parametrize(
    "name",
    [
        "two corners meet",
        *(pytest.param(name, marks=pytest.mark.slow) for name in FAMILIES if name != "two corners meet"),
    ],
)
@pytest.mark.parametrize("seed", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_regions_with_equal_events_end_where_curves_meet(name, seed):
    """And each says why."""
    family, disguise = FAMILIES[name], Disguise.of(seed)
    reach = tuple(sorted(disguise.to(disguise.t, one) for one in family.reach))
    found = onesided.stability_map(disguise.system(family), "t", reach, **disguise.loading(family), samples=4)
    assert found.complete
    expected = {(disguise.to(disguise.t, t), kind.value) for kind, t, _ in family.meetings}
    inner = found.regions[:-1]
    assert [one.high for one in inner] == pytest.approx(sorted(t for t, _ in expected), rel=1e-9)
    assert [one.why for one in inner] == [why for _, why in sorted(expected)]
