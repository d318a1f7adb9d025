"""Elastic, perfectly plastic and hardening cables in motion, against closed forms and a second route."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import simpson, trapezoid

from onesided.base.errors import ModelError, UsageError
from onesided.complementarity_systems import (
    CableStructure,
    Elastic,
    FrozenModes,
    Harmonic,
    LinearComplementaritySystem,
    LocatedSwitches,
    PerfectlyPlastic,
    Signal,
    TimeStepping,
    WorkHardening,
    simulate,
)

THROW = ([[0.0, 1.0], [0.0, 0.0]], [[0.0], [-1.0]], [[1.0, 0.0]])  # unit mass thrown against a cable


def thrown(law, times=(0.0, 6.0)):
    """A unit mass leaves the point where the cable is just straight, at unit speed."""
    return simulate(CableStructure(*THROW, [law]), LocatedSwitches(), (0.0, 1.0), times=times)


def test_elastic_half_sine_then_flight():
    k = 4.0
    motion = thrown(Elastic(k), np.linspace(0.0, 6.0, 61))
    contact = math.pi / 2
    assert [s.t for s in motion.switches] == pytest.approx([0.0, contact], abs=1e-14)
    exact = np.where(motion.t < contact, np.sin(2 * motion.t) / 2, contact - motion.t)
    assert motion.x[:, 0] == pytest.approx(exact, abs=1e-14)
    assert motion.peak_s[0] == pytest.approx(2.0, rel=1e-14)
    assert motion.peak_w[0] == pytest.approx(6.0 - contact, rel=1e-13)


def test_perfectly_plastic():
    """k = 1, limit ½: yields at π/6, stops √3 later at x = 1¼, keeps ¾, goes slack after a quarter period."""
    motion = thrown(PerfectlyPlastic(1.0, 0.5), np.linspace(0.0, 6.0, 7))
    times = [0.0, math.pi / 6, math.pi / 6 + math.sqrt(3), math.pi / 6 + math.sqrt(3) + math.pi / 2]
    assert [s.t for s in motion.switches] == pytest.approx(times, abs=1e-13)
    assert [s.detail for s in motion.switches] == ["becomes taut", "yields", "unloads", "goes slack"]
    assert motion.x[-1] == pytest.approx([0.75 - 0.5 * (6.0 - times[3]), -0.5, 0.75], abs=1e-13)
    assert motion.peak_s[0] == pytest.approx(0.5, rel=1e-14)
    assert motion.slack_time("cable 1") == pytest.approx(6.0 - times[3], abs=1e-13)


def test_work_hardening():
    """While yielding the mass swings on the spring `tangent`: the largest tension is √(Sy² + kₜ v²)."""
    k, limit, tangent = 1.0, 0.5, 0.2
    motion = thrown(WorkHardening(k, limit, tangent), np.linspace(0.0, 6.0, 7))
    v, rate = math.cos(math.pi / 6), math.sqrt(tangent)
    stop = math.pi / 6 + math.atan2(v * rate, limit) / rate
    assert [s.t for s in motion.switches] == pytest.approx([0, math.pi / 6, stop, stop + math.pi / 2], abs=1e-13)
    top = math.sqrt(limit**2 + tangent * v**2)
    assert motion.peak_s[0] == pytest.approx(top, rel=1e-13)
    plastic = (top - limit) * (1 / tangent - 1 / k)
    assert motion.x[-1, 2] == pytest.approx(plastic, abs=1e-13)
    assert motion.x[-1, 1] == pytest.approx(-top, abs=1e-13)  # the elastic part comes back
    lost = plastic * (limit + top) / 2
    assert 0.5 * top**2 + lost == pytest.approx(0.5, abs=1e-13)


def swing(law, amplitude):
    """A mass on a soft spring, shaken, with a cable that stops it on one side."""
    push = Signal([0.0, 0.0], (Harmonic(0.8, sine=[0.0, amplitude]),))
    return CableStructure([[0, 1], [-0.3, -0.02]], [[0.0], [-1.0]], [[1.0, 0.0]], [law], push)


@settings(max_examples=15, deadline=None)
@given(tangent=st.floats(0.02, 0.6), limit=st.floats(0.1, 1.0), amplitude=st.floats(0.2, 2.0))
@example(tangent=0.5727618297057869, limit=0.998699558695475, amplitude=0.84765625)  # a step ends at a peak
def test_memory_only_grows_and_the_limit_is_never_passed(tangent, limit, amplitude):
    structure = swing(WorkHardening(1.0, limit, tangent), amplitude)
    motion = simulate(structure, LocatedSwitches(), (0.0, 0.0), times=np.linspace(0.0, 40.0, 801))
    plastic = motion.x[:, 2]
    assert (np.diff(plastic) >= -1e-14).all()
    assert structure.overstress(motion.x, motion.s).max() <= 1e-12
    assert (motion.s >= -1e-13).all()
    yields = [s.t for s in motion.switches if s.detail == "yields"]
    unloads = [s.t for s in motion.switches if s.detail == "unloads"]
    assert len(yields) - len(unloads) in (0, 1)
    assert all(a <= b for a, b in zip(yields, unloads, strict=False))


def test_second_yield_begins_where_the_first_ended():
    structure = swing(WorkHardening(1.0, 0.3, 0.1), 1.0)
    motion = simulate(structure, LocatedSwitches(), (0.0, 0.0), times=(0.0, 40.0))
    yields = [s.t for s in motion.switches if s.detail == "yields"]
    unloads = [s.t for s in motion.switches if s.detail == "unloads"]
    assert len(yields) >= 2
    again = simulate(structure, LocatedSwitches(), (0.0, 0.0), times=(0.0, unloads[0], yields[1], 40.0))
    ends, begins = again.s[1:3, 0]
    assert begins == pytest.approx(ends, rel=1e-12)
    assert begins > 0.3


def test_elastic_cables_are_the_linear_complementarity_system():
    structure = swing(Elastic(2.0), 1.0)
    system = LinearComplementaritySystem(structure.A, structure.B, -np.asarray(structure.C), [[0.5]], structure.input)
    times = np.linspace(0.0, 30.0, 31)
    one, two = (simulate(s, LocatedSwitches(), times=times) for s in (structure, system))
    assert one.x[:, :2] == pytest.approx(two.x, abs=1e-12)
    assert [s.t for s in one.switches if s.t > 0] == pytest.approx([s.t for s in two.switches], abs=1e-12)


@pytest.mark.parametrize("law", [PerfectlyPlastic(1.0, 0.5), WorkHardening(1.0, 0.5, 0.2)])
def test_time_stepping_on_the_complementarity_form_converges_to_it(law):
    """Tension against slack, plastic flow against what is left to the limit: another route, of first order."""
    structure = CableStructure(*THROW, [law])
    exact = thrown(law).x[-1]
    errors = []
    for step in (0.004, 0.002, 0.001):
        motion = simulate(structure.complementarity_system(), TimeStepping(step, theta=1.0), (0, 1, 0), times=(0, 6))
        errors.append(np.abs(motion.x[-1] - exact).max())
    assert np.log2(np.array(errors[:-1]) / errors[1:]) == pytest.approx([1.0, 1.0], abs=0.25)
    assert errors[-1] < 2e-3


def test_overstretched_start_yields_at_once_or_is_told():
    law = PerfectlyPlastic(1.0, 0.5)
    motion = simulate(CableStructure(*THROW, [law]), LocatedSwitches(), (0.2, 1.0), times=(0.0, 1.0))
    assert motion.first_taut[0] == 1.0
    with pytest.raises(ModelError, match="above what the cable"):
        simulate(CableStructure(*THROW, [law]), LocatedSwitches(), (2.0, 0.0), times=(0.0, 1.0))
    kept = simulate(CableStructure(*THROW, [law]), LocatedSwitches(), (2.0, 0.0, 1.6), times=(0.0, 1.0))
    assert kept.ok


@pytest.mark.parametrize("make", [
    lambda: Elastic(-1.0), lambda: Elastic(0.0), lambda: PerfectlyPlastic(1.0, -0.5),
    lambda: PerfectlyPlastic(1.0, math.inf),
    lambda: WorkHardening(1.0, 0.5, 1.0), lambda: WorkHardening(1.0, 0.5, -0.1), lambda: Elastic(math.nan),
])  # fmt: skip
def test_bad_cables(make):
    with pytest.raises(ModelError, match="got"):
        make()


def test_bad_structures():
    with pytest.raises(UsageError, match="at once"):
        CableStructure([[0.0]], [[1.0]], [[1.0]], [Elastic(1.0)])
    with pytest.raises(UsageError, match="names"):
        CableStructure(*THROW, [Elastic(1.0)], names=["a", "b"])
    with pytest.raises(UsageError, match="without memory"):
        simulate(CableStructure(*THROW, [Elastic(1.0)]), FrozenModes(0.1), times=(0, 1))
    with pytest.raises(UsageError, match="can yield"):
        CableStructure(*THROW, [Elastic(1.0)]).complementarity_system()


LAWS = st.one_of(
    st.builds(Elastic, st.floats(0.5, 3.0)),
    st.builds(PerfectlyPlastic, st.floats(0.5, 3.0), st.floats(0.1, 1.0)),
    st.builds(WorkHardening, st.floats(0.7, 3.0), st.floats(0.1, 1.0), st.floats(0.05, 0.6)),
)


@settings(max_examples=12, deadline=None)
@given(law=LAWS, amplitude=st.floats(0.3, 2.0))
def test_area_of_the_hysteresis_loops_is_the_energy_lost(law, amplitude):
    """∫ S dΔ = S²/2k + S_y p + H p²/2: what the cable took up is stored, or lost in plastic flow p."""
    structure = swing(law, amplitude)
    moments = [
        s.t for s in simulate(structure, LocatedSwitches(), (0.0, 0.0), times=(0.0, 30.0)).switches if 0 < s.t < 30
    ]
    edges = np.unique([0.0, *moments, 30.0])
    edges = edges[np.append(True, np.diff(edges) > 1e-9)]
    times = np.unique(np.concatenate([np.linspace(a, b, 161) for a, b in pairwise(edges)]))
    motion = simulate(structure, LocatedSwitches(), (0.0, 0.0), times=times)
    power, taken = motion.s[:, 0] * motion.x[:, 1], 0.0
    for a, b in pairwise(edges):
        inside = (motion.t >= a) & (motion.t <= b)
        taken += simpson(power[inside], x=motion.t[inside])
    s, p = motion.s[-1, 0], motion.x[-1, 2]
    lost = law.limit * p + law.hardening * p**2 / 2 if p > 0 else 0.0
    assert taken == pytest.approx(
        s**2 / (2 * law.stiffness) + lost, abs=1e-6 * (1 + trapezoid(np.abs(power), motion.t))
    )
    assert p == 0.0 or not isinstance(law, Elastic)


def test_one_loop_has_the_area_of_its_parallelogram():
    """Shaken slowly by the far end of the cable: a loop of tension over elongation is drawn by hand."""
    k, limit, height = 1.0, 0.5, 2.0
    heavy = CableStructure(  # the mass hardly moves, the cable's far end goes up by `height` and back
        [[0, 1], [0, 0]], [[0.0], [-1e-9]], [[1.0, 0.0]], [PerfectlyPlastic(k, limit)],
        offset=Signal([height / 2], (Harmonic(1.0, cosine=[-height / 2]),)),
    )  # fmt: skip
    motion = simulate(heavy, LocatedSwitches(), (0.0, 0.0), times=np.linspace(0.0, 2 * math.pi, 2001))
    elongation = height / 2 * (1 - np.cos(motion.t))
    assert motion.x[-1, 2] == pytest.approx(height - limit / k, abs=1e-6)
    area = trapezoid(motion.s[:, 0], elongation)
    assert area == pytest.approx(limit * (height - limit / k), abs=1e-4)  # up and back, slack at the end
    assert [s.detail for s in motion.switches] == ["becomes taut", "yields", "unloads", "goes slack"]
    times = [math.acos(1 - 2 * x / height) for x in (0.0, limit / k)]
    assert [s.t for s in motion.switches][:2] == pytest.approx(times, abs=1e-6)
