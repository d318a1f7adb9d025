"""Servo conditions, friction in joints and configuration spaces in model files."""

import jax.numpy as jnp
import numpy as np
import pytest

from onesided import Projected, System, loads, simulate, zoo
from onesided.base.errors import ModelFileError
from onesided.groups import SE2, SE3, SO3, Product, Vector


def run(model, **knobs):
    system, task = model
    motion = task.motion
    control = task.p if motion.control is None else motion.control
    return simulate(system, task.start, dict(motion.velocities), motion.time, control=control, **knobs)


def line(t, order):
    """Derivatives of the crane's programme, p = 2 σ(t/4)."""
    p = np.polynomial.Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])
    return 2.0 * p.deriv(order)(t / 4.0) / 4.0**order if order else 2.0 * p(t / 4.0)


def test_crane_with_rope_and_two_inputs():
    """Servo conditions with a joint. The rope points along the force on the load: s = x − z ẍ/(z̈ + g)."""
    m, mt, mw, g, rise = 100.0, 20.0, 5.0, 9.81, 0.25
    motion = run(zoo.load("overhead-crane"), method=Projected(rtol=1e-10, max_step=0.1))
    assert "index 5" in motion.note
    t = motion.t
    x, a = line(t, 0), line(t, 2)
    z = -2.0 + rise * x

    def trolley(t):
        return line(t, 0) - (-2.0 + rise * line(t, 0)) * line(t, 2) / (rise * line(t, 2) + g)

    def rope(t):
        return np.hypot(line(t, 0) - trolley(t), -2.0 + rise * line(t, 0))

    def second(f, h=1e-3):
        return (-f(t + 2 * h) + 16 * f(t + h) - 30 * f(t) + 16 * f(t - h) - f(t - 2 * h)) / (12 * h * h)

    tension = m * np.hypot(a, rise * a + g)
    assert motion.q == pytest.approx(np.column_stack([trolley(t), rope(t), x, z]), abs=1e-9)
    assert motion.mu[:, 0] == pytest.approx(-tension / rope(t), rel=1e-8)
    inside = (t > 0.01) & (t < 3.99)  # the programme ends there: differences would reach beyond
    assert motion.u[inside, 0] == pytest.approx((mt * second(trolley) + m * a)[inside], abs=1e-5)
    assert motion.u[inside, 1] == pytest.approx((mw * second(rope) - tension)[inside], abs=1e-5)
    assert motion.work[-1] == pytest.approx(m * g * rise * 2.0, rel=1e-8)


@pytest.mark.slow  # compiles for long
def test_servo_with_a_joint_stated_twice():
    text = zoo.text("overhead-crane").replace(
        "[servo.along]", 'again = "x**2 - 2*x*s + s**2 + z**2 - L**2"\n[servo.along]'
    )
    once = run(zoo.load("overhead-crane"), method=Projected(rtol=1e-9))
    twice = run(loads(text), method=Projected(rtol=1e-9))
    assert twice.q[-1] == pytest.approx(once.q[-1], abs=1e-9)
    assert twice.not_unique == ("rope", "again")
    assert twice.mu[0, 0] + 2.0 * twice.mu[0, 1] == pytest.approx(once.mu[0, 0], rel=1e-9)


GUIDE = """
energy = "N*y"
[coordinates]
x = 0.0
y = 0.0
[parameters]
f = 0.3
[control]
name = "N"
start = 4.0
range = [0.0, 10.0]
[mass]
x = "1"
y = "1"
[bilateral]
guide = "y"
[friction]
x = "-f*abs(guide_force)*tanh(1000*x_dot)"
[motion]
time = [0, 0.5]
velocities = {x = 2}
"""


def test_friction_in_a_joint():
    """Constant normal force: uniform deceleration f N."""
    motion = run(loads(GUIDE))
    t = motion.t
    assert motion.q[:, 0] == pytest.approx(2.0 * t - 0.5 * 0.3 * 4.0 * t**2, abs=1e-9)
    assert motion.mu[:, 0] == pytest.approx(4.0)
    assert motion.work == pytest.approx(-0.3 * 4.0 * motion.q[:, 0], abs=1e-9)


def test_heavy_top_on_rotations():
    model = zoo.load("heavy-top")
    assert model.system.space == Product(Vector(3), SO3())
    motion = run(model, method=Projected(rtol=1e-9))
    assert motion.q[-1, :3] == pytest.approx([0.173343964, 0.640088592, -0.748490791], abs=1e-6)


@pytest.mark.slow  # compiles for long
def test_the_same_top_with_velocities_in_its_own_axes():
    text = zoo.text("heavy-top").replace('["R3", "SO3"]', '["SE3"]')
    model = loads(text)
    assert model.system.space == Product(SE3())
    motion = run(model, method=Projected(rtol=1e-9))
    assert motion.q[-1, :3] == pytest.approx([0.173343964, 0.640088592, -0.748490791], abs=1e-6)


PLATE = """
energy = "2*9.81*y"
kinetic = "x_dot**2 + y_dot**2 + 0.3*phi_dot**2/2"
space = ["SE2"]
[coordinates]
x = 0.5
y = 0.0
phi = 0.0
[control]
range = [0, 1]
[bilateral]
pin_x = "x - 0.5*cos(phi)"
pin_y = "y - 0.5*sin(phi)"
[motion]
time = [0, 1]
"""


def test_plate_on_a_pin_in_se2():
    """The compound pendulum in one angle, φ̈ = −m g r cos φ / (J + m r²), as the second route."""
    motion = run(loads(PLATE), method=Projected(rtol=1e-10))
    assert loads(PLATE).system.space == Product(SE2())
    angle = System(
        coordinates=("phi",),
        energy=lambda q, p, th: 2 * 9.81 * 0.5 * jnp.sin(q[0]),
        mass=lambda q, th: jnp.array([[0.3 + 2 * 0.25]]),
    )
    exact = simulate(angle, [0.0], [0.0], (0.0, 1.0), method=Projected(rtol=1e-11)).q[-1, 0]
    assert motion.q[-1] == pytest.approx([0.5 * np.cos(exact), 0.5 * np.sin(exact), exact], abs=1e-8)


CRANE = zoo.text("overhead-crane")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CRANE.replace('input = {s = "1"}', 'input = {S = "1"}'), "`S` is not a coordinate"),
        (CRANE.replace('input = {s = "1"}', "input = {}"), "wrong number of entries in `input`"),
        (CRANE.replace('input = {s = "1"}', ""), "`input` is missing"),
        (CRANE.replace('input = {s = "1"}', 'input = {s = "p"}'), "`p` has no place"),
        (CRANE.replace('condition = "x - p"', 'condition = "x - q"'), "unknown name `q`"),
        (CRANE.replace('condition = "x - p"', 'condition = "x - t"'), "`t` has no place"),
        (CRANE.replace('condition = "x - p"', 'conditions = "x - p"'), "unknown key 'conditions'"),
        (CRANE.replace("[servo.up]", "[servo.rope]"), "`rope` names two constraints"),
        (GUIDE.replace("x = \"-f", "u = \"-f"), "`u` is not a coordinate"),
        (GUIDE.replace("guide_force", "gide_force"), "guide_force"),
        (GUIDE.replace("guide_force", "N"), "`N` has no place"),
        (GUIDE.replace('[bilateral]\nguide = "y"', "").replace("guide_force", "x"), "no joint"),
        (GUIDE.replace("f = 0.3", "f = 0.3\nguide_force = 1.0"), "names two things"),
        (GUIDE.replace('energy = "N*y"', 'energy = "N*y*guide_force"'), "`guide_force` has no place in energy"),
        (PLATE.replace('"SE2"', '"SE4"'), "not a configuration space"),
        (PLATE.replace('["SE2"]', '"SE2"'), "space"),
        (PLATE.replace('"SE2"', '"SO3", "R1"'), "does not fit the coordinates"),
        (PLATE.replace("time = [0, 1]", "time = [1, 0]"), "empty or reversed"),
        (PLATE.replace("time = [0, 1]", 'time = [0, 1]\nmethod = "euler"'), "none of the words"),
        (PLATE.replace("time = [0, 1]", "time = [0, 1]\nsteps = 3"), "unknown key 'steps'"),
    ],
)  # fmt: skip
def test_mistakes_are_refused_with_their_place(text, words):
    with pytest.raises(ModelFileError) as caught:
        loads(text, "model.toml")
    assert words in str(caught.value)
    assert "model.toml" in str(caught.value)


@pytest.mark.parametrize(
    "table", ["[nonholonomic]\nr = 'a_x'", "[friction]\na_x = '1'", "[servo.s]\ncondition='a_x'\ninput={a_x='1'}"]
)
def test_tables_that_parts_do_not_read_are_not_dropped_in_silence(table):
    text = "[control]\nrange = [0, 1]\n[node.a]\nat = [0, 0]\nmass = 1\n" + table
    with pytest.raises(ModelFileError, match="no place beside parts"):
        loads(text)


def test_turning_a_vector_in_formulas():
    """Against the matrix exponential."""
    from scipy.linalg import expm

    from onesided.formulas.formula import parse

    a = np.array([0.3, -1.2, 0.8])
    S = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    exact = expm(S) @ [1.0, 2.0, 3.0]
    found = [parse(f"turn_{n}(a, b, c, 1, 2, 3)").evaluate(dict(zip("abc", a, strict=True))) for n in "xyz"]
    assert found == pytest.approx(exact, abs=1e-14)
    assert parse("turn_y(0, 0, pi/2, 1, 0, 0)").evaluate({}) == pytest.approx(1.0)
