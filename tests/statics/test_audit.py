"""The audit of paths: silent on every bundled model, loud where something is taken away or falsified."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided import Kind, Path, Status, System, zoo
from onesided.statics.checks.audit import audit, told
from onesided.statics.checks.balance import doubtful_steps, fails_between
from onesided.statics.curves.large import make_curve
from onesided.statics.tracing import hits, steps
from onesided.statics.tracing.trace import Tracer

NOISE = 1e-9
UNKNOWN = -1
FORK = System(("x", "y"), lambda q, p, th: (1 - p) * q[0] ** 2 / 2 + q[0] ** 4 / 4 + (q[1] - p) ** 2 / 2)
PAIR = System(  # two forks, 2w apart, on a straight path
    ("x", "y"),
    lambda q, p, th: ((p - th.m) ** 2 - th.w**2) * q[0] ** 2 / 2 + q[0] ** 4 / 4 + (q[1] - p) ** 2 / 2,
    parameters={"m": 1.0, "w": 0.01},
)
FLAT_STOP = System(
    ("x",),
    lambda q, p, th: (q[0] - p) ** 2 / 2,
    unilateral={"stop": lambda q, p, th: 1 - q[0]},
)


def findings(path: Path, inertia=None):
    return audit(path, np.full(len(path), UNKNOWN) if inertia is None else inertia, NOISE)


def words(path: Path) -> str:
    return told(findings(path), path.control)


def with_event(path: Path, number: int, **changes) -> Path:
    """The path with one of its events falsified."""
    events = list(path.events)
    events[number] = replace(events[number], **changes)
    return replace(path, events=tuple(events))


@pytest.fixture(scope="module")
def truss():
    system, task = zoo.load("von-mises")
    return onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)


@pytest.fixture(scope="module")
def fork():
    return onesided.trace(FORK, [0.0, 0.0], 0.0, p_bounds=(0, 2))


@pytest.fixture(scope="module")
def stop():
    return onesided.trace(FLAT_STOP, [0.0], 0.0, p_bounds=(0, 2))


def test_true_paths_pass(truss, fork, stop):
    for path in (truss, fork, stop):
        assert path.ok and not path.note and findings(path) == ()


def test_a_limit_point_changes_the_degree_by_one(truss):
    (first, *_) = [i for i, event in enumerate(truss.events) if event.kind is Kind.limit]
    assert "changes by +0" in words(with_event(truss, first, instability_after=0))
    assert "changes by +3" in words(with_event(truss, first, instability_after=3))


def test_a_limit_point_left_out_is_noticed(truss):
    rest = tuple(event for event in truss.events if event.kind is not Kind.limit)
    assert "turns back without a limit point" in words(replace(truss, events=rest))


def test_a_degree_is_not_negative(truss):
    assert "not negative" in words(with_event(truss, 0, instability_before=-1, instability_after=-2))


def test_a_degree_that_is_not_counted_is_noticed(truss):
    counted = truss.instability.copy()
    assert findings(truss, counted) == ()
    counted[len(counted) // 2] += 1
    assert "was reported" in findings(truss, counted)[0].words


def test_rays_come_in_pairs(fork):
    event = fork.events[0]
    assert len(event.rays) == 4
    side = next(i for i in event.forward if i != event.followed)
    kept = [i for i in range(4) if i != side]
    rays = replace(event.rays, rays=tuple(event.rays[i] for i in kept))
    known = {"incoming": kept.index(event.incoming), "followed": kept.index(event.followed)}
    assert "in pairs, here there are 3" in words(with_event(fork, 0, rays=rays, **known))
    assert findings(with_event(fork, 0, rays=replace(rays, complete=False), **known)) == ()


def test_signs_of_the_rays_add_up(fork):
    """0 → 1 with two stable branches: 1 = 1 + 1 − 1. With 0 → 0 there is no balance."""
    assert [ray.beyond for ray in fork.events[0].rays.rays].count(0) == 3
    assert "do not add up" in words(with_event(fork, 0, instability_after=0))


def test_one_contact_does_not_change_the_degree_alone(stop):
    assert "changes by +1" in words(with_event(stop, 0, instability_after=1))


def test_a_stable_path_does_not_end(stop):
    end = with_event(stop, 0, kind=Kind.end, followed=None, instability_after=None)
    assert "does not end" in words(end)


@pytest.mark.parametrize("w", [0.02, 0.005, 0.002])
def test_two_forks_on_one_step_are_told_apart(w):
    path = onesided.trace(PAIR.replace(parameters={"w": w}), [0.0, 0.0], 0.0, p_bounds=(0, 2))
    assert [(e.instability_before, e.instability_after) for e in path.events[:2]] == [(0, 1), (1, 0)]
    assert [e.p for e in path.events[:2]] == pytest.approx([1 - w, 1 + w], abs=1e-9)


ARCH = System(("x",), lambda q, p, th: q[0] ** 4 / 4 - q[0] ** 2 / 2 + 0.2 * jnp.sin(q[0]) - p * q[0])
ARCH_START = float(-(1.2**3) + 1.2 + 0.2 * np.cos(1.2))


def blind(monkeypatch, when):
    """Have a tracer see no limit points, for some methods."""

    def seen(tracer, b):
        stepper = tracer.stepper
        found = hits.find_hits(stepper.curve, stepper.point, b, tracer.watch, tracer.route.sides)
        return [hit for hit in found if hit.trigger is hits.Trigger.bound] if when(stepper.method) else found

    monkeypatch.setattr(Tracer, "_hits", seen)
    monkeypatch.setattr(steps, "explained", lambda a, b: True)


def test_a_tracer_that_is_blind_to_limit_points_is_found_out(monkeypatch):
    """Both attempts fail alike, and the path is not called a success."""
    assert onesided.trace(ARCH, [-1.2], ARCH_START, p_bounds=(-2, 2)).ok
    blind(monkeypatch, lambda method: True)
    path = onesided.trace(ARCH, [-1.2], ARCH_START, p_bounds=(-2, 2), throw=False)
    assert path.status is Status.contradictory and not path.ok
    assert "the degree of instability is 1 where 0 was reported (and 1 more)" in path.note
    history = onesided.drive(ARCH, [-1.2], [ARCH_START, 2.0], throw=False)
    assert history.status is Status.contradictory
    assert not onesided.diagram(ARCH, [-1.2], ARCH_START, p_bounds=(-2, 2)).complete


def test_every_verb_looks_again_with_shorter_steps(monkeypatch):
    def runs():
        drawn = onesided.diagram(ARCH, [-1.2], ARCH_START, p_bounds=(-2, 2))
        history = onesided.drive(ARCH, [-1.2], [ARCH_START, 2.0, -2.0])
        path = onesided.trace(ARCH, [-1.2], ARCH_START, p_bounds=(-2, 2))
        pieces = [path, *drawn.paths, *history.paths]
        assert drawn.complete and history.ok and all(piece.ok for piece in pieces)
        return [[(e.kind, round(e.p, 9), e.instability_after) for e in piece.events] for piece in pieces]

    usual = runs()
    assert sum(kind is Kind.limit for piece in usual for kind, *_ in piece) >= 4
    default = onesided.PredictorCorrector()
    blind(monkeypatch, lambda method: method.max_step == default.max_step)
    assert runs() == usual


def test_energy_and_work_agree_along_a_smooth_leg():
    rng = np.random.default_rng(0)
    s = np.cumsum(rng.uniform(0.5, 1.5, 40)) * 0.2
    energy, slope, none = np.sin(s) + s**2, np.cos(s) + 2 * s, np.full(len(s), 1e-12)
    assert not len(doubtful_steps(s, energy, slope, none))
    energy[20:] += 0.02
    assert doubtful_steps(s, energy, slope, none).tolist() == [19]


@pytest.mark.parametrize(("p_a", "p_b"), [(1.2, 1.25), (1.5, 1.6)])
def test_a_hop_to_the_buckled_branch_does_not_balance(p_a, p_b):
    """Steps on either branch of the fork balance; one from the straight to the buckled branch does not."""
    where = onesided.trace(FORK, [0.0, 0.0], 0.0, p_bounds=(0, 2)).events[0].origin.where
    curve = make_curve(FORK, np.arange(0), where.sizes, where.scales)

    def point(x, p):
        return np.array([x, p, p])

    bent = [point(np.sqrt(p - 1), p) for p in (p_a, p_b)]
    assert not fails_between(curve, point(0, p_a), point(0, p_b), 1e-12)
    assert not fails_between(curve, *bent, 1e-12)
    assert fails_between(curve, point(0, p_a), bent[1], 1e-12)


@pytest.mark.parametrize("width", [1e-3, 3e-4, 1e-4, 3e-5])
@pytest.mark.parametrize("a", [0.0, 0.381972, 0.7, 1.3])
@pytest.mark.parametrize("k", [1.0, 2.6643])
def test_a_slot_whose_gap_hardly_changes_is_no_contradiction(width, a, k):
    """r² − x² ≥ 0, multiplied out: rounding, divided by the slope 2r, shifts the load at which a reaction is found."""

    def slot(q, p, th):
        return th.r**2 - th.a**2 + 2 * th.a * q[0] - q[0] ** 2

    def energy(q, p, th):
        return th.k * q[0] ** 2 / 2 + 0.7 * q[0] ** 3 - p * q[0]

    held = System(("x",), energy, unilateral={"slot": slot}, parameters={"r": width, "a": a, "k": k})
    x = a + width
    force = k * x + 2.1 * x**2
    path = onesided.trace(held, [x], force + 0.5, p_bounds=(force - 0.3, force + 4), throw=False)
    assert path.ok, path.note
    assert path.kinds() == (Kind.bound,)
    np.testing.assert_allclose(path.q[:, 0], x, rtol=0, atol=4e-16 * (1 + a**2) / width)
    np.testing.assert_allclose(path["reaction slot"] * 2 * width, path.p - force, rtol=1e-4)
