"""Models of motion with contacts, stated once for tests, benchmarks and examples."""

from functools import cache

import jax.numpy as jnp
import numpy as np

from onesided import Contact, System, rows

G = 9.81


@cache
def ball(e=0.8):
    return System(
        coordinates=("z",),
        energy=lambda q, p, th: th.g * q[0],
        unilateral={"floor": lambda q, p, th: q[0]},
        parameters={"g": G},
        mass=lambda q, th: jnp.eye(1),
        contacts={"floor": Contact(restitution=e)},
    )


def bouncing(t, e=0.8, h=1.0, g=G):
    """Exact height of a ball dropped from h, at times before its impacts accumulate."""
    start, v = -np.sqrt(2 * h / g), np.sqrt(2 * g * h)  # as if thrown up from the floor
    out = []
    for time in np.atleast_1d(t):
        begin, speed = start, v
        while time > begin + 2 * speed / g:
            begin, speed = begin + 2 * speed / g, e * speed
        s = time - begin
        out.append(speed * s - g * s**2 / 2)
    return np.array(out)


def zeno_time(e=0.8, h=1.0, g=G):
    return np.sqrt(2 * h / g) * (1 + e) / (1 - e)


@cache
def column(N=10, R=0.1):
    """Balls of radius R above each other."""
    return System(
        coordinates=tuple(f"z{i}" for i in range(N)),
        energy=lambda q, p, th: G * jnp.sum(q),
        unilateral=rows("contact", N, lambda q, p, th: jnp.concatenate([q[:1] - R, q[1:] - q[:-1] - 2 * R])),
        mass=lambda q, th: jnp.eye(N),
    )


def column_start(N=10, R=0.1, gap=0.01):
    return R + 2 * R * np.arange(N) + gap * np.arange(1, N + 1)


@cache
def rocking_block(a=0.2, b=1.0, e=0.0, friction=np.inf):
    """A block of half width a and half height b on a floor; unit mass."""
    I = (a**2 + b**2) / 3  # noqa: E741

    def height(side):
        return lambda q, p, th: q[1] + side * a * jnp.sin(q[2]) - b * jnp.cos(q[2])

    def slip(side):
        return lambda q, v, th: v[0] - v[2] * (side * a * jnp.sin(q[2]) - b * jnp.cos(q[2]))

    sides = {"left": -1.0, "right": 1.0}
    return System(
        coordinates=("x", "y", "angle"),
        energy=lambda q, p, th: G * q[1],
        unilateral={name: height(s) for name, s in sides.items()},
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, I])),
        contacts={name: Contact(restitution=e, friction=friction, slip=slip(s)) for name, s in sides.items()},
    )


def tilted(angle, a=0.2, b=1.0):
    """The block turned by a positive angle about its left corner, which stays at (−a, 0)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([-a + c * a - s * b, s * a + c * b, angle])


@cache
def incline(phi, mu, e=0.0):
    """A particle on a plane of inclination phi, falling towards −x."""
    n, t = np.array([-np.sin(phi), np.cos(phi)]), np.array([np.cos(phi), np.sin(phi)])
    return System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: G * q[1],
        unilateral={"plane": lambda q, p, th: jnp.asarray(n) @ q},
        mass=lambda q, th: jnp.eye(2),
        contacts={"plane": Contact(restitution=e, friction=mu, slip=lambda q, v, th: jnp.asarray(t) @ v)},
    )


@cache
def puck(mu):
    """A particle that slides on a floor in space."""
    return System(
        coordinates=("x", "y", "z"),
        energy=lambda q, p, th: G * q[2],
        unilateral={"floor": lambda q, p, th: q[2]},
        mass=lambda q, th: jnp.eye(3),
        contacts={"floor": Contact(friction=mu, slip=lambda q, v, th: v[:2])},
    )


@cache
def cradle(N=5, e=1.0):
    """Balls of unit diameter on a line."""
    gaps = rows("pair", N - 1, lambda q, p, th: q[1:] - q[:-1] - 1.0)
    return System(
        coordinates=tuple(f"x{i}" for i in range(N)),
        energy=lambda q, p, th: 0.0 * q[0],
        unilateral=gaps,
        mass=lambda q, th: jnp.eye(N),
        contacts={name: Contact(restitution=e) for name in gaps},
    )


@cache
def slider_crank(clearance, e=0.5, r=0.3, length=1.0):
    """A crank of radius r and a rod to a slider on the x axis; the crank's pin has clearance in the rod."""

    def off(q):
        theta, x, phi = q
        end = jnp.array([x - length * jnp.cos(phi), -length * jnp.sin(phi)])
        return end - r * jnp.array([jnp.cos(theta), jnp.sin(theta)])

    def kinetic(q, v, th):
        middle = jnp.array([v[1] + length / 2 * jnp.sin(q[2]) * v[2], -length / 2 * jnp.cos(q[2]) * v[2]])
        return 0.5 * (2.0 * v[0] ** 2 + v[1] ** 2 + middle @ middle + length**2 / 12 * v[2] ** 2)

    return System(
        coordinates=("theta", "x", "phi"),
        energy=lambda q, p, th: 0.0 * q[0],
        unilateral={"bearing": lambda q, p, th: (clearance**2 - off(q) @ off(q)) / (2 * clearance)},
        kinetic=kinetic,
        contacts={"bearing": Contact(restitution=e)},
    )


def hopper(rows_of_discs=11, first=9, radius=0.05, friction=0.0):
    """Discs between two walls at 45° above a closed gate, near each other in rows; returns the system and its start.

    Candidates are the pairs that start within two diameters, the walls and the gate.
    """
    pitch = 2.02 * radius
    places = [
        ((j - (first + i - 1) / 2) * pitch, 1.02 * radius + i * pitch * np.sqrt(3) / 2)
        for i in range(rows_of_discs)
        for j in range(first + i)
    ]
    start = np.array(places)
    N, half = len(start), first * pitch / 2 + 0.6 * radius
    a, b = np.triu_indices(N, 1)
    near = np.linalg.norm(start[a] - start[b], axis=1) < 4.0 * radius
    a, b = a[near], b[near]
    n = np.array([[np.sqrt(0.5), np.sqrt(0.5)], [-np.sqrt(0.5), np.sqrt(0.5)]])

    def gaps(q, p, th):
        x = q.reshape(N, 2)
        d = x[a] - x[b]
        pairs = jnp.sqrt(jnp.sum(d**2, axis=1)) - 2 * radius
        left = (x + jnp.array([half, 0.0])) @ n[0] - radius
        right = (x - jnp.array([half, 0.0])) @ n[1] - radius
        return jnp.concatenate([pairs, left, right, x[:, 1] - radius])

    system = System(
        coordinates=tuple(f"{c}{i}" for i in range(N) for c in "xy"),
        energy=lambda q, p, th: G * jnp.sum(q.reshape(N, 2)[:, 1]),
        unilateral=rows("contact", len(a) + 3 * N, gaps),
        mass=lambda q, th: jnp.eye(2 * N),
    )
    return system, start.ravel(), (a, b, n, radius)


@cache
def belt(mu, X=0.1, omega=8.0):
    """A block on a belt that moves as X sin(p), p = ω t as control; coordinates of belt and block along, height."""
    return System(
        coordinates=("belt", "x", "z"),
        energy=lambda q, p, th: G * q[2],
        bilateral={"drive": lambda q, p, th: q[0] - X * jnp.sin(omega * p)},
        unilateral={"floor": lambda q, p, th: q[2]},
        mass=lambda q, th: jnp.eye(3),
        contacts={"floor": Contact(friction=mu, slip=lambda q, v, th: v[1] - v[0])},
    )


@cache
def rod(mu, length=2.0):
    """Painlevé's rod: uniform, unit mass, its lower end touches a rough floor; the angle is that to the floor."""
    half = length / 2
    return System(
        coordinates=("x", "y", "angle"),
        energy=lambda q, p, th: G * q[1],
        unilateral={"tip": lambda q, p, th: q[1] - half * jnp.sin(q[2])},
        mass=lambda q, th: jnp.diag(jnp.array([1.0, 1.0, length**2 / 12])),
        contacts={"tip": Contact(friction=mu, slip=lambda q, v, th: v[0] + half * jnp.sin(q[2]) * v[2])},
    )


def rough_hopper(rows_of_discs=11, first=9, radius=0.05, mu=0.3):
    """The discs of `hopper`, which turn and rub on each other and on the walls; returns the system and its start.

    Candidates are pairs that start within three radii, and the discs within a radius of a wall or of the gate.
    """
    pitch, half = 2.02 * radius, first * 2.02 * radius / 2 + 0.6 * radius
    start = np.array([
        ((j - (first + i - 1) / 2) * pitch, 1.02 * radius + i * pitch * np.sqrt(3) / 2)
        for i in range(rows_of_discs)
        for j in range(first + i)
    ])  # fmt: skip
    N, s = len(start), np.sqrt(0.5)
    a, b = np.triu_indices(N, 1)
    near = np.linalg.norm(start[a] - start[b], axis=1) < 3.0 * radius
    a, b = a[near], b[near]
    sides = [(np.array([s, s]), np.array([-half, 0.0])), (np.array([-s, s]), np.array([half, 0.0])),
             (np.array([0.0, 1.0]), np.zeros(2))]  # fmt: skip
    disc = [np.flatnonzero((start - through) @ n < 2.0 * radius) for n, through in sides]
    c, n = np.concatenate(disc), np.repeat([n for n, _ in sides], [len(d) for d in disc], axis=0)
    through = np.repeat([p for _, p in sides], [len(d) for d in disc], axis=0)

    def gaps(q, p, th):
        x = q.reshape(N, 3)[:, :2]
        pairs = jnp.sqrt(jnp.sum((x[a] - x[b]) ** 2, axis=1)) - 2 * radius
        return jnp.concatenate([pairs, jnp.sum((x[c] - through) * n, axis=1) - radius])

    def slips(q, v, th):
        x, u, turn = q.reshape(N, 3)[:, :2], v.reshape(N, 3)[:, :2], v.reshape(N, 3)[:, 2]
        m = (x[a] - x[b]) / jnp.sqrt(jnp.sum((x[a] - x[b]) ** 2, axis=1))[:, None]
        w = u[a] - u[b]
        pairs = m[:, 0] * w[:, 1] - m[:, 1] * w[:, 0] - radius * (turn[a] + turn[b])
        return jnp.concatenate([pairs, n[:, 0] * u[c, 1] - n[:, 1] * u[c, 0] - radius * turn[c]])

    count = len(a) + len(c)
    slip = list(rows("slip", count, slips).values())
    inertia = np.tile([1.0, 1.0, radius**2 / 2], N)
    system = System(
        coordinates=tuple(f"{k}{i}" for i in range(N) for k in ("x", "y", "turn")),
        energy=lambda q, p, th: G * jnp.sum(q.reshape(N, 3)[:, 1]),
        unilateral=rows("contact", count, gaps),
        mass=lambda q, th: jnp.diag(jnp.asarray(inertia)),
        contacts={f"contact[{i}]": Contact(friction=mu, slip=slip[i]) for i in range(count)},
    )
    return system, np.column_stack([start, np.zeros(N)]).ravel(), (a, b, c, n, through, radius)
