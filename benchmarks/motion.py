"""Motion with joints against the peers: error and time on systems with published end positions.

Run as `python benchmarks/motion.py [--plot FILE]`; prints one table: for every system and tool the settings, the
error of the end position and the wall time of the run. Peers (exudyn, scipy_dae) are called where they are installed,
through their public interfaces. onesided is measured on its second run; the first,
which compiles, is listed under `first`.

* four-bars N: hanging N-four-bar of uniform rods, 10 s; error of the point B0.
* Andrews' squeezer: all seven angles after 0.03 s;  heavy top: its centre after 1 s;  pendulum: after 10 s.
"""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for all alike: threads that wait for each other measure nothing

import jax.numpy as jnp
import numpy as np

import onesided
from onesided import Projected, System, zoo

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))

from ex10_four_bars import G, four_bars, four_bars_start
from ex11_heavy_top import SPEED, START, heavy_top

BARS = {1: (0.7357004566, -0.6773070487), 10: (0.1257369566, -0.9920636158), 40: (0.0251236035, -0.9996843525)}
ANDREWS = (15.81077119, -15.75637106, 0.04082224012, -0.53473011634, 0.52440996588, 0.53473011634, 1.04808074104)


@dataclass(frozen=True)
class Row:
    """One measurement."""

    system: str
    tool: str
    setting: str
    error: float
    seconds: float
    first: float = float("nan")


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start


def own(name: str, system: System, start: tuple[Any, Any, float], exact: Any, control: float = 0.0) -> list[Row]:
    """Our own runs at several accuracies."""
    q0, v0, end = start
    rows = []
    for rtol in (1e-5, 1e-6, 1e-7, 1e-8, 1e-10):

        def run(rtol: float = rtol) -> Any:
            return onesided.simulate(system, q0, v0, (0.0, end), control=control, method=Projected(rtol=rtol))

        (_, first), (motion, seconds) = timed(run), timed(run)
        error = float(np.max(np.abs(motion.q[-1, : len(exact)] - exact)))
        rows.append(Row(name, "onesided", f"rtol {rtol:g}", error, seconds, first))
    return rows


def exudyn_four_bars(N: int, h: float) -> Row | None:
    """Rigid rods and revolute joints, index-3 generalized-α with the sparse solver."""
    try:
        import exudyn as exu
        from exudyn.itemInterface import (
            LoadMassProportional,
            MarkerBodyMass,
            MarkerBodyPosition,
            NodeRigidBody2D,
            ObjectGround,
            ObjectJointRevolute2D,
            ObjectRigidBody2D,
        )
    except ImportError:
        return None
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(ObjectGround())

    def rod(x: float, y: float, angle: float, rates: tuple[float, float, float]) -> Any:
        node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[x, y, angle], initialVelocities=list(rates)))
        body = mbs.AddObject(ObjectRigidBody2D(mass=1.0, inertia=1 / 12, nodeNumber=node))
        mbs.AddLoad(
            LoadMassProportional(markerNumber=mbs.AddMarker(MarkerBodyMass(bodyNumber=body)), loadVector=[0, -G, 0])
        )
        return body

    def join(a: Any, at_a: float, b: Any, at_b: float, base: float | None = None) -> None:
        places = [[base, 0.0, 0.0] if base is not None else [at_a, 0.0, 0.0], [at_b, 0.0, 0.0]]
        ends = [
            mbs.AddMarker(MarkerBodyPosition(bodyNumber=n, localPosition=p))
            for n, p in zip((a, b), places, strict=True)
        ]
        mbs.AddObject(ObjectJointRevolute2D(markerNumbers=ends))

    upright = [rod(i, -0.5, -np.pi / 2, (1.5, 0.0, 3.0)) for i in range(N + 1)]
    for i, body in enumerate(upright):
        join(ground, 0.0, body, -0.5, base=float(i))
    for i in range(N):
        body = rod(i + 0.5, -1.0, 0.0, (3.0, 0.0, 0.0))
        join(upright[i], 0.5, body, -0.5)
        join(upright[i + 1], 0.5, body, 0.5)
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = round(10.0 / h), 10.0
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    _, seconds = timed(lambda: mbs.SolveDynamic(settings))
    end = mbs.GetObjectOutputBody(upright[0], exu.OutputVariableType.Position, [0.5, 0.0, 0.0])
    return Row(f"four-bars {N}", "exudyn", f"h {h:g}", float(np.max(np.abs(end[:2] - BARS[N]))), seconds)


def scipy_dae_four_bars(N: int, rtol: float) -> Row | None:  # noqa: PLR0915 - one model, written out
    """Radau on the stabilised index-2 form, residual and Jacobian in NumPy; multipliers are derivatives of unknowns."""
    try:
        from scipy_dae.integrate import solve_dae
    except ImportError:
        return None
    system = four_bars(N)
    n, m = system.n, 2 * N + 1
    M = np.asarray(system.mass(jnp.zeros(n), None))  # type: ignore[misc]
    weight = np.zeros(n)
    weight[1::2] = G * np.r_[1.0, np.full(N - 1, 1.5), 1.0]  # half of each rod at either end
    base = np.column_stack([np.arange(N + 1.0), np.zeros(N + 1)])
    ends = np.vstack([np.eye(N + 1), np.eye(N + 1)[1:] - np.eye(N + 1)[:-1]])  # rods as differences of points

    def gradients(B: Any) -> Any:
        return ((ends @ B)[:, None, :] * ends[:, :, None]).reshape(m, n)

    def curvature(mu: Any) -> Any:
        return np.kron(ends.T @ (mu[:, None] * ends), np.eye(2))

    def split(y: Any, yp: Any) -> tuple[Any, ...]:
        q, v = y[:n].reshape(-1, 2), y[n : 2 * n].reshape(-1, 2)
        return q, v, yp[2 * n : 2 * n + m], yp[2 * n + m :]

    def residual(_: float, y: Any, yp: Any) -> Any:
        q, v, lam, mu = split(y, yp)
        d = ends @ q
        d[: N + 1] -= base
        W = (d[:, None, :] * ends[:, :, None]).reshape(m, n)
        kinematic = yp[:n] - v.ravel() - W.T @ mu
        balance = M @ yp[n : 2 * n] + weight - W.T @ lam
        return np.concatenate([kinematic, balance, W @ v.ravel(), 0.5 * (np.sum(d * d, axis=1) - 1.0)])

    def jacobian(_: float, y: Any, yp: Any, *__: Any) -> tuple[Any, Any]:
        q, v, lam, mu = split(y, yp)
        d = ends @ q
        d[: N + 1] -= base
        W = (d[:, None, :] * ends[:, :, None]).reshape(m, n)
        J, Jp = np.zeros((2 * n + 2 * m,) * 2), np.zeros((2 * n + 2 * m,) * 2)
        J[:n, :n], J[:n, n : 2 * n], J[n : 2 * n, :n] = -curvature(mu), -np.eye(n), -curvature(lam)
        J[2 * n : 2 * n + m, :n], J[2 * n : 2 * n + m, n : 2 * n], J[2 * n + m :, :n] = gradients(v), W, W
        Jp[:n, :n], Jp[:n, 2 * n + m :] = np.eye(n), -W.T
        Jp[n : 2 * n, n : 2 * n], Jp[n : 2 * n, 2 * n : 2 * n + m] = M, -W.T
        return J, Jp

    q0, v0 = four_bars_start(N, -1.0, 3.0)
    d = ends @ q0.reshape(-1, 2)
    d[: N + 1] -= base
    W = (d[:, None, :] * ends[:, :, None]).reshape(m, n)
    turn = np.sum((ends @ v0.reshape(-1, 2)) ** 2, axis=1)
    found = np.linalg.solve(np.block([[M, -W.T], [W, np.zeros((m, m))]]), np.concatenate([-weight, -turn]))
    y0 = np.concatenate([q0, v0, np.zeros(2 * m)])
    yp0 = np.concatenate([v0, found, np.zeros(m)])
    knobs: dict[str, Any] = {"method": "Radau", "rtol": rtol, "atol": rtol, "jac": jacobian}
    out, seconds = timed(lambda: solve_dae(residual, (0.0, 10.0), y0, yp0, **knobs))
    error = float(np.max(np.abs(out.y[:2, -1] - BARS[N])))
    return Row(f"four-bars {N}", "scipy_dae", f"rtol {rtol:g}", error, seconds)


def all_rows() -> list[Row]:
    """Every measurement."""
    rows: list[Row] = []
    for N, exact in BARS.items():
        rows += own(f"four-bars {N}", four_bars(N), (*four_bars_start(N, -1.0, 3.0), 10.0), exact)
        peers = [exudyn_four_bars(N, h) for h in (2e-3, 1e-3, 5e-4)]
        peers += [scipy_dae_four_bars(N, rtol) for rtol in (1e-4, 1e-5, 1e-6)]
        rows += [row for row in peers if row is not None]
    system, task = zoo.load("andrews-squeezer")
    rows += own("Andrews", system, (task.start, {}, 0.03), ANDREWS, task.p)
    rows += own("heavy top", heavy_top(), (START, SPEED, 1.0), (0.173343964, 0.640088592, -0.748490791))
    pendulum, task = zoo.load("pendulum")
    rows += own("pendulum", pendulum, (task.start, {}, 10.0), (-0.275087462576, -0.961419205099), task.p)
    return rows


def plot(rows: list[Row], file: str) -> None:
    """Work–precision: time over error, one panel per system."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    systems = list(dict.fromkeys(row.system for row in rows))
    figure, axes = plt.subplots(1, len(systems), figsize=(3.2 * len(systems), 3.2), squeeze=False)
    for axis, system in zip(axes[0], systems, strict=True):
        for tool in dict.fromkeys(row.tool for row in rows if row.system == system):
            points = sorted((row.error, row.seconds) for row in rows if (row.system, row.tool) == (system, tool))
            axis.loglog(*zip(*points, strict=True), "o-", label=tool)
        axis.set_title(system)
        axis.set_xlabel("error")
        axis.legend()
    axes[0][0].set_ylabel("seconds")
    figure.tight_layout()
    figure.savefig(file)


def main() -> None:
    rows = all_rows()
    print(f"{'system':14}{'tool':12}{'setting':14}{'error':>10}{'seconds':>10}{'first':>10}")
    for row in rows:
        print(f"{row.system:14}{row.tool:12}{row.setting:14}{row.error:10.1e}{row.seconds:10.3f}{row.first:10.2f}")
    if "--plot" in sys.argv[1:-1]:
        plot(rows, sys.argv[sys.argv.index("--plot") + 1])


if __name__ == "__main__":
    main()
