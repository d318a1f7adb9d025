"""Graphs of stable states against Preisach's closed form, against `drive`, and where branches fork or stop."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided.base.progress import Progress

FOLD = 2.0 / 3.0**1.5  # limit load of k (x⁴/4 − x²/2) − p x, over k
FREED = 0.75  # energy released there, over k


def bistable_units(n):
    """n bistable units of stiffness k0, k1 … under the same load, each coupled to each by springs c."""

    def energy(q, p, th):
        k = jnp.array([getattr(th, f"k{i}") for i in range(n)])
        coupling = th.c / 2 * (n * jnp.sum(q**2) - jnp.sum(q) ** 2)
        return jnp.sum(k * (q**4 / 4 - q**2 / 2)) - p * jnp.sum(q) + coupling

    stiffness = {f"k{i}": float(k) for i, k in enumerate(np.linspace(1.0, 2.0, n))}
    return onesided.System(tuple(f"x{i}" for i in range(n)), energy, parameters={**stiffness, "c": 0.0})


@pytest.fixture(scope="module")
def three():
    return bistable_units(3)


@pytest.fixture(scope="module")
def free(three):
    return onesided.transitions(three, (-1.0, 1.0), q0=-np.ones(3), p0=0.0)


def check_preisach(found, n):
    """Exactly the graph of n independent relays that switch at ± FOLD k: states, intervals, jumps, energies."""
    k = np.linspace(1.0, 2.0, n)
    up = [tuple(state.q[len(state.p) // 2] > 0) for state in found.states]
    assert found.complete
    assert sorted(up) == sorted(tuple(b == "1" for b in f"{i:0{n}b}") for i in range(2**n))
    for state, flags in zip(found.states, up, strict=True):
        high = min((FOLD * v for v, flag in zip(k, flags, strict=True) if not flag), default=1.0)
        low = max((-FOLD * v for v, flag in zip(k, flags, strict=True) if flag), default=-1.0)
        assert state.interval == pytest.approx((low, high), abs=1e-12)
    assert len(found.edges) == 2 ** (n + 1) - 2
    for edge in found.edges:
        switched = list(up[edge.source])
        i = switched.index(edge.sense < 0)  # the softest that can switch
        switched[i] = not switched[i]
        assert up[edge.target] == tuple(switched)
        assert edge.energy == pytest.approx(FREED * k[i], rel=1e-9)
    assert found.return_point_memory is True


def test_independent_units_give_the_graph_of_preisach(free):
    check_preisach(free, 3)


@pytest.mark.slow
def test_eight_units_give_all_256_states():
    check_preisach(onesided.transitions(bistable_units(8), (-1.0, 1.0), q0=-np.ones(8), p0=0.0), 8)


GRID = (-1.2, -0.5, 0.5, 1.2)


def driven_everywhere(system):
    """Every state that programmes over the grid lead to, by drives from one to the next: programme → jumps, state."""
    found, waiting, seen = {}, [((-1.2,), -np.ones(3))], set()
    for programme, q in waiting:
        for p in set(GRID) - {programme[-1]}:
            history = onesided.drive(system, q, [programme[-1], p])
            found[*programme, p] = history
            place = (p, *np.round(history.q[-1], 4))
            if place not in seen:
                seen.add(place)
                waiting.append(((*programme, p), history.q[-1]))
    return found


@pytest.mark.parametrize("coupling", [0.08, pytest.param(-0.05, marks=pytest.mark.slow)])
def test_coupled_units_go_where_all_programmes_drive_them(three, coupling):
    """Until no programme over the grid leads to another state; jump by jump."""
    system = three.replace(parameters={**three.parameters, "c": coupling})
    graph = onesided.transitions(system, (-1.2, 1.2), q0=-np.ones(3), p0=-1.2)
    assert graph.complete
    histories = driven_everywhere(system)
    assert len(histories) > 12
    for programme, history in histories.items():
        before, visited = graph.walk(programme[:-1]), graph.walk(programme)
        jumps = [
            next(e for e in graph.edges if (e.source, e.target) == pair)
            for pair in pairwise(visited[len(before) - 1 :])
        ]
        assert [e.p for e in jumps] == pytest.approx([jump.p for jump in history.jumps], abs=1e-9)
        assert [e.energy for e in jumps] == pytest.approx([jump.energy for jump in history.jumps], abs=1e-9)
        last = graph.states[visited[-1]]
        assert np.interp(programme[-1], last.p, last.q[:, 0]) == pytest.approx(history.q[-1, 0], abs=0.05)
    if coupling > 0:  # springs that pull units along keep the order of states: [Sethna 1993]
        assert graph.return_point_memory is True


def test_lost_memory_is_found_and_told(free):
    """A relabelled graph that does not lead back is noticed."""
    edge = next(e for e in free.edges if e.sense > 0 and e.source == free.starts[0])
    away = next(e for e in free.edges if e.source == edge.target and e.sense < 0)
    other = next(i for i in range(len(free.states)) if i not in {away.source, away.target} and not free.leaving(i, 1))
    edges = tuple(type(e)(**{**vars(e), "target": other}) if e is away else e for e in free.edges)
    broken = type(free)(**{**vars_of(free), "edges": edges})
    assert broken.return_point_memory is False
    assert f"from state {edge.target}" in broken.memory_words()


def vars_of(found):
    return {name: getattr(found, name) for name in found.__dataclass_fields__}


def test_saved_loaded_exported_drawn(free, tmp_path):
    again = onesided.load_result(onesided.save(free, tmp_path / "graph"))
    assert again.table() == free.table()
    assert all(np.array_equal(a.q, b.q) for a, b in zip(again.states, free.states, strict=True))
    assert again.memory_words() == "return-point memory holds"
    networkx = pytest.importorskip("networkx")
    graph = networkx.read_graphml(free.write_graphml(tmp_path / "graph.graphml"))
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (8, 14)
    freed = sum(energy for _, _, energy in graph.edges(data="energy"))
    assert freed == pytest.approx(sum(e.energy for e in free.edges))
    onesided.plots.write(again, tmp_path / "graph.svg")
    assert "8 stable branches" in onesided.report.html(again)


def test_limits_and_interrupts_keep_what_was_found(three):
    few = onesided.transitions(three, (-1.0, 1.0), q0=-np.ones(3), p0=0.0, max_states=3)
    assert not few.complete
    assert "max_states" in few.note
    assert len(few.states) == 3
    assert few.return_point_memory is None

    class Impatient(Progress):
        calls = 0

        def update(self, **told):
            self.calls += 1
            if self.calls > 12:
                raise KeyboardInterrupt

    with pytest.raises(onesided.SolveError) as caught:
        onesided.transitions(three, (-1.0, 1.0), q0=-np.ones(3), p0=0.0, progress=Impatient())
    assert 0 < len(caught.value.partial.states) < 8
    assert not caught.value.partial.complete


def test_a_fork_leads_to_both_branches_and_back():
    """x⁴/4 − p x²/2: the straight state forks at p = 0, and both sides join it again."""
    column = onesided.System(("x",), lambda q, p, th: q[0] ** 4 / 4 - p * q[0] ** 2 / 2)
    found = onesided.transitions(column, (-1.0, 1.0), q0=[0.0], p0=-1.0)
    assert len(found.states) == 3
    ends = sorted(float(state.q[-1, 0]) for state in found.states)
    assert ends == pytest.approx([-1.0, 0.0, 1.0], abs=1e-6)
    assert sorted((e.source, e.target, e.sense) for e in found.edges) == [(0, 1, 1), (0, 2, 1), (1, 0, -1), (2, 0, -1)]
    assert all(e.energy == 0.0 and abs(e.p) < 1e-6 for e in found.edges)
    assert found.return_point_memory is None
    assert any("imperfection" in e.note for e in found.edges)
