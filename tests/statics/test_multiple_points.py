"""Paths through several multiple singular points: each is located on the path, with all that leaves it."""

import math
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

from onesided import Kind, System, rays, trace
from onesided.statics.rays import branching

TURNED = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]


def _normal_form(n, roots, mixed, *, b=1.0, c=0.3, sense=1.0, cubic=0.1):
    """Equilibria x = y = 0, p = z + cubic z³, with n-fold symmetry about them; both modes vanish where z is a root.

    U = z²/2 + cubic z⁴/4 − p z + a r²/2 + b r⁴/4 + c Re (x + iy)ⁿ/n, a = ± Π(z − root), (x, y, z) = `mixed` q.
    """

    def energy(q, p, th):
        x, y, z = mixed @ q
        re, im = 1.0, 0.0
        for _ in range(n):
            re, im = re * x - im * y, re * y + im * x
        r2, a = x * x + y * y, sense * jnp.prod(z - roots)
        return z * z / 2 + cubic * z**4 / 4 - p * z + a * r2 / 2 + b * r2**2 / 4 + c * re / n

    return System(("u", "v", "w"), energy)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("n", "apart", "b", "condition"),
    [
        (3, 0.1, 1.0, 30.0),
        (5, 0.1, -1.0, 1.0),
        *(pytest.param(n, 0.15, 1.1, condition, marks=SLOW) for n in (4, 6, 7, 8) for condition in (1.0, 100.0)),
        *(pytest.param(n, 0.02, -0.5, condition, marks=SLOW) for n in (3, 5, 6) for condition in (1.0, 300.0)),
    ],
)
def test_close_double_points_have_all_their_branches(n, apart, b, condition):
    """Branches that lead from one to the other and back are seen at both; degree 2 between them, 2n + 2 rays each."""
    mixed = np.diag(condition ** np.array([0.0, -0.5, -1.0])) @ TURNED
    roots = np.array([-0.4, -0.4 + apart])
    system = _normal_form(n, roots, mixed, b=b)
    start, p = np.linalg.solve(mixed, [0.0, 0.0, -2.0]), -2.8
    path = trace(system, start, p, p_bounds=(-3.0, 2.0))
    forks = [event for event in path.events if event.kind is Kind.smooth_bifurcation]
    assert [(mixed @ event.q)[2] for event in forks] == pytest.approx(roots.tolist(), abs=1e-9)
    assert [event.instability_after for event in forks] == [2, 0]
    for event in forks:
        assert len(event.rays) == 2 + 2 * n
    assert np.max(np.abs((path.q @ mixed.T)[:, :2])) < 1e-8


def _pyramid(n, h, turned, stiffness):
    """Apex on n bars to the unit circle that begins at the angle `turned`: p = k z (L₀/L − 1) while it is upright."""
    angles = 2.0 * np.pi * np.arange(n) / n + turned
    feet, rest = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles]), math.hypot(1.0, h)

    def energy(q, p, th):
        lengths = jnp.sqrt(jnp.sum((q - feet) ** 2, axis=1))
        return jnp.sum((lengths - rest) ** 2) * stiffness / (2 * n) + p * q[2]

    return System(("x", "y", "z"), energy)


def _upright_events(h, stiffness, lowest):
    """What an upright pyramid meets on its way down: (kind, load, change of degree), by closed forms."""
    rest = math.hypot(1.0, h)

    def vertical(z):
        return 1.0 - rest / math.hypot(1.0, z) ** 3

    def sideways(z):
        return 1.0 - rest / math.hypot(1.0, z) + rest / (2.0 * math.hypot(1.0, z) ** 3)

    z = np.linspace(h, lowest, 4001)
    found = []
    for function, kind, modes in ((vertical, Kind.limit, 1), (sideways, Kind.smooth_bifurcation, 2)):
        values = [function(one) for one in z]
        crossed = [i for i in range(len(z) - 1) if values[i] * values[i + 1] < 0]
        found += [(brentq(function, z[i + 1], z[i], xtol=1e-15), kind, modes) for i in crossed]
    return [(kind, stiffness * z * (rest / math.hypot(1.0, z) - 1.0), modes) for z, kind, modes in sorted(found)[::-1]]


@pytest.mark.parametrize(
    ("n", "h", "turned", "stiffness"),
    [
        (6, 1.7, 0.1, 6.0),
        pytest.param(8, 1.7, 0.0, 6.0, marks=SLOW),
        *(pytest.param(5, 1.6, 2.0, k, marks=SLOW) for k in (2e-3, 1e6)),
        pytest.param(9, 2.5, 0.7, 6.0, marks=SLOW),
        pytest.param(10, 1.58, 0.4, 6.0, marks=SLOW),
    ],
)
def test_upright_pyramids_stay_upright_through_all_their_double_points(n, h, turned, stiffness):
    path = trace(_pyramid(n, h, turned, stiffness), [0.0, 0.0, h], 0.0, p_bounds=(-h * stiffness, 3 * h * stiffness))
    wanted = _upright_events(h, stiffness, path["z"].min())
    events = [event for event in path.events if event.kind is not Kind.bound]
    assert [event.kind for event in events] == [kind for kind, _, _ in wanted]
    np.testing.assert_allclose([event.p for event in events], [p for _, p, _ in wanted], rtol=0, atol=1e-9 * stiffness)
    changes = [abs(event.instability_after - event.instability_before) for event in events]
    assert changes == [modes for _, _, modes in wanted]
    assert np.max(np.abs(path.q[:, :2])) < 1e-8


def test_a_change_of_degree_without_branches_is_never_complete(monkeypatch):
    """Equilibria of an energy fork where the number of negative modes changes: two rays alone are not all of them."""
    system = _normal_form(3, np.array([0.0, 1.0]), np.eye(3))
    assert rays(system, [0.0, 0.0, 0.0], 0.0).complete
    find, judge = branching.zeros_on_sphere, branching._more_inside

    def blind(functions, d, *, noise):
        """The zeros on the axis of p alone."""
        found = find(functions, d, noise=noise)
        seen = np.abs(found.points[:, 0]) > 0.999
        return replace(found, points=found.points[seen], signs=found.signs[seen], separation=found.separation[seen])

    monkeypatch.setattr(branching, "zeros_on_sphere", blind)
    monkeypatch.setattr(branching, "_more_inside", lambda *given: judge(*given) and False)
    found = rays(system, [0.0, 0.0, 0.0], 0.0)
    assert len(found) == 2
    assert not found.complete
    assert "negative modes" in found.reason
