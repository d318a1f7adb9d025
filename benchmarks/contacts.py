"""Motion with contacts: a bouncing ball, a column of balls, piles of discs; peers where they are installed.

Figures of other codes, measured elsewhere per simulated second: ball, Siconos event-driven 1.4e-14 error; column of 10,
Siconos Moreau–Jean with projection 0.060 s, penetration 6e-17; MuJoCo 0.010 s, penetration 8e-5.

Run: python benchmarks/contacts.py
"""

import sys
import time
from pathlib import Path

import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "dynamics"))
from contact_models import ball, bouncing, column, column_start, hopper, rough_hopper, zeno_time
from contacts_peers import PEERS, Pile, sphere_with_exudyn

from onesided import Contact, EventDriven, Moreau, System, simulate
from onesided.groups import SO3, Product, Vector, rotate


def timed(*arguments, **options):
    """A second run, so that compilation is not counted."""
    simulate(*arguments, **options)
    wall, cpu = time.perf_counter(), time.process_time()
    motion = simulate(*arguments, **options)
    return motion, time.perf_counter() - wall, time.process_time() - cpu


def show_ball():
    sample = np.linspace(0.0, 2.0, 401)
    for method in (EventDriven(), Moreau(step=1e-3)):
        motion, _, cpu = timed(ball(), [1.0], [0.0], (0.0, 5.0), method=method)
        error = np.max(np.abs(motion.at(sample)[0][:, 0] - bouncing(sample)))
        rest = np.max(np.abs(motion.q[motion.t > zeno_time() + 0.1]))
        print(
            f"ball, {type(method).__name__}: error to t = 2 {error:.1e}, after the Zeno time |z| {rest:.1e}, "
            f"penetration {max(0.0, -motion.q.min()):.1e}, {cpu / 5:.4f} s CPU per simulated second"
        )


def show_bounces():
    """Thousands of impacts of one ball: cost of each."""
    motion, wall, cpu = timed(ball(0.9999), [0.01], [0.0], (0.0, 400.0), method=EventDriven())
    impacts = np.array([event.t for event in motion.events])
    exact = np.sqrt(0.02 / 9.81) * (2.0 * np.cumsum(0.9999 ** np.arange(len(impacts))) - 1.0)
    print(
        f"ball with e = 0.9999, {len(impacts)} impacts: {1e3 * cpu / len(impacts):.3f} ms CPU "
        f"({1e3 * wall / len(impacts):.3f} ms wall) each, times to {np.max(np.abs(impacts - exact)):.1e}"
    )


def show_driven_and_turning():
    """Impacts on a table that moves, and of a rough sphere whose orientation is a rotation: cost of each."""
    table = System(
        coordinates=("z",), energy=lambda q, p, th: 9.81 * q[0], mass=lambda q, th: jnp.eye(1),
        unilateral={"table": lambda q, p, th: q[0] - p}, contacts={"table": Contact(restitution=0.9)},
    )  # fmt: skip
    sphere = System(
        coordinates=("x", "y", "z", "a", "b", "c"), energy=lambda q, p, th: 9.81 * q[2],
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, 1.0, 0.004, 0.004, 0.004])),
        unilateral={"floor": lambda q, p, th: q[2] - 0.1}, space=Product(Vector(3), SO3()),
        contacts={"floor": Contact(restitution=0.999, friction=0.3, slip=lambda q, v, th: (
            v[:3] + jnp.cross(rotate(q[3:], v[3:]), jnp.array([0.0, 0.0, -0.1])))[:2])},
    )  # fmt: skip
    shaken = {"control": lambda t: 0.02 * jnp.sin(30.0 * t)}
    for name, given, options in (
        ("ball on a table that moves", (table, [0.1], [0.0], (0.0, 1000.0)), shaken),
        ("sphere on ℝ³ × SO(3), rough floor", (sphere, [0, 0, 0.11, 0.1, 0.2, 0.3], [0.1, 0.2, 0, 1, 2, 3],
                                               (0.0, 100.0)), {}),
    ):  # fmt: skip
        motion, wall, cpu = timed(*given, method=EventDriven(), **options)
        count = len(motion.events)
        print(f"{name}, {count} impacts: {1e3 * cpu / count:.3f} ms CPU ({1e3 * wall / count:.3f} ms wall) each")


SPHERE = 0.1, 0.004, 1.0  # radius, inertia, speed
ROUGH = 0.3
PENALTIES = ((1e-3, 1e4, 1e-2), (5e-4, 1e5, 1e-3), (2e-4, 1e6, 1e-3), (1e-4, 1e6, 1e-4))  # step, stiffness, zone


def show_sphere():
    """A sphere thrown along a rough floor slides, then rolls; errors of its place and speed after 1 s."""
    R, I, v = SPHERE  # noqa: E741
    sphere = System(
        coordinates=("x", "y", "z", "a", "b", "c"), energy=lambda q, p, th: 9.81 * q[2],
        unilateral={"floor": lambda q, p, th: q[2] - R}, mass=lambda q, th: jnp.diag(jnp.array([1.0] * 3 + [I] * 3)),
        contacts={"floor": Contact(friction=ROUGH, slip=lambda q, v, th: v[:2] + R * jnp.array([-v[4], v[3]]))},
    )  # fmt: skip
    for method in (EventDriven(), *(Moreau(step=h) for h in (1e-3, 5e-3, 1e-2))):
        start = [0.0, 0.0, R, 0.0, 0.0, 0.0], [v, 0.0, 0.0, 0.0, 0.0, 0.0], (0.0, 1.0)
        runs = [timed(sphere, *start, method=method) for _ in range(3)]  # until many steps at once are compiled
        motion, cpu = runs[-1][0], min(each[2] for each in runs)
        words = f"Moreau({method.step:g})" if isinstance(method, Moreau) else "EventDriven"
        tell_sphere(words, motion.q[-1, 0], motion.v[-1, 0], cpu)
    for penalty in PENALTIES:
        if sphere_with_exudyn(SPHERE, ROUGH, penalty) is None:
            print("Exudyn is not installed: not compared")
            return
        found = []
        for _ in range(3):
            run, begin = sphere_with_exudyn(SPHERE, ROUGH, penalty), time.process_time()
            found.append((*run(), time.process_time() - begin))
        tell_sphere(f"Exudyn, penalty {penalty[1]:g}, step {penalty[0]:g}", *min(found, key=lambda each: each[2]))


def tell_sphere(words, x, v, cpu):
    """A row, with the errors against the closed form."""
    speed = SPHERE[2]
    slides = 2.0 * speed / (7.0 * ROUGH * 9.81)
    place = speed * slides - ROUGH * 9.81 * slides**2 / 2.0 + 5.0 / 7.0 * speed * (1.0 - slides)
    errors = f"error of the place {abs(x - place):.1e}, of the speed {abs(v - 5.0 / 7.0 * speed):.1e}"
    print(f"sliding sphere, {words}: {errors}, {cpu:.4f} s CPU per simulated second")


def show_column():
    for method in (EventDriven(), Moreau(step=1e-3)):
        motion, wall, cpu = timed(column(), column_start(), np.zeros(10), (0.0, 1.0), method=method)
        gaps = np.diff(np.column_stack([np.full(len(motion.t), -0.1), motion.q]), axis=1) - 0.2
        print(
            f"column of 10, {type(method).__name__}: rest energy {motion.energy[-1]:.9f} J, floor force "
            f"{motion.lam[-1, 0]:.9f} N, penetration {max(0.0, -gaps.min()):.1e}, "
            f"{cpu:.4f} s CPU ({wall:.4f} s wall) per simulated second"
        )


def show_pile(name, made, accuracy=1e-10):
    system, start, _ = made
    motion, wall, cpu = timed(
        system, start, np.zeros(len(start)), (0.0, 0.1), method=Moreau(step=2e-3, accuracy=accuracy)
    )
    facts, steps = motion.provenance, len(motion) - 1
    print(
        f"{name}: {facts['contacts']} contacts of {len(system.unilateral)} candidates, complementarity "
        f"{facts['complementarity']:.1e}, momentum balance {facts['momentum balance']:.1e}, "
        f"{wall / steps * 1e3:.1f} ms wall, {cpu / steps * 1e3:.1f} ms CPU per step"
    )
    return motion, cpu / steps


def compare_piles(motion, cpu, start, radius):
    """The rough hopper, ours and the peers': penetration of any pair, residual of the contact law, time per step.

    A residual in brackets is that of a law of its own, softened.
    """
    pile = Pile(start.reshape(-1, 3)[:, :2], radius, friction=0.3)
    print(
        f"{'rough hopper, steps of 2 ms':30} {'penetration':>12} {'residual':>10} {'CPU per step':>13} {'contacts':>9}"
    )
    ours = pile.penetration(motion.q.reshape(len(motion), -1, 3)[:, :, :2])
    rows = [
        ("onesided, Moreau", ours, f"{motion.provenance['complementarity']:.1e}", cpu, motion.provenance["contacts"])
    ]
    for name, peer in PEERS.items():
        try:
            found = peer(pile, 0.1, 2e-3)
        except (AttributeError, ImportError, TypeError, RuntimeError) as e:
            print(f"{name:30} did not run: {type(e).__name__}: {e}")
            continue
        if found is None:
            print(f"{name:30} is not installed: not compared")
        else:
            rows.append((name, *found))
    for name, penetration, residual, seconds, contacts in rows:
        print(f"{name:30} {penetration:12.1e} {residual:>10} {seconds * 1e3:10.2f} ms {contacts:9d}")


if __name__ == "__main__":
    show_ball()
    show_bounces()
    show_driven_and_turning()
    show_sphere()
    show_column()
    show_pile("154 smooth discs in a hopper", hopper())
    rough = rough_hopper()
    compare_piles(*show_pile("154 rough discs that turn", rough, 1e-8), rough[1], rough[2][-1])
