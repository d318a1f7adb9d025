"""Member results of the bundled structures: global balance on each, closed forms and work of the two that p drives."""

import numpy as np
import pytest

import onesided
from onesided import zoo
from onesided.elements import Body, Node, PlaneContact
from onesided.results import State

NODES = 10  # of Gauss's rule on every step
STRUCTURES = (
    "arch-on-floor", "ball-in-groove", "bimetal-strip", "bistable-chain-parts", "cable-net", "column-between-walls",
    "guyed-mast", "lee-frame", "panel-ring", "scissor-lift", "suspended-deck", "tensegrity-deploy", "tensegrity-prism",
    "tripod-truss", "von-mises-truss", "williams-toggle",
)  # fmt: skip


FORMULAS = ("keyboard-dome", "corner-limit", "von-mises", "von-mises-floor", "two-bar-roller", "wedge")


def test_every_bundled_structure_of_parts_is_looked_at():
    files = {name: zoo.text(name) for name in zoo.names()}
    statics = {name for name, text in files.items() if "\n[node" in text or "\n[body" in text or "[import" in text}
    assert set(STRUCTURES) <= statics
    assert all("[motion]" in files[name] for name in statics - set(STRUCTURES))


@pytest.mark.slow
@pytest.mark.parametrize("name", STRUCTURES)
def test_reactions_loads_and_walls_balance(name):
    """In every direction Σ reactions + Σ loads + Σ wall forces = −Σ forces out of balance, here and off equilibrium."""
    system, task = zoo.load(name)
    rng = np.random.default_rng(1)
    q = task.start + 1e-3 * rng.standard_normal(system.n)
    nu = rng.uniform(0.5, 1.0, len(system.constraint_names))
    residual = system.residual(q, 0.7, nu)[1]
    found = {key: values[0] for key, values in system.members(q[None], np.array([0.7]), nu[None]).items()}
    structure = system.structure
    for axis in "xyz"[: next(iter(structure.places.values())).dimension]:
        free = [f"{p.name}_{axis}" for p in structure.free_standing if isinstance(p, Node | Body)]
        terms = [residual[system.coordinates.index(name)] for name in free if name in system.coordinates]
        terms += [value for key, value in found.items() if key.endswith(f".reaction_{axis}")]
        terms += [found[f"{e.name}.force_{axis}"] for e in structure.elements if e.is_load]
        walls = [e.name for e in structure.elements if isinstance(e, PlaneContact) and not e.on]
        terms += [found[f"{wall}.force"] * found[f"{wall}.normal_{axis}"] for wall in walls]
        assert abs(sum(terms)) <= 1e-10 * sum(map(abs, terms))


def work(system, low, high, start):
    """∫ machine force dp by Gauss's rule with an equilibrium at every node, and the change of energy."""
    nodes, weights = np.polynomial.legendre.leggauss(16)
    states = []
    for p in (low, *(0.5 * (high - low) * (nodes + 1.0) + low), high):
        states.append(onesided.solve(system, start=start, p=float(p)).value)
        start = states[-1].q
    force = [state.members["machine_force"][0] for state in states[1:-1]]
    return 0.5 * (high - low) * float(weights @ force), states[-1].energy - states[0].energy


def positions(system, name, Q):
    """Where a place is that nothing moves but q, at configurations in rows."""
    structure, held = system.structure, system.structure.held(system.parameters)
    start, place = structure.start_of(system.parameters), structure.places[name]
    numbers = {key: start.vector(value) for key, value in place.numbers.items()}
    free = [structure.index.get(int(slot), -1) for slot in structure.slots[name]]
    fixed = [0.0 if i >= 0 else held[int(slot)][0] for i, slot in zip(free, structure.slots[name], strict=True)]
    values = np.where(np.array(free) >= 0, Q[:, free], fixed)
    return np.array([place.frame(one, numbers, np).position for one in values])


def load_rate(system, Q, members):
    """p × ∂(work of the dead loads)/∂p at fixed places: Σ force · position, at states in rows."""
    total = np.zeros(len(Q))
    for load in (e for e in system.structure.elements if e.is_load and not e.constant):
        force = np.stack([members[f"{load.name}.force_{axis}"] for axis in "xyz"[: len(load.force)]], axis=1)
        total += np.sum(force * positions(system, load.at, Q), axis=1)
    return total


def solved(A, b):
    """A solution, the smallest where reactions are not unique."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(A, b, rcond=None)[0]


class Step:
    """The equilibria between two points of a path with the contacts that carry between them, by a Newton of its own.

    A place is given by its share t of the chord, in coordinates scaled by what the whole path covers.
    """

    def __init__(self, system, path, i):
        self.system, k = system, len(system.bilateral)
        events = {0, *(event.index for event in path.events)}  # at them what carries is that of the other end
        ends = [j for j in (i, i + 1) if j not in events] or [i, i + 1]
        closed = np.flatnonzero((path.codes[ends] == State.strong).any(axis=0))
        self.rows = np.array([*range(k), *(k + closed)], dtype=int)
        x = np.column_stack([path.q, path.p])[i : i + 2]
        nu = np.column_stack([path.mu, path.lam])[i : i + 2, self.rows]
        self.ends = np.column_stack([x, nu])
        size = np.maximum(np.ptp(np.column_stack([path.q, path.p]), axis=0), 1e-6)
        normal = (x[1] - x[0]) / size**2
        self.border = np.concatenate([normal / (normal @ (x[1] - x[0])), np.zeros(len(self.rows))])

    def states(self, shares):
        """(q, p, ν) and dp/dt at places in turn, each from the one before by the tangent there."""
        z, at, n = self.ends[0], 0.0, self.system.n
        along = self.ends[1] - z  # it may start where branches fork
        for t in shares:
            z = z + (t - at) * along
            for _ in range(12):
                R, J = self._equations(z, t)
                change = solved(J, -R)
                z = z + change
                if np.max(np.abs(change)) <= 1e-12 * np.max(np.abs(z)):
                    break
            at, nu = t, np.zeros(len(self.system.constraint_names))
            nu[self.rows], along = z[n + 1 :], self._tangent(z)
            yield z[:n], z[n], nu, along[n]

    def _tangent(self, z):
        return solved(self._equations(z, 0.0)[1], np.eye(len(z))[-1])

    def _equations(self, z, t):
        n, m = self.system.n, len(self.rows)
        nu = np.zeros(len(self.system.constraint_names))
        nu[self.rows] = z[n + 1 :]
        e = self.system.evaluate(z[:n], float(z[n]), nu)
        H, E = (A.toarray() if hasattr(A, "toarray") else np.asarray(A) for A in (e.L_qq, e.c_q[self.rows]))
        J = np.zeros((n + 1 + m, n + 1 + m))
        J[:n, :n], J[:n, n], J[:n, n + 1 :] = H, e.L_qp, -E.T
        J[n : n + m, :n], J[n : n + m, n], J[-1] = E, e.c_p[self.rows], self.border
        return np.concatenate([e.L_q, e.c[self.rows], [self.border @ (z - self.ends[0]) - t]]), J


def works(system, path):
    """∫ (force of the machine − load per p · its place) dp over every step, by Gauss's rule with states at nodes."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    steps = [Step(system, path, i) for i in np.flatnonzero(np.abs(np.diff(path.p)) + np.abs(np.diff(path.s)) > 0)]
    states = [state for step in steps for state in step.states(0.5 * (nodes + 1.0))]
    q, p, nu, rate = (np.array(one) for one in zip(*states, strict=True))
    if system.structure is None:  # a formula: the control does the work ∂L/∂p
        force = np.array([system.evaluate(a, float(b), c).L_p for a, b, c in zip(q, p, nu, strict=True)])
        return (force * rate).reshape(len(steps), NODES) @ weights / 2
    found = system.members(q, p, nu)
    driven = "machine_force" in found
    force = (found["machine_force"] if driven else 0.0) - load_rate(system, q, found) / p
    return (force * rate).reshape(len(steps), NODES) @ weights / 2


@pytest.mark.slow
@pytest.mark.parametrize("name", STRUCTURES + FORMULAS)
def test_work_of_loads_and_machines_is_the_energy_on_every_structure(name):
    """Along the whole path of each, through all its events: ΔU is the work to 1e-8 at every point.

    That of the chain, with 3ⁿ − 1 limit points for n units, along its first 400.
    """
    system, task = zoo.load(name)
    most = 400 if name == "bistable-chain-parts" else 2000
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds, direction=task.direction, max_points=most)
    assert len(path) < most or name == "bistable-chain-parts"
    kept = np.abs(np.diff(path.p)) + np.abs(np.diff(path.s)) > 0  # not where an event is told twice at one place
    done, stored = np.cumsum(works(system, path)), path.energy[1:][kept] - path.energy[0]
    np.testing.assert_allclose(done, stored, rtol=0, atol=1e-8 * np.sum(np.abs(np.diff(path.energy))))


def test_tensegrity_rises_as_its_cables_are_wound_up():
    """The height in closed form, the event where the side cables become taut, and the work of the winch."""
    system, task = zoo.load("tensegrity-deploy")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    th, h = system.parameters, path.measures["height"]
    wide = np.sqrt(th["l"] ** 2 - th["h0"] ** 2)
    L = wide - wide / (th["k"] * th["h0"]) * (th["kr"] * (th["h0"] - th["Lr"]) + th["G"])
    w = np.sqrt(th["l"] ** 2 - h**2)
    lift = th["kr"] * (h - th["Lr"]) + th["kc"] * np.maximum(h - th["Lc"], 0.0) + th["G"]
    np.testing.assert_allclose(path.p, L - w + w / (th["k"] * h) * lift, atol=1e-10)
    assert path.events[0].constraints == ("side1", "side2")
    np.testing.assert_allclose(path.members["side1.tension"], th["kc"] * np.maximum(h - th["Lc"], 0.0), atol=1e-7)
    np.testing.assert_allclose(path.members["foot1.reaction_y"], th["G"], rtol=1e-9)
    taut = path.events[0]
    for low, high, start in ((0.1, taut.p, task.start), (taut.p, 0.7, taut.q)):
        put_in, stored = work(system, low, high, start)
        assert put_in == pytest.approx(stored, rel=1e-8)


@pytest.mark.slow
def test_bimetal_strip_snaps_as_shallow_arch_theory_says():
    """One sine: EI (π/L)⁴ (A − h)/2 + 2 EI b t π/L² + EA (π/L)⁴ A (A² − h²)/8 = 0; its extremes within 5 %."""
    system, task = zoo.load("bimetal-strip")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    limits = [event.p for event in path.events if event.kind.name == "limit"]
    th, A = system.parameters, np.linspace(-1.0, 0.8, 20001)
    wave = (np.pi / th["L"]) ** 4
    held = wave * (th["EI"] * (A - th["h"]) / 2 + th["EA"] * A * (A**2 - th["h"] ** 2) / 8)
    t = -held * th["L"] ** 2 / (2 * np.pi * th["EI"] * th["b"])
    turning = t[1:-1][np.diff(np.sign(np.diff(t))) != 0]
    np.testing.assert_allclose(sorted(limits), sorted(turning), rtol=0.05)
    put_in, stored = work(system, 0.0, 150.0, task.start)
    assert put_in == pytest.approx(stored, rel=1e-8)
    found = path.members
    np.testing.assert_allclose(found["n0.reaction_x"], -found["n16.reaction_x"], rtol=1e-6, atol=1e-6)
    loop = onesided.drive(system, task.start, task.programme)
    assert len(loop.jumps) == 2
