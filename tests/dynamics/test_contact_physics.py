"""Static and kinetic, rolling and spinning friction, keys of composed contacts: against closed forms."""

from functools import cache

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import Contact, EventDriven, ModelError, Moreau, System, compose, loads, simulate, with_contacts
from onesided.elements import (
    AngleStop,
    Body,
    Gravity,
    InsideContact,
    Node,
    PlaneContact,
    PolygonContact,
    RoundContact,
    SegmentContact,
)
from onesided.groups import SO3, Product, Vector, rotate

G = 9.81


def moments(motion, *kinds):
    return [event for event in motion.events if event.kind.name in kinds]


# static and kinetic coefficient


@cache
def on_a_belt(static=0.6, kinetic=0.3):
    """A unit mass on a spring, on a belt that moves at V."""
    return System(
        coordinates=("x", "z"),
        energy=lambda q, p, th: th.k * q[0] ** 2 / 2 + G * q[1],
        unilateral={"belt": lambda q, p, th: q[1]},
        parameters={"k": 40.0, "V": 0.2},
        mass=lambda q, th: jnp.eye(2),
        contacts={
            "belt": Contact(friction=kinetic, static_friction=static, slip=lambda q, v, th: v[0] - th.V),
        },
    )


def stick_slip_period(static, kinetic, k, V):
    """Time of sticking 2a/V with a = (μ_s − μ_k) g/k, and of slipping until the velocity is that of the belt again."""
    a, omega = (static - kinetic) * G / k, np.sqrt(k)
    return 2 * a / V, 2.0 / omega * (np.pi - np.arctan(a * omega / V))


def test_stick_slip_on_a_belt_has_the_period_of_its_closed_form():
    system, V = on_a_belt(), 0.2
    stick, slip = stick_slip_period(0.6, 0.3, 40.0, V)
    motion = simulate(system, [0.6 * G / 40.0 - 0.01, 0.0], [V, 0.0], (0.0, 3.0), method=EventDriven())
    slips, sticks = (np.array([event.t for event in moments(motion, kind)]) for kind in ("slips", "sticks"))
    assert slips[0] == pytest.approx(0.01 / V, abs=1e-9)
    assert np.diff(slips) == pytest.approx(np.full(len(slips) - 1, stick + slip), abs=1e-8)
    assert sticks[:2] - slips[:2] == pytest.approx([slip, slip], abs=1e-8)
    assert len(slips) >= 3
    assert motion.ok
    assert np.max(np.abs(motion.tangential)) == pytest.approx(0.6 * G, rel=1e-9)
    assert motion.energy - motion.energy[0] == pytest.approx(motion.work, abs=1e-8)


def test_moreau_follows_stick_slip_to_its_step():
    V, h = 0.2, 1e-3
    stick, slip = stick_slip_period(0.6, 0.3, 40.0, V)
    motion = simulate(on_a_belt(), [0.6 * G / 40.0 - 0.01, 0.0], [V, 0.0], (0.0, 1.9), method=Moreau(step=h))
    slipping = np.abs(motion.v[:, 0] - V) > 1e-6
    begins = motion.t[1:][slipping[1:] & ~slipping[:-1]]
    assert np.diff(begins) == pytest.approx(np.full(len(begins) - 1, stick + slip), abs=5 * h)
    assert len(begins) >= 2
    assert motion.ok


def test_equal_coefficients_are_coulombs_law():
    same = simulate(on_a_belt(0.3, 0.3), [0.0, 0.0], [0.2, 0.0], (0.0, 1.0), method=EventDriven())
    contact = Contact(friction=0.3, slip=lambda q, v, th: v[0] - th.V)
    plain = simulate(with_contacts(on_a_belt(), {"belt": contact}), [0.0, 0.0], [0.2, 0.0], (0.0, 1.0),
                     method=EventDriven())  # fmt: skip
    assert same.q[-1] == pytest.approx(plain.q[-1], abs=1e-14)


def test_moreau_tells_no_slip_where_sticking_friction_passes_the_kinetic_limit():
    """In the middle of a step the spring pulls with μ_k g exactly: less than μ_s g, so nothing happens."""
    step, V = 2.5e-4, 0.2
    start = 0.3 * G / 40.0 - V * 40.5 * step
    motion = simulate(on_a_belt(), [start, 0.0], [V, 0.0], (0.0, 0.02), method=Moreau(step=step))
    assert motion.events == ()


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_a_box_on_two_dependent_corners_breaks_loose_at_static_friction(unit):
    """Pushed by F = 4 t it begins to slide at t = μ_s g/4, then with μ."""

    def height(side):
        return lambda q, p, th: q[1] + unit * (0.2 * side * jnp.sin(q[2]) - 0.1 * jnp.cos(q[2]))

    def slip(side):
        return lambda q, v, th: v[0] - v[2] * unit * (0.2 * side * jnp.sin(q[2]) - 0.1 * jnp.cos(q[2]))

    sides = {"left": -1.0, "right": 1.0}
    box = System(
        coordinates=("x", "y", "angle"),
        energy=lambda q, p, th: G * unit * q[1],
        unilateral={name: height(side) for name, side in sides.items()},
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, unit**2 / 60])),
        force=lambda t, q, v, p, th: jnp.stack([4.0 * unit * t, 0.0 * t, 0.0 * t]),
        contacts={name: Contact(0.0, 0.3, slip(side), static_friction=0.6) for name, side in sides.items()},
    )
    first, t = 0.6 * G / 4, 2.0
    moved = 4 * (t**3 - first**3) / 6 - 0.3 * G * (t - first) ** 2 / 2 - 2 * first**2 * (t - first)
    motion = simulate(box, [0.0, 0.1 * unit, 0.0], [0.0, 0.0, 0.0], (0.0, t), method=EventDriven())
    assert [event.t for event in moments(motion, "slips")] == pytest.approx([first, first], rel=1e-9)
    assert motion.q[-1, 0] == pytest.approx(moved * unit, rel=1e-9)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"friction": 0.5, "static_friction": 0.4}, "static friction is below"),
        ({"static_friction": 0.4}, "needs kinetic"),
        ({"rolling_friction": 0.1}, "does not say how it rolls"),
        ({"spinning_friction": -0.1, "spinning": lambda q, v, th: v[0]}, "is negative"),
        ({"rolling_friction": np.inf, "rolling": lambda q, v, th: v[0]}, "not finite"),
    ],
)
def test_coefficients_that_make_no_sense_are_refused(keys, words):
    with pytest.raises(ModelError, match=words):
        Contact(slip=lambda q, v, th: v[0], **keys)


# rolling and spinning


R, CR, CS = 0.1, 0.004, 0.006


@pytest.fixture(scope="module")
def sphere():
    """A ball of unit mass on a floor with sliding, rolling and spinning friction."""
    I = 0.4 * R**2  # noqa: E741

    def spin(q, v):
        return rotate(q[3:], v[3:])

    return System(
        coordinates=("x", "y", "z", "a", "b", "c"),
        energy=lambda q, p, th: G * q[2],
        unilateral={"floor": lambda q, p, th: q[2] - R},
        space=Product(Vector(3), SO3()),
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 1.0, I, I, I])),
        contacts={
            "floor": Contact(
                friction=0.5,
                slip=lambda q, v, th: v[:2] + R * jnp.stack([-spin(q, v)[1], spin(q, v)[0]]),
                rolling_friction=CR,
                rolling=lambda q, v, th: spin(q, v)[:2],
                spinning_friction=CS,
                spinning=lambda q, v, th: spin(q, v)[2],
            )
        },
    )


def test_sphere_rolls_to_rest(sphere):
    """(I + m R²) α = −c_r m g while it rolls without slipping, along a straight line."""
    v, heading = 0.8, np.array([0.6, 0.8])
    a = CR * G / R / 1.4
    motion = simulate(sphere, [0.0, 0.0, R, 0, 0, 0], [*(v * heading), 0.0, *(v / R * np.array([-0.8, 0.6])), 0.0],
                      (0.0, 1.2 * v / a), method=EventDriven())  # fmt: skip
    (end,) = [event for event in moments(motion, "sticks") if event.name == "floor (rolling)"]
    assert end.t == pytest.approx(v / a, rel=1e-8)
    assert motion.q[-1, :2] == pytest.approx(v**2 / (2 * a) * heading, rel=1e-8)
    assert np.abs(motion.v[-1]) == pytest.approx(np.zeros(6), abs=1e-9)
    assert motion.ok


def test_spinning_sphere_comes_to_rest_in_both_methods(sphere):
    """I α = −c_s m g about the normal."""
    omega = 5.0
    t = 0.4 * R**2 * omega / (CS * G)
    start, spin = [0.0, 0.0, R, 0, 0, 0], [0.0, 0.0, 0.0, 0.0, 0.0, omega]
    motion = simulate(sphere, start, spin, (0.0, 1.3 * t), method=EventDriven())
    (end,) = [event for event in moments(motion, "sticks") if event.name == "floor (spinning)"]
    assert end.t == pytest.approx(t, rel=1e-9)
    assert motion.q[-1, 5] == pytest.approx(omega * t / 2, rel=1e-9)
    stepped = simulate(sphere, start, spin, (0.0, 1.3 * t), method=Moreau(step=t / 100))
    assert stepped.q[-1, 5] == pytest.approx(omega * t / 2, rel=0.02)
    assert stepped.v[-1, 5] == pytest.approx(0.0, abs=1e-9)
    assert stepped.ok


def test_disc_on_an_incline_stays_below_the_angle_of_rolling_friction():
    """A disc stays where tan φ ≤ c_r/R; else it rolls with a = g (sin φ − (c_r/R) cos φ)/1.5."""
    disc = loads("""
energy = "9.81*(y*cos(slope) - x*sin(slope))"
[coordinates]
x = 0.0
y = 0.1
angle = 0.0
[parameters]
slope = 0.03
[control]
range = [0, 1]
[mass]
x = "1"
y = "1"
angle = "0.005"
[unilateral]
plane = "y - 0.1"
[contacts.plane]
friction = 0.5
slip = "x_dot + 0.1*angle_dot"
rolling_friction = 0.004
rolling = "angle_dot"
""").system
    start = [0.0, 0.1, 0.0]
    rests = simulate(disc, start, [0.0] * 3, (0.0, 1.0), method=EventDriven())
    assert np.max(np.abs(rests.q[-1] - start)) < 1e-12
    steep = disc.replace(parameters={"slope": 0.06})
    rolls = simulate(steep, start, [0.0] * 3, (0.0, 1.0), method=EventDriven())
    a = G * (np.sin(0.06) - 0.04 * np.cos(0.06)) / 1.5
    assert rolls.q[-1, 0] == pytest.approx(a / 2, rel=1e-9)
    stepped = simulate(steep, start, [0.0] * 3, (0.0, 1.0), method=Moreau(step=0.01))
    assert stepped.q[-1, 0] == pytest.approx(a / 2, rel=1e-6)


# keys of composed contacts


def test_composed_ball_bounces_slides_and_rolls_as_stated_in_a_file():
    """From a slide with μ: rolling begins at t = 2 v/(7 μ g), at 5/7 of the speed (a disc: v/(3 μ g), 2/3)."""
    model = loads("""
[body.ball]
at = [0.0, 0.2]
mass = 2.0
inertia = 0.04
[gravity.g]
acceleration = [0.0, -9.81]
[plane_contact.floor]
point = "ball"
normal = [0, 1]
radius = 0.2
friction = 0.25
restitution = 0.5
[control]
range = [0, 1]
""")
    t = 1.5 / (3 * 0.25 * G)
    motion = simulate(model.system, [0.0, 0.2, 0.0], {"ball_x": 1.5}, (0.0, 2 * t), method=EventDriven())
    (event,) = moments(motion, "sticks")
    assert event.t == pytest.approx(t, rel=1e-9)
    assert motion.v[-1] == pytest.approx([1.0, 0.0, -1.0 / 0.2], rel=1e-8, abs=1e-8)
    bounce = simulate(model.system, [0.0, 0.3, 0.0], {}, (0.0, 0.2), method=EventDriven())
    first = np.sqrt(2 * 0.1 / G)
    assert moments(bounce, "impact")[0].t == pytest.approx(first, rel=1e-10)
    assert bounce.v[-1, 1] == pytest.approx(0.5 * G * first - G * (0.2 - first), rel=1e-9)


def test_ball_rolls_in_a_bowl_like_its_closed_form():
    """Small oscillations of a ball that rolls in a drum of the plane: ω² = g/((R − r)·1.5)."""
    drum, ball = 1.0, 0.2
    system = compose(
        Node("centre", (0.0, 0.0), fixed=True),
        Body("ball", (0.0, -0.8), mass=1.0, inertia=0.5 * ball**2),
        InsideContact("drum", ("centre", "ball"), radii=(drum, ball), friction=np.inf),
        Gravity("g", (0.0, -G)),
    )
    phi = 1e-3
    start = [0.8 * np.sin(phi), -0.8 * np.cos(phi), 0.0]
    quarter = np.pi / 2 / np.sqrt(G / (0.8 * 1.5))
    motion = simulate(system, start, {}, (0.0, quarter), method=EventDriven())
    assert motion.q[-1, 0] == pytest.approx(0.0, abs=1e-8)
    assert motion.v[-1, 0] == pytest.approx(-0.8 * phi * np.sqrt(G / 1.2), rel=1e-5)
    assert motion.ok


def test_gears_without_teeth_share_their_spin():
    """Two discs on fixed axes, pressed together: the slipping contact ends with equal surface speeds."""
    system = compose(
        Body("a", (0.0, 0.0), fixed="xy", inertia=2.0),
        Body("b", (0.0, 0.7), fixed="x", mass=1.0, inertia=1.0),
        RoundContact("rub", ("a", "b"), radii=(0.3, 0.4), friction=0.5),
        Gravity("g", (0.0, -G)),
    )
    motion = simulate(system, system.start, {"a_angle": 3.0}, (0.0, 3.0), method=EventDriven())
    t = moments(motion, "sticks")[0].t
    F = 0.5 * G
    assert t == pytest.approx(3.0 * 0.3 / (F * 0.3**2 / 2.0 + F * 0.4**2 / 1.0), rel=1e-9)
    a, _, b = motion.v[-1]
    assert 0.3 * a == pytest.approx(-0.4 * b, rel=1e-9)


@pytest.mark.slow
def test_box_with_outline_slides_to_rest_on_another():
    square = [(-0.5, -0.1), (0.5, -0.1), (0.5, 0.1), (-0.5, 0.1)]
    system = compose(
        Body("floor", (0.0, -0.1), fixed=True, outline=[(-9.0, -0.1), (9.0, -0.1), (9.0, 0.1), (-9.0, 0.1)]),
        Body("box", (0.0, 0.1), mass=1.0, inertia=0.1, outline=square),
        PolygonContact("touch", ("floor", "box"), friction=0.2),
        Gravity("g", (0.0, -G)),
    )
    motion = simulate(system, system.start, {"box_x": 1.0}, (0.0, 0.7), method=EventDriven())
    assert motion.q[-1, 0] == pytest.approx(1.0 / (2 * 0.2 * G), rel=1e-8)


@pytest.mark.slow
def test_composed_sphere_in_space_rolls_like_the_one_by_hand(sphere):
    ball = compose(
        Body("ball", (0.0, 0.0, R), mass=1.0, inertia=0.4 * R**2),
        PlaneContact("floor", "ball", normal=(0.0, 0.0, 1.0), radius=R, friction=0.5, rolling_friction=CR,
                     spinning_friction=CS),
        Gravity("g", (0.0, 0.0, -G)),
    )  # fmt: skip
    v0 = [0.5, -0.2, 0.0, 3.0, 1.0, 4.0]
    found = [simulate(system, [0.0, 0.0, R, 0.0, 0.0, 0.0], v0, (0.0, 0.4), method=EventDriven())
             for system in (ball, sphere)]  # fmt: skip
    assert found[0].q[-1] == pytest.approx(found[1].q[-1], abs=1e-9)
    assert [event.kind for event in found[0].events] == [event.kind for event in found[1].events]


@pytest.mark.slow
def test_ball_rolls_off_a_ball_where_its_closed_form_says():
    """From rest at θ₀ a ball that rolls on a fixed one leaves it where cos θ = (10/17) cos θ₀."""
    start = 1.25 * np.array([0.6 * np.sin(0.3), 0.8 * np.sin(0.3), np.cos(0.3)])
    system = compose(
        Node("o", (0.0, 0.0, 0.0), fixed=True),
        Body("ball", tuple(start), mass=1.0, inertia=0.4 * 0.25**2),
        RoundContact("touch", ("o", "ball"), radii=(1.0, 0.25), friction=np.inf),
        Gravity("g", (0.0, 0.0, -G)),
    )
    motion = simulate(system, system.start, {}, (0.0, 0.8), method=EventDriven())
    (leave,) = moments(motion, "opens")
    assert leave.q[2] / 1.25 == pytest.approx(10 / 17 * np.cos(0.3), rel=1e-8)
    assert leave.q[0] / leave.q[1] == pytest.approx(0.75, rel=1e-8)


def test_a_point_slides_to_rest_on_a_thick_segment():
    system = compose(
        Node("a", (-5.0, 0.0), fixed=True),
        Node("b", (5.0, 0.0), fixed=True),
        Node("m", (0.0, 0.1), mass=1.0),
        SegmentContact("touch", ("a", "b"), ("m",), thickness=0.1, friction=0.2),
        Gravity("g", (0.0, -G)),
    )
    motion = simulate(system, system.start, {"m_x": 1.0}, (0.0, 0.8), method=EventDriven())
    assert motion.q[-1, 0] == pytest.approx(1.0 / (2 * 0.2 * G), rel=1e-9)


def test_keys_that_do_not_fit_are_refused_by_name():
    places = [Body("b", (0.0, 1.0), mass=1.0, inertia=1.0), Gravity("g", (0.0, -G))]
    wall = {"point": "b", "normal": (0.0, 1.0)}
    with pytest.raises(ModelError, match=r"plane_contact 'w': .*spinning"):
        compose(*places, PlaneContact("w", **wall, spinning_friction=0.1))
    with pytest.raises(ModelError, match=r"plane_contact 'w': .*restitution"):
        compose(*places, PlaneContact("w", **wall, restitution=2.0))
    with pytest.raises(ModelError, match="moves"):
        compose(Body("m", (0.0, 0.0), fixed="xy", moves={"x": 1.0}), *places,
                RoundContact("r", ("m", "b"), radii=(0.5, 0.5), friction=0.1))  # fmt: skip
    assert AngleStop("s", bodies="b", lower=-1.0, restitution=0.5).restitution == 0.5
