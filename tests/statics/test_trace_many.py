"""Many paths side by side: every event against closed forms, against `trace`, and engine against engine."""

import ctypes
import math
import shutil
import subprocess
import tempfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

import onesided
from onesided.evaluation import cuda_lanes, lane_runs
from onesided.evaluation.lane_checks import RowCheck, around_again, broken
from onesided.evaluation.lane_state import AT_LIMIT, OPENS
from onesided.evaluation.path_lanes import PathLanes
from onesided.evaluation.straight import NotStraightError, StraightLine, straight
from onesided.statics import many
from onesided.statics.many_samples import ManyTracks

BOUND = 10.0


def snapping():
    """U' = k/2 q (q − h)(q − 2h) − p with a stop at q = w: limit points at h (1 ∓ 1/√3), contact anywhere."""
    return onesided.System(
        coordinates=("q",),
        energy=lambda q, p, th: th.k / 8 * q[0] ** 2 * (q[0] - 2 * th.h) ** 2 - p * q[0],
        unilateral={"stop": lambda q, p, th: th.w - q[0]},
        parameters={"k": 1.0, "h": 1.0, "w": 1.0},
    )


@pytest.fixture(scope="module")
def snap():
    return snapping()


def events_of_snap(k, h, w):
    """Exact events of the path from 0 upwards: kind, p, negative modes before and after."""
    force = k / 2 * w * (w - h) * (w - 2 * h)
    limit, end = k * h**3 / (3 * math.sqrt(3)), ("bound", BOUND, 0, 0)
    first, second = h * (1 - 1 / math.sqrt(3)), h * (1 + 1 / math.sqrt(3))
    if w < first:
        return [("closes", force, 0, 0), end]
    if w < second:
        return [("limit", limit, 0, 1), ("corner_limit", force, 1, 0), end]
    return [("limit", limit, 0, 1), ("limit", -limit, 1, 0), ("closes", force, 0, 0), end]


def random_snaps(count, seed=0):
    rng = np.random.default_rng(seed)
    h = rng.uniform(0.5, 1.5, count)
    return {"k": rng.uniform(0.5, 2.0, count), "h": h, "w": h * rng.uniform(0.05, 2.6, count)}


def test_every_event_of_two_thousand_paths_is_the_exact_one(snap):
    given = random_snaps(2000)
    found = onesided.trace_many(snap, given, [0.0], 0.0, p_bounds=(-BOUND, BOUND))
    assert found.ok.all() and found.handed.mean() < 0.01
    for i in range(len(found)):
        exact, own = events_of_snap(*(values[i] for values in given.values())), found.of(i)
        assert [(found.kind[j], found.before[j], found.after[j]) for j in own] == [(e[0], *e[2:]) for e in exact]
        assert np.allclose(found.p[own], [e[1] for e in exact], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(snap, scale):
    given = random_snaps(50, seed=1)
    given = {"k": given["k"] * scale, "h": given["h"] / scale, "w": given["w"] / scale}
    high = 5.0 * scale**-2
    found = onesided.trace_many(snap, given, [0.0], 0.0, p_bounds=(-high, high))
    exact = [events_of_snap(*(values[i] for values in given.values()))[0][1] for i in range(50)]
    first = [found.p[found.of(i)[0]] for i in range(50)]
    assert np.allclose(first, exact, rtol=1e-9, atol=1e-9 * scale**-2)


def test_parameters_of_very_different_sizes_in_one_call(snap):
    sizes = 10.0 ** np.arange(-4, 5)
    found = onesided.trace_many(snap, {"k": sizes, "h": 1.0, "w": 3.0}, [0.0], 0.0, p_bounds=(-1e9, 1e9))
    assert np.allclose(found.first("limit"), sizes / (3 * math.sqrt(3)), rtol=1e-10, atol=0)


def test_jax_and_vector_units_agree(snap):
    given = random_snaps(16, seed=2)
    one, other = (
        onesided.trace_many(snap, given, [0.0], 0.0, p_bounds=(-BOUND, BOUND), device=device)
        for device in ("cpu", "xla")
    )
    assert (one.engine, other.engine) == ("cpu", "xla")
    assert one.kind.tolist() == other.kind.tolist()
    assert np.allclose(one.p, other.p, rtol=1e-12) and np.allclose(one.q, other.q, rtol=1e-9)


def test_paths_of_two_coordinates_with_contacts_are_those_of_trace():
    system = onesided.System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: (
            th.a / 8 * q[0] ** 2 * (q[0] - 2) ** 2 + th.b / 8 * (q[1] - q[0]) ** 2 * (q[1] - q[0] - 1.6) ** 2 - p * q[1]
        ),
        unilateral={"first": lambda q, p, th: th.w - q[0], "second": lambda q, p, th: th.v - q[1] + q[0]},
        parameters={"a": 1.0, "b": 1.3, "w": 1.0, "v": 1.0},
    )
    rng = np.random.default_rng(3)
    given = {name: rng.uniform(low, high, 24) for name, low, high in (("b", 1.0, 1.6), ("w", 0.2, 3), ("v", 0.2, 2.5))}
    found = onesided.trace_many(system, given, [0.0, 0.0], 0.0, p_bounds=(-3, 3))
    for i in range(24):
        own = {name: values[i] for name, values in given.items()}
        path = onesided.trace(
            system.replace(parameters=own),
            [0.0, 0.0],
            0.0,
            p_bounds=(-3, 3),
            method=onesided.PredictorCorrector(compile_after=0),
        )
        rows = found.of(i)
        assert [found.kind[j] for j in rows] == [event.kind.name for event in path.events]
        assert [found.constraint[j] for j in rows] == [", ".join(event.constraints) for event in path.events]
        assert [found.before[j] for j in rows] == [event.instability_before for event in path.events]
        assert np.allclose(found.p[rows], [event.p for event in path.events], rtol=1e-10, atol=1e-10)
        assert np.allclose(found.q[rows], [event.q for event in path.events], rtol=1e-8, atol=1e-8)
        assert np.allclose(found.nu[rows], [event.lam for event in path.events], rtol=1e-8, atol=1e-8)


def test_bifurcations_are_handed_to_trace():
    column = onesided.System(
        coordinates=("q",),
        energy=lambda q, p, th: th.c / 2 * q[0] ** 2 - p * (1 - jnp.cos(q[0])),
        parameters={"c": 1.0},
    )
    stiffness = np.array([0.5, 1.0, 2.0])
    found = onesided.trace_many(column, {"c": stiffness}, [0.0], 0.0, p_bounds=(-1, 3))
    assert found.handed.all() and "3 handed to trace" in found.words()
    assert np.allclose(found.first("smooth_bifurcation"), stiffness)


def test_starts_of_their_own_and_closed_contacts(snap):
    given = {"k": 1.0, "h": 1.0, "w": np.array([0.2, 0.3])}
    found = onesided.trace_many(snap, given, [[0.2], [0.3]], [1.0, 1.0], direction=-1, p_bounds=(-BOUND, BOUND))
    w = given["w"]
    assert np.allclose(found.first("opens"), w / 2 * (w - 1) * (w - 2), rtol=1e-10)
    assert found.constraint[found.of(0)[0]] == "stop"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (({"kk": [1.0]}, [0.0], 0.0), "kk"),
        (({"k": [1.0, 2.0], "h": [1.0, 1.0, 1.0]}, [0.0], 0.0), "number of values"),
        (({"k": [1.0, math.nan]}, [0.0], 0.0), "finite.*path 1"),
        (({"k": [1.0, 2.0]}, [[0.0, 1.0], [0.0, 1.0]], 0.0), "shape"),
        (({"k": []}, [0.0], 0.0), "shape"),
        (({"k": [[1.0, 2.0], [3.0, 4.0]]}, [0.0], 0.0), "shape"),
        (({"k": ["a"]}, [0.0], 0.0), "not numbers"),
        (({"k": [1j]}, [0.0], 0.0), "not numbers"),
        (({"k": [1.0, 2.0]}, [[0.0], [math.inf]], 0.0), "finite.*path 1"),
        (({"k": [1.0, 2.0]}, [0.0], [0.0, math.nan]), "finite.*path 1"),
    ],
)
def test_bad_input_is_refused_in_words(snap, given, words):
    with pytest.raises(onesided.OnesidedError, match=words):
        onesided.trace_many(snap, *given, p_bounds=(-1, 1))


@pytest.mark.parametrize(
    ("asked", "words"),
    [({"direction": 0}, "not a sign"), ({"p_bounds": (1, -1)}, "bounds are not usable"), ({"at": "x"}, "not numbers")],
)
def test_directions_bounds_and_samples_that_are_none_are_refused(snap, asked, words):
    with pytest.raises(onesided.UsageError, match=words):
        onesided.trace_many(snap, {"k": [1.0]}, [0.0], 0.0, **{"p_bounds": (-1, 1), **asked})


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_one_path_that_cannot_be_computed_leaves_the_others_alone(snap):
    found = onesided.trace_many(snap, {"k": [1.0, 1e-300, 0.0]}, [0.0], 0.0, p_bounds=(-1, 1))
    assert found.ok.tolist() == [True, False, False]
    assert all(found.note[1:]) and np.isclose(found.first("limit")[0], 1 / (3 * math.sqrt(3)))


def test_saved_loaded_drawn(snap, tmp_path):
    found = onesided.trace_many(snap, random_snaps(5), [0.0], 0.0, p_bounds=(-BOUND, BOUND), at=[0.1])
    again = onesided.load_result(onesided.save(found, tmp_path / "many"))
    assert repr(again) == repr(found) and again.status.tolist() == found.status.tolist()
    for name in ("path", "kind", "constraint", "p", "q", "nu", "before", "after", "handed", "note"):
        assert np.array_equal(getattr(again, name), getattr(found, name))
    assert np.array_equal(again.samples.q, found.samples.q) and list(again.parameters) == ["k", "h", "w"]
    assert np.array_equal(again.parameters["w"], found.parameters["w"])
    assert onesided.plots.write(again, tmp_path / "loci.svg", x="w").exists()
    with pytest.raises(onesided.UsageError, match="not varied"):
        again.plot("kk")


def test_unknown_device_kind_and_path_are_refused(snap):
    with pytest.raises(onesided.UsageError, match="device"):
        onesided.trace_many(snap, {"k": [1.0]}, [0.0], 0.0, p_bounds=(-1, 1), device="abacus")
    found = onesided.trace_many(snap, {"k": [1.0]}, [0.0], 0.0, p_bounds=(-1, 1))
    with pytest.raises(onesided.UsageError, match="kind"):
        found.first("limits")
    with pytest.raises(onesided.UsageError, match="path"):
        found.of(1)


def test_table_has_a_row_per_event(snap):
    pandas = pytest.importorskip("pandas")
    found = onesided.trace_many(snap, {"k": [1.0, 2.0]}, [0.0], 0.0, p_bounds=(-1, 1))
    table = found.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table) == len(found.p)
    assert table["k"].tolist() == np.array([1.0, 2.0])[found.path].tolist()


def test_samples_lie_on_the_paths(snap):
    given = random_snaps(30, seed=4)
    found = onesided.trace_many(snap, given, [0.0], 0.0, p_bounds=(-BOUND, BOUND), at=[-0.01, 0.02, 5.0])
    s = found.samples
    k, h, w = (given[name][s.path] for name in "khw")
    q, force = s.q[:, 0], s.nu[:, 0]
    assert np.allclose(k / 2 * q * (q - h) * (q - 2 * h) + force, s.p, atol=1e-9)
    assert np.allclose(np.minimum(w - q, force), 0.0, atol=1e-9)
    low = np.abs(s.p - 0.02) < 1e-9
    for i in range(30):  # without contact: as many points at one load as the path passes
        kinds = [found.kind[j] for j in found.of(i)]
        passes = 1 + kinds.count("limit") + kinds.count("corner_limit")
        own = np.flatnonzero(low & (s.path == i))
        turns = [found.p[j] for j in found.of(i) if found.kind[j] in ("limit", "corner_limit")]
        if all(abs(turn) > 0.021 and (turn > 0) == (number % 2 == 0) for number, turn in enumerate(turns)):
            assert len(own) == passes
        assert [int(c) for c in s.instability[own]] == [number % 2 for number in range(len(own))]


def evaluated(line: StraightLine, inputs):
    """A straight line by Python, operation by operation."""
    from onesided.evaluation.plain import ENTRY_BY_ENTRY
    from onesided.evaluation.straight import Scalar

    values = dict(enumerate(inputs))

    def value(one):
        return values[one.index] if isinstance(one, Scalar) else one

    for index, (name, given, _) in line.operations:
        numbers = [value(one) for one in given]
        values[index] = (
            (numbers[2] if numbers[0] else numbers[1]) if name == "select" else ENTRY_BY_ENTRY[name](*numbers)
        )
    return np.array([float(value(one)) for one in line.outputs])


def test_straight_line_computes_what_the_function_does():
    weights = np.arange(12.0).reshape(3, 4)

    def function(x):
        y = jnp.sin(x) @ weights + jnp.cumprod(jnp.ones(4))[::-1]
        z = jnp.where(y > 0, y**3, jnp.exp(y)).at[1].add(jnp.max(x))
        return jnp.concatenate([z, jnp.outer(x, z).sum(axis=1), jnp.linalg.norm(x)[None], jnp.roll(x, 1) ** -2])

    def loop(x):
        return jnp.asarray([jnp.cumsum(x)[i] for i in range(3)])

    def plain(x):
        y = jnp.sin(x) @ weights
        z = jnp.where(y > 0, y**3, jnp.exp(y)).at[1].add(jnp.max(x))
        return jnp.concatenate([z, jnp.outer(x, z).sum(axis=1), jnp.linalg.norm(x)[None], jnp.roll(x, 1) ** -2])

    x = np.array([0.3, -1.2, 2.1])
    assert np.allclose(evaluated(straight(plain, 3), x), plain(x), rtol=1e-14)
    for other in (function, loop):
        try:
            line = straight(other, 3)
        except NotStraightError:
            continue
        assert np.allclose(evaluated(line, x), other(x), rtol=1e-14)


class Compiled:
    """What stands in for a module of cupy: the same text compiled for this machine's processor, with one thread."""

    def __init__(self, code, options):
        words = "#include <cmath>\nusing std::isfinite;\n#define __global__\n#define __device__\n"
        words += "struct Three { long long x; };\n"
        words += "static const Three gridDim{1}, blockDim{1}, blockIdx{0}, threadIdx{0};\n"
        words += "static unsigned long long atomicAdd(unsigned long long* a, unsigned long long b)"
        words += "{ unsigned long long v = *a; *a += b; return v; }\n"
        compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
        with tempfile.TemporaryDirectory() as folder:
            written, library = Path(folder) / "lanes.cpp", Path(folder) / "lanes.so"
            written.write_text(words + code)
            subprocess.run([compiler, "-O0", "-shared", "-fPIC", "-o", library, written], check=True)
            self._library = ctypes.CDLL(str(library))

    def compile(self):
        pass

    def get_function(self, name):
        function = getattr(self._library, name)

        def call(grid, block, arguments):
            arrays = [one for one in arguments if np.ndim(one)]
            assert all(array.flags.c_contiguous for array in arrays)
            pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
            function(*pointers, *(ctypes.c_longlong(number) for number in arguments[len(arrays) :]))

        return call


def asnumpy(array, out=None):
    """A copy, as from a device."""
    if out is None:
        return np.array(array)
    out[...] = array
    return out


def numpy_as_cupy():
    """NumPy where cupy is not to be had."""
    names = ("asarray", "empty", "zeros", "cumsum", "uint64", "int64", "uint8", "int32")
    stand_in = SimpleNamespace(**{name: getattr(np, name) for name in names})
    stand_in.RawModule, stand_in.asnumpy = Compiled, asnumpy
    device = SimpleNamespace(attributes={"MultiProcessorCount": 1}, mem_info=(1 << 30, 1 << 31))
    stand_in.cuda = SimpleNamespace(
        Stream=lambda non_blocking: nullcontext(), Device=lambda: device, alloc_pinned_memory=bytearray
    )
    return stand_in


@pytest.fixture
def device(monkeypatch):
    """What a graphics processor is given, compiled for this one, with room for the rows of few paths at first."""
    if not any(map(shutil.which, ("c++", "g++", "clang++"))):
        pytest.skip("no C++ compiler")
    monkeypatch.setattr(cuda_lanes, "_cupy", numpy_as_cupy)
    monkeypatch.setattr(cuda_lanes, "ROOM", 1)
    monkeypatch.setattr(cuda_lanes, "CHUNK", 16)
    monkeypatch.setattr(lane_runs, "PIECE", 5)


def with_a_gap():
    """A system of its own, so that what is compiled for it is not kept for other tests."""
    return snapping()


@pytest.mark.usefixtures("device")
def test_printed_kernel_runs_the_same_paths(snap):
    given, at = random_snaps(50, seed=5), [-0.01, 0.02]
    there, here = (
        onesided.trace_many(snap, given, [0.0], 0.0, p_bounds=(-5, 5), device=device, at=at)
        for device in ("gpu", "cpu")
    )
    assert there.engine == "gpu" and not there.handed.any()
    for name in ("path", "kind", "constraint", "before", "after"):
        assert np.array_equal(getattr(there, name), getattr(here, name))
    assert np.allclose(there.p, here.p, rtol=1e-12, atol=1e-12)
    assert np.allclose(there.q, here.q, rtol=1e-7, atol=1e-7)
    assert np.array_equal(there.samples.path, here.samples.path)
    assert np.allclose(there.samples.q, here.samples.q, rtol=1e-9, atol=1e-9)


def spoilt(monkeypatch, kernel, change):
    """Let a kernel of the device do something to its arguments once it has run."""
    real = Compiled.get_function

    def get_function(self, name):
        function = real(self, name)

        def call(grid, block, arguments):
            function(grid, block, arguments)
            if name == kernel:
                change(*arguments)

        return call

    monkeypatch.setattr(Compiled, "get_function", get_function)


@pytest.mark.usefixtures("device")
def test_a_row_of_the_device_that_is_no_equilibrium_is_seen_there(monkeypatch):
    """One row is moved: of that path, and of no other, is every event computed again by `trace`."""

    def moved(states, data, rows, counts, *numbers):
        first = np.flatnonzero(rows[: int(counts[1]), -2] == 3)
        rows[first[:1], 0] += 1e-3

    spoilt(monkeypatch, "run", moved)
    given = random_snaps(12, seed=5)
    found = onesided.trace_many(with_a_gap(), given, [0.0], 0.0, p_bounds=(-BOUND, BOUND), device="gpu")
    assert found.ok.all() and np.flatnonzero(found.handed).tolist() == [3]
    for i in range(12):
        exact = events_of_snap(*(values[i] for values in given.values()))
        assert np.allclose(found.p[found.of(i)], [event[1] for event in exact], rtol=1e-10, atol=1e-10)


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("seed", range(4))
def test_events_are_compared_with_each_other_there_as_here(monkeypatch, seed):
    """Events moved to the first of their path, of the same kind or not, and degrees changed at random."""
    rng, seen = np.random.default_rng(seed), []

    def tampered(x, codes, wrong, rows, data, first, made, count):
        begins = np.repeat(first, np.diff(np.append(first, len(x))))
        for row in np.flatnonzero(rng.random(len(x)) < 0.2):
            x[row], codes[row, 0] = x[begins[row]], codes[begins[row], 0] + rng.integers(2)
        codes[rng.random(len(x)) < 0.05, rng.integers(1, 3)] += 1

    def compared(wrong, x, codes, states, data, first, count):
        own, expected = np.diff(np.append(first, len(x))), np.zeros(int(count), dtype=bool)
        near = float(np.sqrt(onesided.Tolerances().residual)) * data[3:6].T  # three parameters, then sizes
        expected[around_again(own, x, codes[:, 0], near)] = True
        expected[broken(own, codes, states[lanes.columns("degree")[0]])] = True
        assert np.array_equal(wrong, expected)
        seen.append(expected)

    spoilt(monkeypatch, "check", tampered)
    spoilt(monkeypatch, "connect", compared)
    monkeypatch.setattr(cuda_lanes.CudaLanes, "at_once", 1)  # in order
    system, given = with_a_gap(), random_snaps(40, seed)
    lanes = PathLanes(
        1, 1, 0, system.derivatives.blocks, 3, many._knobs(onesided.PredictorCorrector(), onesided.Tolerances())
    )
    found = onesided.trace_many(system, given, [0.0], 0.0, p_bounds=(-BOUND, BOUND), device="gpu")
    told = np.concatenate(seen)
    assert 0 < told.sum() < 40 and np.all(found.handed[told]) and found.ok.all()


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("sampled", [4, 1 << 11])
def test_a_recheck_on_the_device_that_passes_everything_is_seen_here(monkeypatch, caplog, sampled):
    """All rows are moved by the recheck itself, which says nothing: the rows looked at here say it of all."""

    def passed(x, codes, wrong, *rest):
        x[:, 0] += 1e-3
        wrong[:] = 0

    spoilt(monkeypatch, "check", passed)
    monkeypatch.setattr(lane_runs, "SAMPLED", sampled)
    given = random_snaps(12, seed=6)
    with caplog.at_level("WARNING", logger="onesided"):
        found = onesided.trace_many(with_a_gap(), given, [0.0], 0.0, p_bounds=(-BOUND, BOUND), device="gpu")
    assert found.handed.all() and found.ok.all() and "recheck on the device" in caplog.text
    for i in range(12):
        exact = events_of_snap(*(values[i] for values in given.values()))
        assert np.allclose(found.p[found.of(i)], [event[1] for event in exact], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_recheck_tells_equilibria_from_others(snap, seed):
    """Points of q(p) by hand, with and without contact, and the same a little off in every unknown, in two ways."""
    rng = np.random.default_rng(seed)
    knobs = many._knobs(onesided.PredictorCorrector(), onesided.Tolerances())
    lanes = PathLanes(1, 1, 0, snap.derivatives.blocks, 3, knobs)
    check = RowCheck(snap.derivatives, lanes)
    k, h, w = (values[0] for values in random_snaps(1, seed).values())
    vector, free, push = np.array([{"k": k, "h": h, "w": w}[name] for name in snap.derivatives.names]), 0.5 * w, 0.3
    inside = [free, k / 2 * free * (free - h) * (free - 2 * h), 0.0]
    held = [w, k / 2 * w * (w - h) * (w - 2 * h) + push, push]
    unit, weight = rng.uniform(0.5, 2.0, 3), rng.uniform(0.5, 2.0, 2)
    given, small = np.concatenate([vector, unit, weight]), 1e-3
    wrong = [np.array(x) + step for x in (inside, held) for step in (*small * np.eye(3), *-small * np.eye(3))]
    rows = np.array([inside, held, *wrong, [w + 0.1, k / 2 * (w + 0.1) * (w + 0.1 - h) * (w + 0.1 - 2 * h), 0.0]])
    line = straight(check.checked, 3, check.given)
    told = [evaluated(line, np.concatenate([row / unit, given])) for row in rows]
    assert np.allclose([one[:3] for one in told], rows) and [one[3] for one in told] == [1, 1] + [0] * 13
    many_of = len(rows)
    sizes = np.tile(given[3:], (many_of, 1))
    assert check.holds(rows, np.tile(vector, (many_of, 1)), sizes).tolist() == [True, True] + [False] * 13


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("on", ["cpu", "gpu"])
def test_closed_paths_are_told_once(on):
    """q² + p² = r²: two limit points at p = ±r, once around."""
    circle = onesided.System(
        coordinates=("q",),
        energy=lambda q, p, th: q[0] ** 3 / 3 + (p**2 - th.r**2) * q[0],
        parameters={"r": 1.0},
    )
    r = np.array([0.5, 1.0])
    found = onesided.trace_many(circle, {"r": r}, r[:, None], 0.0, p_bounds=(-5, 5), device=on)
    assert np.allclose(found.p.reshape(2, 2), np.outer(r, [1, -1])) and set(found.status) == {onesided.Status.closed}


@pytest.mark.parametrize("seed", range(20))
def test_pieces_are_joined_as_a_stable_sort_joins_them(seed):
    """Some chunks of paths with few rows each, then paths that were run once more, then single ones, with gaps."""
    rng = np.random.default_rng(seed)
    chunks = [np.repeat(np.arange(10) + 10 * i, rng.integers(0, 4, 10)) for i in range(rng.integers(0, 5))]
    again = np.sort(rng.integers(0, 60, rng.integers(0, 8)))
    single = [np.full(rng.integers(0, 3), one) for one in np.sort(rng.choice(60, 6, replace=False))]
    paths = [np.zeros(0, dtype=np.intp), *chunks, again, *single]
    pieces = [ManyTracks(path, rng.normal(size=(len(path), 2)), rng.integers(0, 9, len(path))) for path in paths]
    order = np.argsort(np.concatenate(paths), kind="stable")
    for made, column in zip(many._in_order(pieces), zip(*pieces, strict=True), strict=True):
        assert np.array_equal(made, np.concatenate(column)[order])


def test_paths_that_come_around_again_are_noticed():
    """Events (q, p), kind of three paths: twice around, once, and another kind at the same place."""
    points, kinds = np.array([[0.1, 1], [0.2, -1], [0.1, 1]] * 3), np.full(9, AT_LIMIT)
    points[5, 0], kinds[8] = 0.3, OPENS
    assert around_again(np.full(3, 3), points, kinds, np.full((3, 2), 1e-6)).tolist() == [0]
    some = np.array([0, 3, 0, 3, 3])  # among paths without an event
    assert around_again(some, points, kinds, np.full((5, 2), 1e-6)).tolist() == [1]
    wide = np.array([[1e-6, 1e-6], [1.0, 1e-6], [1e-6, 1e-6]])  # of the second 0.1 and 0.3 are as good as one
    assert around_again(np.full(3, 3), points, kinds, wide).tolist() == [0, 1]


def test_a_path_on_which_an_event_is_missing_is_noticed():
    """Negative modes after an event are those before the next, and at the end those of the path: not on 1 and 2."""
    codes = np.array([[AT_LIMIT, 0, 1, 0], [AT_LIMIT, 1, 0, 0]] * 3)
    codes[3, 1:3], codes[5, 2] = (0, 0), 1
    assert broken(np.full(3, 2), codes, np.zeros(3)).tolist() == [1, 2]
    assert broken(np.array([0, 2, 0, 2, 2, 0]), codes, np.zeros(6)).tolist() == [3, 4]  # others have no event
    assert broken(np.zeros(2, dtype=int), codes[:0], np.ones(2)).tolist() == []


def test_starts_that_are_no_equilibria_lead_where_trace_goes_and_bounds_hide_what_is_beyond():
    """Wells side by side; limit points at sin(a q) = ∓1 climb with p, the last ones beyond the bound."""
    wells = onesided.System(
        coordinates=("q",),
        energy=lambda q, p, th: jnp.cos(th.a * q[0]) / th.a + 0.05 * q[0] ** 2 - p * q[0],
        parameters={"a": 3.0},
    )
    a = np.array([2.3, 4.1, 6.126514434588337, 7.8])
    found = onesided.trace_many(wells, {"a": a}, [0.7], 0.1, p_bounds=(-2, 2))
    assert np.all(np.abs(found.p) <= 2.0)
    for i, value in enumerate(a):
        path = onesided.trace(wells.replace(parameters={"a": value}), [0.7], 0.1, p_bounds=(-2, 2))
        own = found.of(i)
        assert [found.kind[j] for j in own] == [event.kind.name for event in path.events]
        assert np.allclose(found.p[own], [event.p for event in path.events], rtol=1e-10)


def test_starts_among_many_wells_lead_into_the_well_of_trace():
    """Which of the wells a descent reaches depends on the sizes it is measured by: those of the path itself."""
    wells = onesided.System(
        coordinates=("q", "r"),
        energy=lambda q, p, th: (
            jnp.cos(th.a * q[0]) / th.a + jnp.cos(th.b * q[1] + 2 * q[0]) + 0.02 * (q[0] ** 2 + q[1] ** 2) - p * q[0]
        ),
        parameters={"a": 3.0, "b": 3.0},
    )
    rng = np.random.default_rng(5)
    given = dict(zip("ab", rng.uniform(1, 9, (2, 700))[:, 10:40], strict=True))
    found = onesided.trace_many(wells, given, [2.0, -1.3], 0.1, p_bounds=(-0.3, 0.3))
    for i in range(30):
        own = wells.replace(parameters={name: float(values[i]) for name, values in given.items()})
        path = onesided.trace(own, [2.0, -1.3], 0.1, p_bounds=(-0.3, 0.3), throw=False)
        rows = found.of(i)
        assert np.allclose(found.q[rows], [event.q for event in path.events], atol=1e-7)


def test_degree_at_limit_points_of_constraints_that_move_with_p():
    """A joint y = p leaves x: U = x³/3 − x + x y has its limit at p = 1, from a minimum to a maximum."""
    moved = onesided.System(
        coordinates=("x", "y"),
        energy=lambda q, p, th: th.k * (q[0] ** 3 / 3 - q[0] + q[0] * q[1]),
        bilateral={"guide": lambda q, p, th: q[1] - p},
        parameters={"k": 1.0},
    )
    found = onesided.trace_many(moved, {"k": [1.0, 2.0]}, [1.0, 0.0], 0.0, p_bounds=(-3, 3))
    limits = found.kind == "limit"
    assert not found.handed.any() and np.allclose(found.p[limits], 1.0)
    assert found.before[limits].tolist() == [0, 0] and found.after[limits].tolist() == [1, 1]


def test_samples_at_the_start_close_to_it_and_at_the_bound(snap):
    found = onesided.trace_many(snap, {"w": [0.1, 0.3]}, [0.0], 0.0, p_bounds=(-1, 1), at=[0.0, 1e-5, 1.0])
    s = found.samples
    assert s.p.tolist() == [0.0, 1e-5, 1.0] * 2
    assert np.allclose(s.q[:, 0], [0.0, 1e-5, 0.1, 0.0, 1e-5, 0.3], atol=1e-9)


def test_a_start_outside_the_bounds_is_named(snap):
    with pytest.raises(onesided.UsageError, match="path 1"):
        onesided.trace_many(snap, {"k": [1.0, 1.1]}, [0.0], [0.0, 7.0], p_bounds=(-5, 5))


def test_a_structure_starts_where_its_parameters_put_it():
    truss = onesided.zoo.load("von-mises-truss")[0]
    off = onesided.imperfect(truss)
    name = next(name for name in off.parameters if name.startswith("off_"))
    found = onesided.trace_many(off, {name: [0.0, 0.02]}, p0=0.0, p_bounds=(-0.01, 0.01))
    other = onesided.trace(off.replace(parameters={name: 0.02}), p0=0.0, p_bounds=(-0.01, 0.01))
    own = found.of(1)
    assert np.allclose(found.q[own], [event.q for event in other.events], atol=1e-8)
