"""Equilibrium paths against the peers: time per point, turns in the right order, limit loads, start of a process.

Run as `python benchmarks/paths.py`, for one thread as `OMP_NUM_THREADS=1 python benchmarks/paths.py`; prints three
tables. Peers (contique, springable, trusspy, pacopy 0.1) are called where they are installed.

* A2 is a shallow truss of two bars whose right support rolls, held by a spring (3 coordinates, 2 limit points).
* C_N is a chain of N guided bistable bars, all under the same load; unit i turns at P_i = k_i (c − 1)^1.5. The units
  turn in the order S_n = S_(n−1), +n, reverse(S_(n−1)), −n, S_(n−1): a path that jumps or turns back shows at once.

A turn of a peer is a local extremum of the load over its points; `right` counts turns until the first wrong one, up to
the number wanted. onesided runs twice: with its steps compiled from the first point on (`compile_after=0`; the first,
slow call is not measured), and as `single` with steps in Python only; with default settings otherwise. Its time
includes the start, the inertia at every point, the location of limit points and the recheck. Peers get the exact
residual and Jacobian in NumPy where they take one, and steps from a trial on these very models (see `KNOBS`); a peer's
error is that of its sampled extremum.
"""

import contextlib
import importlib
import importlib.metadata
import io
import itertools
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

import onesided
from onesided import Kind, zoo

Array = NDArray[np.float64]
WIDTH, RISE = 1.0, 0.5
REST = math.hypot(WIDTH, RISE)
UNIT_LOAD = (REST ** (2 / 3) - 1) ** 1.5  # limit load of a bar of stiffness 1 whose foot is guided
FAR = 0.1  # a load beyond all limit loads: paths of A2 end there

# Steps by trial on these models (one to twenty-odd tries per tool and model): coarse ones which find all turns
# wanted in the right order (for springable on A2 its default). contique and trusspy need their adaptive steps for that.
# `points` ends the tools that only stop after a number of points; trusspy, slow, is cut short on the long chains.
# pacopy's steps have had no trial with pacopy itself: 0.1.4 is no longer distributed.
KNOBS: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "onesided": {name: {"compile_after": 0} for name in ("A2", "C10", "C30", "C100")},
    "single": {name: {"compile_after": math.inf} for name in ("A2", "C10", "C30", "C100")},
    "contique": {
        "A2": {"dx": 0.05, "dp": 0.01, "overshoot": 1.05, "points": 1000},
        "C10": {"dx": 0.02, "dp": 0.005, "overshoot": 1.5, "points": 9000},
        "C30": {"dx": 0.05, "dp": 0.005, "overshoot": 1.5, "points": 6000},
        "C100": {"dx": 0.05, "dp": 0.005, "overshoot": 1.5, "points": 6000},
    },
    "springable": {
        "A2": {"radius": 0.05, "points": 1000},
        "C10": {"radius": 0.05, "points": 2300},
        "C30": {"radius": 0.15, "points": 1250},
        "C100": {"radius": 0.8, "points": 1150},
    },
    "trusspy": {
        "A2": {"dx": 0.05, "dp": 0.01, "overshoot": 1.05, "points": 1000},
        "C10": {"dx": 0.05, "dp": 0.005, "overshoot": 1.5, "points": 1500},
        "C30": {"dx": 0.05, "dp": 0.005, "overshoot": 1.5, "points": 300},
        "C100": {"dx": 0.05, "dp": 0.005, "overshoot": 1.5, "points": 60},
    },
    "pacopy": {
        "A2": {"step": 0.05, "points": 1000},
        "C10": {"step": 0.05, "points": 9000},
        "C30": {"step": 0.1, "points": 6000},
        "C100": {"step": 0.2, "points": 6000},
    },
}


class Run(NamedTuple):
    """What one run found: number of converged points and loads at which the path turned."""

    points: int
    turns: Array


@dataclass(frozen=True)
class Model:
    """One structure, stated for everybody: as energy, as residual with Jacobian, as nodes and bars.

    Attributes
    ----------
    nodes : (x, y, x fixed, y fixed);  bars : (node, node, stiffness), at rest in the start;  loaded : node under load.
    turns : exact loads of the limit points wanted;  near : a smaller error identifies a limit point.
    """

    name: str
    system: onesided.System
    start: Array
    residual: Callable[[Array, float], Array]
    stiffness: Callable[[Array], Array]
    pull: Array
    nodes: list[tuple[float, float, bool, bool]]
    bars: list[tuple[int, int, float]]
    loaded: int
    turns: Array
    near: float
    ends: dict[str, Any] = field(default_factory=dict)


Tool = Callable[[Model, Mapping[str, float]], Callable[[], Run]]


def roller() -> Model:
    """A2, with the coordinates (x, y) of the apex and u of the roller."""
    rows = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[-1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])  # d(bar)/dq
    base, support, pull = np.array([[0.0, 0.0], [2 * WIDTH, 0.0]]), 2.0 * np.diag([0.0, 0.0, 1.0]), np.eye(3)[1]

    def bars(q: Array) -> tuple[Array, Array, Array]:
        d = base + rows @ q
        length = np.sqrt((d * d).sum(axis=1))
        return d / length[:, None], length, length - REST

    def residual(q: Array, p: float) -> Array:
        n, _, force = bars(q)
        return np.asarray(np.einsum("b,bi,bij->j", force, n, rows) + support @ q + p * pull)

    def stiffness(q: Array) -> Array:
        n, length, force = bars(q)
        across, along = force / length, 1.0 - force / length
        inner = across[:, None, None] * np.eye(2) + along[:, None, None] * n[:, :, None] * n[:, None, :]
        return np.asarray((rows.transpose(0, 2, 1) @ inner @ rows).sum(axis=0) + support)

    system, task = zoo.load("two-bar-roller")
    limit = 1.6 * UNIT_LOAD  # 0.8 times the limit load on fixed supports, for a spring twice as stiff as a bar
    return Model(
        "A2",
        system,
        system.point(task.start),
        residual,
        stiffness,
        pull,
        nodes=[(0, 0, True, True), (WIDTH, RISE, False, False), (2, 0, False, True), (3, 0, True, True)],
        bars=[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 2.0)],
        loaded=1,
        turns=np.array([limit, -limit]),
        near=0.1 * limit,
        ends={"p_bounds": (-FAR, FAR)},
    )


def chain(N: int, count: int) -> Model:
    """C_N with its first `count` turns."""
    k, pull = 1.0 + 0.02 * np.arange(N), np.eye(N)[-1]
    here = np.arange(N)

    def energy(q: Any, p: Any, th: Any) -> Any:
        d = jnp.diff(jnp.concatenate([jnp.zeros(1), q]))
        return jnp.sum(k * (jnp.sqrt(WIDTH**2 + d**2) - REST) ** 2) / 2 + p * q[-1]

    def residual(q: Array, p: float) -> Array:
        d = np.diff(q, prepend=0.0)
        force = k * d * (1.0 - REST / np.sqrt(WIDTH**2 + d**2))
        out: Array = force + p * pull
        out[:-1] -= force[1:]
        return out

    def stiffness(q: Array) -> Array:
        d = np.diff(q, prepend=0.0)
        s = k * (1.0 - REST * WIDTH**2 / (WIDTH**2 + d**2) ** 1.5)
        K = np.zeros((N, N))
        K[here, here] = s
        K[here[:-1], here[:-1]] += s[1:]
        K[here[1:], here[:-1]] = K[here[:-1], here[1:]] = -s[1:]
        return K

    return Model(
        f"C{N}",
        onesided.System(tuple(f"y{i + 1}" for i in range(N)), energy),
        np.asarray(RISE * (here + 1.0), dtype=np.float64),
        residual,
        stiffness,
        pull,
        nodes=[(WIDTH * (i % 2), RISE * i, True, i == 0) for i in range(N + 1)],
        bars=[(i, i + 1, float(k[i])) for i in range(N)],
        loaded=N,
        turns=turns_of_chain(N, count),
        near=0.01 * UNIT_LOAD,
        ends={"max_events": count},
    )


def turns_of_chain(N: int, count: int) -> Array:
    """Loads of the first limit points of C_N, in order along the path."""
    units: list[int] = []
    for n in range(1, N + 1):
        units = [*units, n, *units[::-1], -n, *units]
        if len(units) >= count:
            break
    order = np.array(units[:count])
    return np.asarray(np.sign(order) * (1.0 + 0.02 * (np.abs(order) - 1)) * UNIT_LOAD)


def turns_in(loads: Array) -> Array:
    """Local extrema of a sequence of loads."""
    moves = np.diff(loads)
    loads, moves = np.concatenate([loads[:1], loads[1:][moves != 0]]), moves[moves != 0]
    return np.asarray(loads[1:-1][moves[:-1] * moves[1:] < 0])


class Record(list[float]):
    """Loads as they come, for tools that can be stopped: `full` once all turns wanted are past."""

    def __init__(self, model: Model, points: float) -> None:
        super().__init__()
        self.seen, self.wanted, self.points, self.bounded = 0, len(model.turns), points, "p_bounds" in model.ends

    @property
    def full(self) -> bool:
        """Whether to stop."""
        return len(self) >= self.points or (abs(self[-1]) > FAR if self.bounded else self.seen >= self.wanted)

    def add(self, load: float) -> None:
        """Take the load of the next point."""
        self.append(float(load))
        self.seen += len(self) > 2 and (self[-2] - self[-3]) * (self[-1] - self[-2]) < 0

    def run(self) -> Run:
        """What was found so far."""
        return Run(len(self), turns_in(np.array(self)))


def prepare_onesided(model: Model, knobs: Mapping[str, float]) -> Callable[[], Run]:
    method = onesided.PredictorCorrector(**knobs)

    def call() -> Run:
        path = onesided.trace(model.system, model.start, 0.0, throw=False, method=method, **model.ends)
        return Run(len(path), np.array([event.p for event in path.events if event.kind is not Kind.bound]))

    return call


def prepare_contique(model: Model, knobs: Mapping[str, float]) -> Callable[[], Run]:
    """Steps: the component that changes most (relative to dx for q, dp for p) changes by that much."""
    solve = importlib.import_module("contique").solve
    jacobian = (lambda q, p, *_: model.stiffness(q), lambda q, p, *_: model.pull)

    def call() -> Run:
        record = Record(model, knobs["points"])
        steps = solve(
            model.residual,
            model.start,
            0.0,
            jac=jacobian,
            dxmax=knobs["dx"],
            dlpfmax=knobs["dp"],
            maxsteps=int(knobs["points"]),
            maxcycles=8,
            maxiter=12,
            tol=1e-9,
            overshoot=knobs["overshoot"],
            rebalance=True,
            high=1.0,
        )
        for step in steps:
            record.add(step.x[-1])
            if record.full:
                break
        return record.run()

    return call


def prepare_springable(model: Model, knobs: Mapping[str, float]) -> Callable[[], Run]:
    """Steps of a fixed Euclidean length in q; the file is read outside the measured time."""
    solve = importlib.import_module("springable.simulation").solve_model
    read = importlib.import_module("springable.readwrite.fileio").read_model
    nodes = [f"{i}, {x}, {y}, {fx:d}, {fy:d}" for i, (x, y, fx, fy) in enumerate(model.nodes)]
    bars = [f"{i}-{j}, LINEAR(k={k})" for i, j, k in model.bars]
    text = ["NODES", *nodes, "LONGITUDINAL FLEXELS", *bars, "LOADING", f"{model.loaded}, Y, {-FAR}"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.csv"
        file.write_text("\n".join(text) + "\n", encoding="utf-8")
        structure = read(str(file))
    settings = {"radius": knobs["radius"], "i_max": int(knobs["points"]), "verbose": False}

    def call() -> Run:
        loads = solve(structure, settings).get_equilibrium_path()[1]
        return Run(len(loads), turns_in(loads))

    return call


def prepare_trusspy(model: Model, knobs: Mapping[str, float]) -> Callable[[], Run]:
    """Steps as in contique; bars of area 1 with E = k l0, in a plane of its three-dimensional space."""
    truss = importlib.import_module("trusspy").Model(log=0)
    for i, (x, y, x_fixed, y_fixed) in enumerate(model.nodes, 1):
        truss.Nodes.add_node(i, coord=(x, y, 0.0))
        truss.Boundaries.add_bound_U(i, (int(not x_fixed), int(not y_fixed), 0))
    for label, (i, j, k) in enumerate(model.bars, 1):
        length = math.dist(model.nodes[i][:2], model.nodes[j][:2])
        truss.Elements.add_element(label, conn=(i + 1, j + 1), gprop=[1.0], mprop=[k * length])
    truss.ExtForces.add_force(model.loaded + 1, (0.0, -1.0, 0.0))
    truss.Settings.du, truss.Settings.dlpf, truss.Settings.dxtol = knobs["dx"], knobs["dp"], knobs["overshoot"]
    truss.Settings.stepcontrol, truss.Settings.maxfac, truss.Settings.reduce = True, 1.0, 2.0
    truss.Settings.incs, truss.Settings.xlimit = int(knobs["points"]), (len(model.start) + 1, FAR)

    def call() -> Run:
        truss.build()
        truss.run()
        loads = np.array([result.lpf for result in truss.Results.R[1:]], dtype=float)
        return Run(len(loads), turns_in(loads))

    return call


class Enough(Exception):  # noqa: N818 - no error: the only way to stop pacopy
    """All turns wanted were found."""


class PacopyProblem:
    """The protocol of pacopy."""

    def __init__(self, model: Model) -> None:
        self.f, self.stiffness, self.pull = model.residual, model.stiffness, model.pull

    def inner(self, a: Array, b: Array) -> float:
        """Inner product of two configurations."""
        return float(a @ b)

    def norm2_r(self, a: Array) -> float:
        """Squared norm of a residual."""
        return float(a @ a)

    def df_dlmbda(self, u: Array, lmbda: float) -> Array:
        """Change of the residual with the load."""
        return self.pull

    def jacobian_solver(self, u: Array, lmbda: float, rhs: Array) -> Array:
        """Solve with the Jacobian."""
        return np.asarray(np.linalg.solve(self.stiffness(u), rhs), dtype=np.float64)


def prepare_pacopy(model: Model, knobs: Mapping[str, float]) -> Callable[[], Run]:
    """Pseudo-arclength with a tangent predictor; the step adapts up to `step`."""
    euler_newton, problem = importlib.import_module("pacopy").euler_newton, PacopyProblem(model)

    def call() -> Run:
        record = Record(model, knobs["points"])

        def callback(k: int, load: float, u: Array) -> None:
            record.add(load)
            if record.full:
                raise Enough

        with contextlib.suppress(Enough):
            euler_newton(
                problem,
                model.start.copy(),
                0.0,
                callback,
                max_steps=int(knobs["points"]),
                verbose=False,
                newton_tol=1e-10,
                stepsize0=knobs["step"] / 10,
                stepsize_max=knobs["step"],
            )
        return record.run()

    return call


def tools() -> Iterator[tuple[str, Tool, str]]:
    """Yield name, what prepares a model (not timed) and returns the call (timed), and why it cannot run, if so."""
    yield "onesided", prepare_onesided, ""
    yield "single", prepare_onesided, ""
    for name, prepare, wanted in (
        ("contique", prepare_contique, ""),
        ("springable", prepare_springable, ""),
        ("trusspy", prepare_trusspy, ""),
        ("pacopy", prepare_pacopy, "0.1."),  # later versions are proprietary and ask for a licence
    ):
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            version = ""
        here = bool(version) and version.startswith(wanted)
        yield name, prepare, "" if here else f"not installed{' (only a later version)' if version else ''}"


def measure(call: Callable[[], Run], repeats: int = 3, patience: float = 8.0) -> tuple[float, Run]:
    """Return the median processor seconds after a warm-up, or those of one run that took too long to repeat; the run.

    Short paths are repeated for half a second.
    """
    seconds: list[float] = []
    with contextlib.redirect_stdout(io.StringIO()):
        while len(seconds) <= repeats or sum(seconds[1:]) < 0.5:
            begin = time.process_time()
            run = call()
            seconds.append(time.process_time() - begin)
            if seconds[0] > patience:
                return seconds[0], run
    return statistics.median(seconds[1:]), run


def judge(model: Model, run: Run) -> tuple[int, int, float]:
    """Return the turns right until the first wrong one, the turns seen (both up to those wanted), the largest error."""
    seen = min(len(run.turns), len(model.turns))
    errors = np.abs(run.turns[:seen] - model.turns[:seen])
    wrong = np.flatnonzero(errors > model.near)
    right = int(wrong[0]) if len(wrong) else seen
    return right, seen, float(np.max(errors[:right], initial=0.0))


def paths(models: list[Model]) -> None:
    head = f"{'model':6} {'tool':11} {'points':>6} {'ms/point':>9} {'/ ours':>7} {'path ms':>9} {'/ ours':>7}"
    print(f"{head} {'right/seen/wanted':>18} {'largest error':>14}")
    for model in models:
        ours: tuple[float, float] | None = None
        for name, prepare, reason in tools():
            if reason:
                print(f"{model.name:6} {name:11} {reason}")
                continue
            seconds, run = measure(prepare(model, KNOBS[name][model.name]))
            each, whole = 1e3 * seconds / run.points, 1e3 * seconds
            ours = ours or (each, whole)
            right, seen, error = judge(model, run)
            times = f"{run.points:6d} {each:9.3f} {each / ours[0]:7.2f} {whole:9.1f} {whole / ours[1]:7.2f}"
            counts, worst = f"{right}/{seen}/{len(model.turns)}", f"{error:.1e}" if right else "–"
            print(f"{model.name:6} {name:11} {times} {counts:>18} {worst:>14}")


def typical(call: Callable[[], Any], repeats: int) -> float:
    """Return the median over seven rounds of the mean seconds of a call."""
    means = []
    for _ in range(7):
        begin = time.process_time()
        for _ in range(repeats):
            call()
        means.append((time.process_time() - begin) / repeats)
    return statistics.median(means)


def floor(models: list[Model]) -> None:
    """Print what no point can do without: one evaluation of all derivatives, one factorisation for the inertia."""
    print(f"\n{'bare cost':11} {'evaluate µs':>12} {'dsytrf µs':>12} {'sum ms':>9}")
    for model in models:
        n, none = len(model.start), np.zeros(0)
        K = np.asfortranarray(model.system.evaluate(model.start, 0.0, none).L_qq)
        loads = itertools.count()  # never the same point twice: the last evaluation is kept
        evaluate = typical(lambda: model.system.evaluate(model.start, 1e-9 * next(loads), none), 200)  # noqa: B023
        factorise = typical(partial(lapack.dsytrf, K, lower=1, lwork=16 * n), 200)
        print(f"{model.name:11} {evaluate * 1e6:12.1f} {factorise * 1e6:12.1f} {(evaluate + factorise) * 1e3:9.3f}")


def process(command: list[str], cache: str, cwd: str) -> float:
    """Return the wall time of a whole process with its compilation cache under `cache`."""
    unusual = ("JAX_", "PYTHONDONTWRITEBYTECODE")  # without byte code every process compiles all sources anew
    environment = {key: value for key, value in os.environ.items() if not key.startswith(unusual)}
    environment["PYTHONPATH"] = str(Path(onesided.__file__).parents[1])  # the very version that is measured
    begin = time.perf_counter()
    done = subprocess.run(
        command, check=False, cwd=cwd, env={**environment, "XDG_CACHE_HOME": cache}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
    return time.perf_counter() - begin


def processes(repeats: int = 3) -> None:
    imports = [sys.executable, "-c", "import jax.numpy, scipy.sparse.linalg"]
    trace = [str(Path(sys.executable).with_name("onesided")), "trace", "corner-limit", "--quiet"]
    seconds: dict[str, list[float]] = {"imports alone": [], "trace, cold cache": [], "trace, warm cache": []}
    with tempfile.TemporaryDirectory() as cwd, tempfile.TemporaryDirectory() as warm:
        process(trace, warm, cwd)
        process(imports, warm, cwd)
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as cold:
                seconds["imports alone"].append(process(imports, cold, cwd))
                seconds["trace, cold cache"].append(process(trace, cold, cwd))
            seconds["trace, warm cache"].append(process(trace, warm, cwd))
    base = min(seconds["imports alone"])
    print(f"\n{'whole process':20} {'best s':>8} {'/ imports':>10} {'target':>8}")
    for (name, times), target in zip(seconds.items(), ("", "≤ 3", "≤ 2"), strict=True):
        print(f"{name:20} {min(times):8.2f} {min(times) / base:10.2f} {target:>8}")


if __name__ == "__main__":
    MODELS = [roller(), chain(10, 35), chain(30, 10), chain(100, 10)]
    paths(MODELS)
    floor(MODELS)
    processes()
