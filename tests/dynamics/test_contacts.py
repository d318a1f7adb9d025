"""Motion with contacts against closed forms: bouncing, stacking, rocking, sliding, collisions in a row, clearance."""

import numpy as np
import pytest
from contact_models import (
    G,
    ball,
    bouncing,
    column,
    column_start,
    cradle,
    hopper,
    incline,
    puck,
    rocking_block,
    rough_hopper,
    slider_crank,
    tilted,
    zeno_time,
)

from onesided import Contact, EventDriven, Moreau, compose, drive, load_result, save, simulate, with_contacts, zoo
from onesided.elements import Body, Gravity, Marker, Node, PlaneContact, Revolute

EVENTS, STEPS = EventDriven(), Moreau(step=2e-3)


def times(motion, kind):
    return np.array([event.t for event in motion.events if event.kind.name == kind])


# the ball


def test_ball_by_events_is_exact_and_comes_to_rest():
    motion = simulate(ball(), [1.0], [0.0], (0.0, 5.0), method=EVENTS)
    sample = np.linspace(0.0, 2.0, 201)
    assert motion.at(sample)[0][:, 0] == pytest.approx(bouncing(sample), abs=1e-12)
    assert motion.at(1.0)[0][0] == pytest.approx(0.4680044525, abs=1e-10)
    assert times(motion, "impact")[0] == pytest.approx(np.sqrt(2 / G), abs=1e-14)
    (rest,) = [event for event in motion.events if event.kind.name == "accumulation"]
    end = float(rest.detail.split("t = ")[1].split(",")[0])
    assert end == pytest.approx(zeno_time(), abs=1e-10)
    after = motion.t > zeno_time()
    assert np.all(np.abs(motion.q[after]) < 1e-15)
    assert motion.lam[after] == pytest.approx(G)
    assert motion.drift.worst < 1e-12


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_ball_restitution(e):
    motion = simulate(ball(e), [1.0], [0.0], (0.0, 1.2), method=EVENTS)
    expected = bouncing(motion.t, e) if e else np.maximum(1 - G * motion.t**2 / 2, 0.0)
    assert motion.q[:, 0] == pytest.approx(expected, abs=1e-12)
    assert len(times(motion, "impact")) == {0.0: 1, 0.5: 3, 1.0: 1}[e]
    assert motion.work[-1] == pytest.approx({0.0: -G, 0.5: -G * (1 - 0.5**6), 1.0: 0.0}[e], abs=1e-11)


def test_ball_by_time_stepping_is_of_first_order_and_never_below_the_floor():
    sample, errors = np.linspace(0.0, 2.0, 401), []
    for h in (8e-3, 4e-3, 2e-3, 1e-3):
        motion = simulate(ball(), [1.0], [0.0], (0.0, 5.0), method=Moreau(step=h))
        assert motion.q.min() >= -np.spacing(1.0)
        assert motion.q[-1, 0] == pytest.approx(0.0, abs=1e-12)
        assert motion.lam[-1, 0] == pytest.approx(G)
        assert np.all(np.diff(motion.energy) <= 1e-9)  # never gained
        errors.append(np.mean(np.abs(motion.at(sample)[0][:, 0] - bouncing(sample))))
    order = np.polyfit(np.log([8, 4, 2, 1]), np.log(errors), 1)[0]
    assert 0.6 < order < 1.6
    assert errors[-1] < 2e-3


# the column


@pytest.mark.parametrize("method", [EVENTS, STEPS], ids=repr)
def test_column_comes_to_rest(method):
    motion = simulate(column(), column_start(), np.zeros(10), (0.0, 1.0), method=method)
    assert motion.energy[-1] == pytest.approx(98.1, abs=1e-9)
    assert motion.lam[-1] == pytest.approx(G * np.arange(10, 0, -1), rel=1e-9)
    gaps = np.diff(np.column_stack([np.full(len(motion.t), -0.1), motion.q]), axis=1) - 0.2
    assert gaps.min() > -1e-10
    assert motion.lam.min() >= 0.0
    moved = motion.projection[-1] if len(motion.projection) else 0.0
    assert motion.work[-1] + moved == pytest.approx(98.1 - motion.energy[0], abs=1e-9)
    assert abs(moved) <= 10 * 10 * (G * 2e-3) ** 2 * 10  # landings within a step: of second order in the step


def test_results_can_be_stored(tmp_path):
    motion = simulate(column(3), column_start(3), np.zeros(3), (0.0, 0.2), method=STEPS)
    again = load_result(save(motion, tmp_path / "run"))
    assert again.lam == pytest.approx(motion.lam)
    assert again.smooth is False
    assert again.events[0].words() == motion.events[0].words()


# rocking


def test_rocking_block_loses_what_housner_says():
    a, b = 0.2, 1.0
    motion = simulate(rocking_block(a, b), tilted(0.05), np.zeros(3), (0.0, 2.0), method=EVENTS)
    impacts = [event for event in motion.events if event.kind.name == "impact"]
    assert len(impacts) >= 2
    ratio = (1 - 1.5 * a**2 / (a**2 + b**2)) ** 2
    for event in impacts[:2]:
        i, j = np.flatnonzero(motion.t == event.t)[[0, -1]]
        rest = G * b  # potential energy of the upright block, which every impact passes
        kept = (motion.energy[j] - rest) / (motion.energy[i] - rest)
        assert kept == pytest.approx(ratio, rel=1e-7)
    assert np.all(np.diff(motion.energy) < 1e-9)
    assert motion.drift.position.max() < 1e-10


def test_rocking_block_by_time_stepping_agrees():
    start, span = tilted(0.05), (0.0, 0.8)
    exact = simulate(rocking_block(), start, np.zeros(3), span, method=EVENTS)
    stepped = simulate(rocking_block(), start, np.zeros(3), span, method=Moreau(step=5e-4))
    sample = np.linspace(0.0, 0.8, 81)
    assert stepped.at(sample)[0] == pytest.approx(exact.at(sample)[0], abs=2e-3)


# friction


@pytest.mark.parametrize("slope", [0.2, 0.3, 0.45])
def test_block_on_an_incline_sticks_below_the_angle_of_friction_and_slides_above(slope):
    mu, phi, t = 0.3, np.arctan(slope), 0.5
    motion = simulate(incline(phi, mu), [0.0, 0.0], [0.0, 0.0], (0.0, t), method=STEPS)
    a = G * max(0.0, np.sin(phi) - mu * np.cos(phi))
    assert np.hypot(*motion.q[-1]) == pytest.approx(a * t**2 / 2, abs=1e-11)
    assert motion.lam[1:, 0] == pytest.approx(G * np.cos(phi), rel=1e-9)
    assert motion.tangential[1:, 0] == pytest.approx(G * min(np.sin(phi), mu * np.cos(phi)), rel=1e-9)


def test_block_pushed_up_an_incline_stops_and_stays():
    mu, phi, v = 0.5, np.arctan(0.3), 2.0
    along = np.array([np.cos(phi), np.sin(phi)])
    motion = simulate(incline(phi, mu), [0.0, 0.0], v * along, (0.0, 1.0), method=Moreau(step=1e-3))
    brake = G * (np.sin(phi) + mu * np.cos(phi))
    assert motion.q[-1] @ along == pytest.approx(v**2 / (2 * brake), abs=1e-5)
    assert motion.v[-1] == pytest.approx([0.0, 0.0], abs=1e-12)
    assert np.all(np.diff(motion.energy) < (1e-3 * G) ** 2 / 8)  # what one step can be wrong by when it stops


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.1, 2.5])
def test_friction_in_space_is_the_same_in_every_direction(angle):
    mu, v = 0.4, 3.0
    way = np.array([np.cos(angle), np.sin(angle), 0.0])
    motion = simulate(puck(mu), [0.0, 0.0, 0.0], v * way, (0.0, 0.6), method=STEPS)
    assert motion.q[-1] == pytest.approx((v * 0.6 - mu * G * 0.6**2 / 2) * way, abs=1e-9)
    assert np.linalg.norm(motion.tangential[1:], axis=1) == pytest.approx(mu * motion.lam[1:, 0], rel=1e-9)
    stopped = simulate(puck(mu), [0.0, 0.0, 0.0], v * way, (0.0, 1.0), method=STEPS)
    assert stopped.q[-1] == pytest.approx(v**2 / (2 * mu * G) * way, abs=1e-4)
    assert stopped.v[-1] == pytest.approx(0.0, abs=1e-10)


# collisions


def test_newtons_cradle_with_small_gaps_hands_the_speed_on():
    start = np.arange(5) * 1.01
    motion = simulate(cradle(), start, [1.0, 0, 0, 0, 0], (0.0, 0.2), method=EVENTS)
    assert motion.v[-1] == pytest.approx([0, 0, 0, 0, 1.0], abs=1e-12)
    assert times(motion, "impact") == pytest.approx([0.01, 0.02, 0.03, 0.04], abs=1e-12)


def test_newtons_law_for_touching_balls():
    """Momentum and Newton's law at the first pair, the others pushed along: v₁ = −0.6, the rest 0.4; energy is kept."""
    motion = simulate(cradle(), np.arange(5) * 1.0, [1.0, 0, 0, 0, 0], (0.0, 0.1), method=EVENTS)
    assert motion.v[-1] == pytest.approx([-0.6, 0.4, 0.4, 0.4, 0.4], abs=1e-12)
    assert motion.energy[-1] == pytest.approx(0.5)


def test_slider_crank_with_clearance():
    r, length, c = 0.3, 1.0, 0.01
    start = [0.0, r + length, 0.0]  # the pin in the middle of its bearing
    motion = simulate(slider_crank(c), start, [3.0, 0.0, 0.0], (0.0, 3.0), method=EVENTS)
    theta, x, phi = motion.q.T
    off = np.hypot(x - length * np.cos(phi) - r * np.cos(theta), -length * np.sin(phi) - r * np.sin(theta))
    assert off.max() <= c * (1 + 1e-9)
    assert np.any(off > 0.99 * c)
    # the slider is no further from that of an ideal mechanism than the clearance, stretched by the rod's angle
    ideal = r * np.cos(theta) + np.sqrt(length**2 - (r * np.sin(theta)) ** 2)
    assert np.abs(x - ideal).max() <= 1.2 * c / np.cos(np.arcsin((r + c) / length))
    assert len(times(motion, "impact")) > 5
    assert np.all(np.diff(motion.energy) < 1e-9)
    stepped = simulate(slider_crank(c), start, [3.0, 0.0, 0.0], (0.0, 0.3), method=Moreau(step=1e-4))
    assert stepped.q[-1] == pytest.approx(motion.at(0.3)[0], abs=2e-3)


# the same model traced and simulated


@pytest.mark.parametrize("method", [EVENTS, Moreau(step=5e-3)], ids=lambda m: type(m).__name__)
def test_corner_limit_lands_where_drive_says(method):
    model = zoo.load("corner-limit")
    history = drive(model.system, [0.0], [-0.5, 0.25])
    (jump,) = history.jumps
    p = 0.25
    motion = simulate(model.system, [0.0], [0.0], (0.0, 60.0), method=method, control=p)
    assert motion.q[-1, 0] == pytest.approx(np.pi - np.arctan(p), abs=1e-5)
    assert motion.q[-1] == pytest.approx(history.q[-1], abs=1e-5)
    assert motion.v[-1] == pytest.approx(0.0, abs=1e-4)
    assert jump.q_to == pytest.approx(np.pi, abs=1e-6)


@pytest.mark.slow
def test_discs_in_a_hopper():
    """More than 200 contacts: no pair of discs overlaps, listed or not, and the momentum balance is met."""
    system, start, (a, _, n, radius) = hopper()
    N, h = len(start) // 2, 2e-3
    motion = simulate(system, start, np.zeros(2 * N), (0.0, 0.1), method=Moreau(step=h))
    assert motion.provenance["contacts"] >= 200
    assert motion.provenance["complementarity"] <= 1e-8
    x = motion.q[-1].reshape(N, 2)
    i, j = np.triu_indices(N, 1)
    assert np.linalg.norm(x[i] - x[j], axis=1).min() > 2 * radius - 1e-10
    walls, gate = motion.lam[:, len(a) : -N], motion.lam[:, -N:]
    up = np.sum(walls) * n[0, 1] + np.sum(gate)  # forces between discs cancel
    assert np.sum(motion.v[-1].reshape(N, 2)[:, 1]) == pytest.approx(h * up - N * G * 0.1, abs=1e-8)
    assert np.all(np.diff(motion.energy) < N * (G * h) ** 2 / 8)  # a landing within a step can be wrong by that


@pytest.mark.parametrize("method", [EVENTS, Moreau(step=1e-3)], ids=lambda m: type(m).__name__)
def test_composed_structures_land_on_their_contacts(method):
    """A rod on a hinge, let go horizontally, falls onto a floor that its free end reaches, and lies there."""
    system = compose(
        Node("o", (0.0, 0.0), fixed=True),
        Body("rod", (0.5, 0.0), mass=2.0, inertia=2.0 / 12),
        Marker("end", "rod", (-0.5, 0.0)),
        Marker("tip", "rod", (0.5, 0.0)),
        Revolute("pin", ("o", "end")),
        Gravity("g", (0.0, -G)),
        PlaneContact("floor", point="tip", normal=(0.0, 1.0), through=(0.0, -0.5)),
    )
    motion = simulate(system, system.start, {}, (0.0, 1.0), method=method)
    assert motion.q[-1, 2] == pytest.approx(-np.pi / 6, abs=1e-9)
    assert motion.lam[-1, 0] == pytest.approx(G, rel=1e-9)  # half of the weight
    gaps = motion.q[:, 1] + 0.5 * np.sin(motion.q[:, 2]) + 0.5
    assert gaps.min() > -1e-9
    assert np.linalg.norm(motion.q[:, :2], axis=1) == pytest.approx(0.5, abs=1e-9)


def test_a_composed_disk_slides_until_it_rolls():
    """A sliding disk loses a third of its speed to friction, whatever the coefficient, then rolls."""
    r, v, mu = 0.5, 1.2, 0.2
    bare = compose(
        Body("disk", (0.0, r), mass=2.0, inertia=r**2),
        Gravity("g", (0.0, -G)),
        PlaneContact("floor", point="disk", normal=(0.0, 1.0), radius=r),
    )
    contact = Contact(friction=mu, slip=lambda q, u, th: u[0] + r * u[2])
    system = with_contacts(bare, {"floor": contact})
    motion = simulate(system, system.start, [v, 0.0, 0.0], (0.0, 0.5), method=Moreau(step=1e-3))
    end = v / (3 * mu * G)
    assert motion.v[-1] == pytest.approx([2 * v / 3, 0.0, -2 * v / (3 * r)], abs=1e-9)
    assert motion.q[-1, 0] == pytest.approx(v * end - mu * G * end**2 / 2 + 2 * v / 3 * (0.5 - end), abs=1e-5)
    bounced = simulate(with_contacts(bare, {"floor": Contact(restitution=0.5)}), [0.0, 1.0 + r, 0.0], {}, (0.0, 0.6),
                       method=EVENTS)  # fmt: skip
    assert bounced.v[-1, 1] == pytest.approx(0.5 * np.sqrt(2 * G) - G * (0.6 - np.sqrt(2 / G)), abs=1e-11)


@pytest.mark.slow
def test_rough_discs_in_a_hopper():
    """Many contacts with friction: no overlap, Coulomb's law at every contact, and both balances of momentum."""
    system, start, (a, _, c, n, through, radius) = rough_hopper()
    N, h, T, mu = len(start) // 3, 2e-3, 0.06, 0.3
    motion = simulate(system, start, np.zeros(3 * N), (0.0, T), method=Moreau(step=h, accuracy=1e-8))
    assert motion.provenance["contacts"] >= 150
    assert motion.provenance["complementarity"] <= 1e-8
    assert motion.drift.balance.max() < 1e-12
    x = motion.q[-1].reshape(N, 3)[:, :2]
    i, j = np.triu_indices(N, 1)
    assert np.linalg.norm(x[i] - x[j], axis=1).min() > 2 * radius - 1e-10
    assert np.all(np.sum((x[c] - through) * n, axis=1) > radius - 1e-10)
    size = motion.lam.max()
    assert np.all(np.abs(motion.tangential) <= mu * motion.lam + 1e-7 * size)
    assert np.any(np.abs(motion.tangential) > 0.9 * mu * motion.lam + 1e-3 * size * (motion.lam <= 1e-3 * size))
    # forces between discs cancel; those of walls and gate are what is left of gravity
    press, rub = motion.lam[1:, len(a) :].sum(axis=0), motion.tangential[1:, len(a) :].sum(axis=0)
    up = press @ n[:, 1] + rub @ n[:, 0]
    assert motion.v[-1].reshape(N, 3)[:, 1].sum() == pytest.approx(h * up - N * G * T, abs=1e-8)
    # about the origin: each disc turns by its own friction, the pair's forces cancel
    arm = 0.0
    for k in range(1, len(motion)):
        q = motion.q[k - 1] + 0.5 * h * motion.v[k - 1]
        y = q.reshape(N, 3)[c, :2] - radius * n
        force = motion.lam[k, len(a) :, None] * n
        force = force + motion.tangential[k, len(a) :, None] * np.column_stack([-n[:, 1], n[:, 0]])
        arm += h * np.sum(y[:, 0] * force[:, 1] - y[:, 1] * force[:, 0]) - h * G * np.sum(q.reshape(N, 3)[:, 0])
    x, v = (y.reshape(N, 3) for y in (motion.q[-1], motion.v[-1]))
    angular = np.sum(x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]) + np.sum(v[:, 2]) * radius**2 / 2
    assert angular == pytest.approx(arm, abs=1e-3 * N * G * T)
