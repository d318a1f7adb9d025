"""Mistakes in stating motion: refused early, in words, or ended with what was achieved."""

import jax.numpy as jnp
import numpy as np
import pytest
from motion_models import on_circle, pendulum

from onesided import (
    Compliances,
    GeneralizedAlpha,
    ModelError,
    Projected,
    Radau,
    SolveError,
    Status,
    System,
    simulate,
)
from onesided.base.errors import UsageError
from onesided.groups import SO3

START = on_circle(np.pi / 3, 0.0)
SYSTEM = pendulum()


@pytest.mark.parametrize("span", [(1.0, 0.0), (0.0, 0.0), (0.0, np.inf), (0.0, np.nan), 3.0, (0.0,), "ab"])
def test_time_spans_that_make_no_sense(span):
    with pytest.raises(UsageError, match=r"time span|t_span"):
        simulate(SYSTEM, *START, span)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Projected(rtol=0.0), "rtol"),
        (lambda: Radau(step=-1.0), "step"),
        (lambda: GeneralizedAlpha(rho=2.0), "rho"),
        (lambda: GeneralizedAlpha(form="index3"), "form"),
        (lambda: Compliances({"rod": 0.0}), "compliance"),
    ],
)
def test_knobs_out_of_range(make, words):
    with pytest.raises(UsageError, match=words):
        make()


def test_things_that_are_no_method_or_no_system():
    with pytest.raises(UsageError, match="not a method"):
        simulate(SYSTEM, *START, (0.0, 1.0), method="radau")
    with pytest.raises(UsageError, match="`system` of `simulate`"):
        simulate("pendulum", *START, (0.0, 1.0))
    with pytest.raises(ModelError, match="unknown constraint 'rood'"):
        simulate(SYSTEM, *START, (0.0, 1.0), multipliers=Compliances({"rood": 1.0}))
    with pytest.raises(ModelError, match="unknown event"):
        simulate(SYSTEM, *START, (0.0, 1.0), stop=("nothing",))


def test_velocities_are_checked():
    with pytest.raises(UsageError, match="velocities"):
        simulate(SYSTEM, START[0], [1.0], (0.0, 1.0))
    with pytest.raises(UsageError, match="unknown coordinate"):
        simulate(SYSTEM, START[0], {"z": 1.0}, (0.0, 1.0))


def test_a_system_without_mass():
    with pytest.raises(ModelError, match="no mass"):
        simulate(pendulum(mass=None), *START, (0.0, 1.0))


def test_mass_singular_where_the_constraints_allow_motion():
    light = pendulum(mass=lambda q, th: jnp.diag(jnp.array([0.0, 0.0])))
    with pytest.raises(ModelError, match="mass matrix is singular") as caught:
        simulate(light, [1.0, 0.0], [0.0, 0.0], (0.0, 1.0))
    assert "motion of y" in str(caught.value)


def test_mass_singular_across_the_constraints_is_fine():
    """No mass along the guide's normal: the guide carries it, accelerations are unique."""
    guide = System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: -3.0 * q[0],
        bilateral={"guide": lambda q, p, th: q[1]},
        mass=lambda q, th: jnp.diag(jnp.array([2.0, 0.0])),
    )
    motion = simulate(guide, [0.0, 0.0], [0.0, 0.0], (0.0, 1.0))
    assert motion.q[-1] == pytest.approx([0.75, 0.0], abs=1e-12)


def test_dependent_constraints_at_the_start_are_named():
    motion = simulate(
        pendulum(bilateral={"rod": lambda q, p, th: q @ q - 1.0, "copy": lambda q, p, th: 3.0 * (q @ q - 1.0)}),
        *START,
        (0.0, 0.1),
    )
    assert "rod, copy are not unique" in motion.note


def test_constraints_that_contradict_each_other():
    both = pendulum(bilateral={"short": lambda q, p, th: q @ q - 1.0, "long": lambda q, p, th: q @ q - 4.0})
    with pytest.raises(SolveError, match="cannot be met") as caught:
        simulate(both, *START, (0.0, 1.0))
    assert "is off by" in str(caught.value)


@pytest.mark.parametrize("method", [Projected(), Radau(), GeneralizedAlpha()], ids=lambda m: type(m).__name__)
def test_a_force_that_becomes_nan_names_time_and_state(method):
    broken = pendulum(force=lambda t, q, v, p, th: jnp.sqrt(0.4 - t) * jnp.ones(2))
    with pytest.raises(SolveError, match="not finite") as caught:
        simulate(broken, *START, (0.0, 1.0), method=method)
    motion = caught.value.partial
    assert motion.status is Status.not_finite
    assert 0.3 < motion.t[-1] <= 0.4
    assert "t = 0.3" in motion.note or "t = 0.4" in motion.note
    assert "x = " in motion.note
    with pytest.raises(ModelError, match="force is not finite at t = 0"):
        simulate(pendulum(force=lambda t, q, v, p, th: jnp.sqrt(t - 1.0) * q), *START, (0.0, 1.0), method=method)


@pytest.mark.parametrize("method", [Projected(), Radau(rtol=1e-6)], ids=lambda m: type(m).__name__)
def test_steps_below_the_minimum_return_what_was_achieved(method):
    """ẋ = x² blows up at t = 1: no method can pass it."""
    bomb = System(
        coordinates=("x",),
        energy=lambda q, p, th: 0.0 * q[0],
        force=lambda t, q, v, p, th: 2.0 * q * v,
        mass=lambda q, th: jnp.eye(1),
    )
    motion = simulate(bomb, [1.0], [1.0], (0.0, 2.0), method=method, throw=False)
    assert motion.status in {Status.step_too_small, Status.not_finite}
    assert motion.t[-1] == pytest.approx(1.0, abs=1e-3)
    t = motion.t[motion.t < 0.9]
    assert motion.q[: len(t), 0] == pytest.approx(1 / (1 - t), rel=1e-6 if isinstance(method, Projected) else 1e-3)


def test_too_many_steps():
    motion = simulate(SYSTEM, *START, (0.0, 10.0), max_steps=5, throw=False)
    assert motion.status is Status.max_iterations
    assert len(motion) == 6


def test_impossible_prescribed_motion():
    """A rod of length 1 whose end is pulled out of reach at t = 1: both constraints become dependent there."""
    arm = System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: 0.0 * q[0],
        bilateral={"rod": lambda q, p, th: 0.5 * (q @ q - 1.0), "pull": lambda q, p, th: q[0] - p},
        mass=lambda q, th: jnp.eye(2),
    )
    motion = simulate(arm, [0.0, 1.0], [1.0, 0.0], (0.0, 2.0), control=lambda t: t, throw=False)
    assert not motion.ok
    assert motion.status in {Status.singular_configuration, Status.step_too_small}
    assert motion.t[-1] == pytest.approx(1.0, abs=1e-3)
    if motion.status is Status.singular_configuration:
        assert "rod, pull" in motion.note
    assert motion.q[:, 0] == pytest.approx(motion.t, abs=1e-8)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"kinetic": lambda q, v, th: v @ v}, "both `kinetic` and `mass`"),
        ({"mass": lambda q, th: jnp.ones(2)}, "`mass` returned shape"),
        ({"force": lambda t, q, v, p, th: 1.0}, "`force` returned shape"),
        ({"force": lambda q: q}, "`force` cannot be evaluated"),
        ({"nonholonomic": {"n": lambda q, v, th: v}}, "non-holonomic constraint 'n' returned shape"),
        ({"nonholonomic": {"rod": lambda q, v, th: v[0]}}, "constraint name used twice"),
        ({"friction": 3.0}, "`friction` is not a function"),
        ({"servo": {"s": lambda q, p, th: q[0]}}, "belong together"),
        ({"space": SO3()}, "does not fit the coordinates"),
        ({"space": "SO3"}, "no configuration space"),
    ],
)
def test_models_that_cannot_be_right(parts, words):
    with pytest.raises(ModelError, match=words):
        pendulum(**parts)


def test_controls_that_cannot_be_right():
    with pytest.raises(UsageError, match="control"):
        simulate(SYSTEM, *START, (0.0, 1.0), control=lambda t: jnp.array([t, t]))
    with pytest.raises(UsageError, match="control"):
        simulate(SYSTEM, *START, (0.0, 1.0), control=np.nan)


def test_times_outside_a_motion():
    motion = simulate(SYSTEM, *START, (0.0, 1.0))
    for t in (-0.1, 1.1, np.nan, [0.5, 2.0]):
        with pytest.raises(UsageError, match="outside the motion"):
            motion.at(t)


def test_a_wrong_motion_is_not_called_good():
    """A step far too large for generalized-α: it reaches the end, the energy balance tells."""
    with pytest.raises(SolveError, match="recheck") as caught:
        simulate(SYSTEM, *START, (0.0, 5.0), method=GeneralizedAlpha(step=0.1, rho=0.5))
    assert caught.value.partial.status is Status.inaccurate
    assert "energy" in caught.value.partial.note
