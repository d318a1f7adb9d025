"""What tracing offers beyond the papers' examples: ends, user events, displacement control, iterator, bad input."""

from dataclasses import replace
from functools import partial
from itertools import islice

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import nnls

import onesided
from onesided import Kind, OnesidedError, SolveError, Status, System, zoo
from onesided.statics.tracing import path_method
from onesided.statics.tracing.trace import Tracer


def test_a_closed_path_ends_where_it_began():
    isola = System(coordinates=("x",), energy=lambda q, p, th: q[0] ** 3 / 3 + q[0] * (p**2 - 1))
    path = onesided.trace(isola, [1.0], 0.0)
    assert path.status is Status.closed
    assert np.allclose(path.q[:, 0] ** 2 + path.p**2, 1.0, atol=1e-11)
    assert [(e.kind, e.instability_after) for e in path.events] == [(Kind.limit, 1), (Kind.limit, 0)]
    assert [e.p for e in path.events] == pytest.approx([1, -1], abs=1e-14)
    assert (path.q[-1, 0], path.p[-1]) == (path.q[0, 0], path.p[0])


def wave():
    """p = sin x: a path without end between two bounds that it never leaves."""
    return System(coordinates=("x",), energy=lambda q, p, th: -jnp.cos(q[0]) - p * q[0])


def test_a_path_without_end_stops_and_says_so(monkeypatch):
    monkeypatch.setattr(path_method, "POINT_LIMIT", 200)
    system = wave()
    path = onesided.trace(system, [0.0], 0.0)
    assert path.ok and path.status is Status.enough and len(path) == pytest.approx(200, abs=1)
    assert "200 points" in path.note and "max_points" in path.note
    asked = onesided.trace(system, [0.0], 0.0, max_points=50)
    assert asked.status is Status.enough and not asked.note
    found = onesided.diagram(system, [0.0], 0.0, p_bounds=(-2.0, 2.0))
    assert not found.complete and "200 points" in found.note


def test_an_iterator_goes_on_as_long_as_it_is_asked(monkeypatch):
    monkeypatch.setattr(path_method, "POINT_LIMIT", 20)
    items = islice(onesided.iter_trace(wave(), [0.0], 0.0), 60)
    assert len([item for item in items if item.status is None]) == 60


def test_more_weak_constraints_than_can_be_enumerated_are_said_and_still_passed():
    n = 20
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    H = A @ A.T / n + np.eye(n)
    gaps = {f"c{i}": partial(lambda j, q, p, th: q[j], i) for i in range(n)}
    names = tuple(f"x{i}" for i in range(n))
    system = System(coordinates=names, energy=lambda q, p, th: q @ (H @ q) / 2 - p * (b @ q), unilateral=gaps)
    path = onesided.trace(system, onesided.solve(system, start=np.ones(n), p=-1.0).value.q, -1.0, p_bounds=(-1, 1))
    meeting = path.events[0]
    assert meeting.p == pytest.approx(0, abs=1e-12)
    assert not meeting.rays.complete
    assert "may be incomplete" in meeting.words()
    C = np.linalg.cholesky(H).T  # min ½xᵀHx − bᵀx over x ≥ 0 as non-negative least squares: an independent solver
    exact, _ = nnls(C, np.linalg.solve(C.T, b))
    assert np.allclose(path.q[-1], exact, atol=1e-8)


def test_displacement_control_removes_the_snap():
    system, task = zoo.load("von-mises")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    by_load = onesided.instability(system, path)
    inside = np.abs(path.q[:, 0]) < 0.277880091075165 - 1e-9
    assert np.array_equal(by_load == 1, inside)
    assert not onesided.instability(system, path, hold="y").any()
    with pytest.raises(OnesidedError, match="unknown coordinate 'z'"):
        onesided.instability(system, path, hold="z")


def test_user_events_are_located_without_changing_the_path():
    system, task = zoo.load("von-mises")
    path = onesided.trace(
        system, task.start, task.p, p_bounds=task.p_bounds, events={"half way": lambda q, p: q[0] - 0.1}
    )
    (event,) = [e for e in path.events if e.kind is Kind.user]
    assert event.detail == "half way"
    assert event.q[0] == pytest.approx(0.1, abs=1e-11)
    assert event.p == pytest.approx(0.022497079744992, abs=1e-11)
    assert [e.kind for e in path.events if e.kind is not Kind.user] == [Kind.limit, Kind.limit, Kind.bound]


def test_the_iterator_gives_the_same_points_as_the_verb():
    system, task = zoo.load("corner-limit")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    *items, last = onesided.iter_trace(system, task.start, task.p, p_bounds=task.p_bounds)
    assert last.status is Status.bound_reached
    rows = np.array([[item.p, item.q[0]] for item in (*items, last)])  # machine code of later calls rounds differently
    np.testing.assert_allclose(rows, [*zip(path.p, path.q[:, 0], strict=True), (path.p[-1], path.q[-1, 0])], atol=1e-14)
    assert [item.event.index for item in items if item.event] == [event.index for event in path.events]
    assert [item.event.kind for item in items if item.event] == list(path.kinds())


def test_brackets_contain_events_and_precision_is_round_off():
    system, task = zoo.load("bistable-chain")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    for event in path.events:
        low, high = event.bracket
        assert low <= path.s[event.index] <= high
        assert event.precision < 1e-13


def test_limits_on_points_and_events():
    system, task = zoo.load("von-mises")
    assert len(onesided.trace(system, task.start, task.p, max_points=5)) == 6
    path = onesided.trace(system, task.start, task.p, max_events=1)
    assert (path.status, len(path.events)) == (Status.enough, 1)
    assert path.p[-1] == pytest.approx(0.0429143257312247, abs=1e-14)


def test_start_that_is_no_equilibrium_is_corrected_and_said():
    system, _ = zoo.load("corner-limit")
    path = onesided.trace(system, [0.4], -1.0, p_bounds=(-1.5, 0.5))
    assert "it was moved by 0.4" in path.note
    assert path.q[0, 0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"p_bounds": (0, 1)}, "outside the bounds"),
        ({"direction": 0}, "not a sign"),
        ({"direction": 1, "p0": 0.0}, r"no path leaves the start with growing p; got rays: p -, p -.*direction=-1"),
    ],
)
def test_bad_requests_are_explained(arguments, message):
    system, _ = zoo.load("corner-limit")
    with pytest.raises(OnesidedError, match=message):
        onesided.trace(system, [0.0], arguments.pop("p0", -1.0), **arguments)


def test_nan_on_the_way_ends_the_path_with_its_good_points():
    system = System(coordinates=("x",), energy=lambda q, p, th: q[0] ** 2 / 2 - p * q[0] + jnp.sqrt(1 - q[0]) ** 5)
    path = onesided.trace(system, [0.0], 0.0, p_bounds=(0, 3), throw=False)
    assert path.status is Status.not_finite
    assert path.q[-1, 0] == pytest.approx(1.0, abs=1e-6)
    assert np.all(np.isfinite(path.q))
    assert path.residual < 1e-9
    with pytest.raises(SolveError) as failure:
        onesided.trace(system, [0.0], 0.0, p_bounds=(0, 3))
    assert len(failure.value.partial) == len(path)


def test_method_knobs_are_checked():
    with pytest.raises(OnesidedError, match="out of range"):
        onesided.PredictorCorrector(turn=0.0)
    with pytest.raises(OnesidedError, match="out of range"):
        onesided.FirstOrder(rtol=2.0)


def test_a_supplied_gradient_that_contradicts_the_energy_is_refused_before_work_begins():
    wrong = onesided.Function(lambda q, p, th: (q[0] - p) ** 2, gradient=lambda q, p, th: 2 * (q - 2 * p))
    with pytest.raises(OnesidedError, match="disagrees with the automatic one"):
        onesided.trace(System(coordinates=("x",), energy=wrong), [-0.5], -0.5, p_bounds=(-1, 1))
    with pytest.raises(OnesidedError, match=r"gradient of energy returned shape \(\)"):
        System(coordinates=("x",), energy=onesided.Function(wrong.value, gradient=lambda q, p, th: q[0]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": onesided.FirstOrder}, r"an instance, FirstOrder\(\)"),
        ({"method": "euler"}, "`method` of `trace` is not usable"),
        ({"p_bounds": (2, -2)}, "bounds are not usable"),
        ({"p_bounds": (0, 1, 2)}, "2 values"),
        ({"max_points": 0}, "max_points"),
    ],
)
def test_misuse_is_refused_at_once(arguments, message):
    system, task = zoo.load("corner-limit")
    with pytest.raises(OnesidedError, match=message):
        onesided.trace(system, task.start, task.p, **arguments)


def test_verbs_refuse_what_they_cannot_take(tmp_path):
    system, task = zoo.load("corner-limit")
    with pytest.raises(OnesidedError, match="not a method for equilibria"):
        onesided.solve(system, task.start, p=0.0, method=onesided.FirstOrder())
    with pytest.raises(OnesidedError, match="cannot be solved"):
        onesided.solve(np.eye(2))
    with pytest.raises(OnesidedError, match="no start"):
        onesided.solve(onesided.LCP(np.eye(2), -np.ones(2)), "lemke")
    with pytest.raises(OnesidedError, match="not a method"):
        onesided.solve(onesided.LCP(np.eye(2), -np.ones(2)), method="lemke")
    with pytest.raises(OnesidedError, match="`result` of `save` is not usable"):
        onesided.save(onesided.solve(system, start=task.start, p=-1.0), tmp_path / "x")


def test_results_compare_by_identity_and_display_briefly():
    system, task = zoo.load("corner-limit")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    assert path == path and path != onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    assert repr(path).startswith("<Path: ") and len(repr(path)) < 100
    assert hash(system)


def test_a_jam_ends_both_methods_honestly():
    jam = System(
        coordinates=("x",),
        energy=lambda q, p, th: q[0] ** 2 / 2,
        unilateral={"left": lambda q, p, th: q[0] + 0.5 - p, "right": lambda q, p, th: 0.5 - p - q[0]},
    )
    for method in (None, onesided.FirstOrder()):
        path = onesided.trace(jam, [0.0], 0.0, p_bounds=(0, 1), method=method, throw=False)
        assert not path.ok
        assert path.p.max() == pytest.approx(0.5, abs=1e-9)
        assert np.all(np.diff(path.p) >= -1e-12)  # never back along the way it came


def test_a_zero_mode_is_not_called_stable():
    loose = System(coordinates=("x", "y"), energy=lambda q, p, th: (q[0] - p) ** 2 + 0 * q[1])
    path = onesided.trace(loose, [0.0, 0.0], 0.0, p_bounds=(-1, 1))
    assert path.events[-1].neutral
    assert "not decided" in path.events[-1].words()
    assert "stable" not in path.events[-1].words().replace("stability", "")


def test_the_recheck_does_not_take_the_tracers_word(monkeypatch):
    honest = Tracer.pieces

    def lying(self):
        for item in (item for piece in honest(self) for item in piece.items()):
            item.point = replace(item.point, x=item.point.x + 1e-3)
            yield item

    monkeypatch.setattr(Tracer, "pieces", lying)
    system, task = zoo.load("von-mises")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds, throw=False)
    assert path.status is Status.inaccurate
    assert path.residual > 1e-4


@pytest.mark.parametrize("which", [1, 2])
def test_the_recheck_lets_nothing_pass_that_is_no_number(monkeypatch, which):
    """Force balance or gaps that are not finite where they are looked at once more."""
    honest = System.residual_packed

    def blind(self, x):
        found = list(honest(self, x))
        found[which] = np.full_like(found[which], np.nan)
        return tuple(found)

    system, task = zoo.load("corner-limit")
    monkeypatch.setattr(System, "residual_packed", blind)
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds, max_points=5, throw=False)
    assert path.status is Status.inaccurate and np.isnan(path.residual)


def test_the_second_method_gives_up_and_says_so():
    system, task = onesided.zoo.load("von-mises")
    few = onesided.FirstOrder(max_evaluations=200)
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds, method=few, throw=False)
    assert path.status is Status.max_iterations and not path.ok
    assert "use the default method" in path.note
    with pytest.raises(OnesidedError):
        onesided.FirstOrder(max_evaluations=0)
