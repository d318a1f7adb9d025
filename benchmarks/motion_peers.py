"""The systems of `motion.py` in the words of other codes; each function returns a run, or None without the code."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from onesided import System
from onesided.system.equations import Equations

Run = Callable[[], Any]
G = 9.81


def scipy_dae_run(system: System, control: float, start: tuple[Any, Any, float], rtol: float) -> Run | None:
    """Radau on the stabilised index-2 form, compiled; multipliers are derivatives of unknowns."""
    try:
        from scipy_dae.integrate import solve_dae
    except ImportError:
        return None
    equations = Equations(system, control)
    n, m = equations.n, equations.m
    zero = np.zeros(n)
    q0, v0, end = start
    equations.find_jacobian(0.0, q0, v0)

    def packed(t: float, y: Any, yp: Any) -> Any:
        rates, multipliers = yp[: 2 * n], yp[2 * n :]
        return np.concatenate([(t, equations.p), y[:n], zero, rates[:n], y[n : 2 * n], rates[n:], multipliers])

    def residual(t: float, y: Any, yp: Any) -> Any:
        return equations.balance(packed(t, y, yp))

    def jacobian(t: float, y: Any, yp: Any, *_: Any) -> tuple[Any, Any]:
        found = equations.jacobian(packed(t, y, yp))
        by_q, by_v, M, R = np.split(found, [n, 2 * n, 3 * n], axis=1)
        J, Jp = np.zeros((2, 2 * n + 2 * m, 2 * n + 2 * m))
        J[n:, :n], J[n:, n : 2 * n], J[:n, n : 2 * n] = by_q, by_v, -M[:n]
        Jp[n:, n : 2 * n], Jp[n:, 2 * n : 2 * n + m] = M, R
        Jp[:n, :n], Jp[:n, 2 * n + m :] = M[:n], -by_q[n : n + m].T
        return J, Jp

    terms = equations.terms(0.0, q0, zero, v0, np.zeros(m))
    K = np.block([[terms.M, -terms.G.T], [terms.G, np.zeros((m, m))]])
    first = np.linalg.solve(K, np.concatenate([terms.h, -terms.gamma]))
    y0, yp0 = np.concatenate([q0, v0, np.zeros(2 * m)]), np.concatenate([v0, first, np.zeros(m)])
    residual(0.0, y0, yp0)
    jacobian(0.0, y0, yp0)  # compiled before time is taken

    def run() -> Any:
        found = solve_dae(residual, (0.0, end), y0, yp0, method="Radau", rtol=rtol, atol=rtol, jac=jacobian)
        if not found.success:
            raise RuntimeError(found.message)
        return found.y[:n, -1]

    return run


class Exudyn:
    """Plane rigid bodies and revolute joints."""

    def __init__(self, tolerance: float) -> None:
        import exudyn
        import exudyn.itemInterface

        items = exudyn.itemInterface
        self.exu, self.items = exudyn, items
        container = exudyn.SystemContainer()
        self.container, self.mbs = container, container.AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround())
        self.nodes: list[Any] = []
        self.tolerance = tolerance

    def body(self, at: Any, angle: float, inertia: tuple[float, float], rates: Any = (0.0, 0.0, 0.0)) -> Any:
        """A body at its centre of mass; `inertia` is (mass, moment of inertia)."""
        node = self.mbs.AddNode(
            self.items.NodeRigidBody2D(referenceCoordinates=[*at, angle], initialVelocities=list(rates))
        )
        self.nodes.append((node, angle))
        return self.mbs.AddObject(self.items.ObjectRigidBody2D(mass=inertia[0], inertia=inertia[1], nodeNumber=node))

    def marker(self, body: Any, at: Any) -> Any:
        """A point of a body."""
        return self.mbs.AddMarker(self.items.MarkerBodyPosition(bodyNumber=body, localPosition=[*at, 0.0]))

    def weight(self, body: Any) -> None:
        """Gravity."""
        marker = self.mbs.AddMarker(self.items.MarkerBodyMass(bodyNumber=body))
        self.mbs.AddLoad(self.items.LoadMassProportional(markerNumber=marker, loadVector=[0, -G, 0]))

    def join(self, a: Any, at_a: Any, b: Any, at_b: Any) -> None:
        """A revolute joint."""
        ends = [self.marker(a, at_a), self.marker(b, at_b)]
        self.mbs.AddObject(self.items.ObjectJointRevolute2D(markerNumbers=ends))

    def solve(self, h: float, end: float, *, sparse: bool) -> None:
        """Simulate with a fixed step."""
        settings = self.exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = round(end / h), end
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.newton.relativeTolerance = self.tolerance
        settings.timeIntegration.newton.absoluteTolerance = self.tolerance
        if sparse:
            settings.linearSolver.solverType = self.exu.LinearSolverType.EigenSparse
        self.mbs.SolveDynamic(settings)

    def angles(self) -> Any:
        """Of all bodies, at the end."""
        kind = self.exu.OutputVariableType.Coordinates
        return np.array([angle + self.mbs.GetNodeOutput(node, kind)[2] for node, angle in self.nodes])


def _exudyn(tolerance: float = 1e-8) -> Exudyn | None:
    try:
        return Exudyn(tolerance)
    except ImportError:
        return None


def exudyn_four_bars(N: int, h: float) -> Run | None:
    """The hanging N-four-bar; returns the place of B0."""
    code = _exudyn()
    if code is None:
        return None
    rod = (1.0, 1.0 / 12.0)
    upright = [code.body((i, -0.5), -np.pi / 2, rod, (1.5, 0.0, 3.0)) for i in range(N + 1)]
    across = [code.body((i + 0.5, -1.0), 0.0, rod, (3.0, 0.0, 0.0)) for i in range(N)]
    for i, body in enumerate(upright):
        code.join(code.ground, (float(i), 0.0), body, (-0.5, 0.0))
    for i, body in enumerate(across):
        code.join(upright[i], (0.5, 0.0), body, (-0.5, 0.0))
        code.join(upright[i + 1], (0.5, 0.0), body, (0.5, 0.0))
    for body in (*upright, *across):
        code.weight(body)
    code.mbs.Assemble()

    def run() -> Any:
        code.solve(h, 10.0, sparse=True)
        place = code.exu.OutputVariableType.Position
        return code.mbs.GetObjectOutputBody(upright[0], place, [0.5, 0.0, 0.0])[:2]

    return run


def exudyn_andrews(h: float, th: Mapping[str, float], q: Any, moment: float) -> Run | None:
    """Andrews' squeezer of seven bodies; those that turn about fixed points have their inertia about these."""
    code = _exudyn(1e-10)
    if code is None:
        return None
    beta, theta, gamma, phi, delta, omega, eps = q
    A, B = np.array([th["xa"], th["ya"]]), np.array([th["xb"], th["yb"]])
    F = th["rr"] * _direction(beta)
    place_4 = A + th["zt"] * _direction(delta) + (th["ee"] - th["ea"]) * _direction(phi + delta - np.pi / 2)
    place_6 = A + th["u"] * _direction(eps - np.pi / 2) + (th["zf"] - th["fa"]) * _direction(omega + eps)

    def about(i: int, *arm: str) -> tuple[float, float]:
        return th[f"m{i}"], th[f"i{i}"] + th[f"m{i}"] * sum(th[name] ** 2 for name in arm)

    b1 = code.body((0.0, 0.0), beta, about(1, "ra"))
    b2 = code.body(F - th["da"] * _direction(beta + theta), beta + theta, about(2))
    b3 = code.body(B, gamma, about(3, "sa", "sb"))
    b4 = code.body(place_4, phi + delta, about(4))
    b5 = code.body(A, delta, about(5, "ta", "tb"))
    b6 = code.body(place_6, omega + eps, about(6))
    b7 = code.body(A, eps, about(7, "ua", "ub"))
    _andrews_joints(code, (b1, b2, b3, b4, b5, b6, b7), th, (A, B))
    rigid = code.mbs.AddMarker(code.items.MarkerBodyRigid(bodyNumber=b1, localPosition=[0.0, 0.0, 0.0]))
    code.mbs.AddLoad(code.items.LoadTorqueVector(markerNumber=rigid, loadVector=[0.0, 0.0, moment]))
    code.mbs.Assemble()

    def run() -> Any:
        code.solve(h, 0.03, sparse=False)
        a1, a2, a3, a4, a5, a6, a7 = code.angles()
        return np.array([a1, a2 - a1, a3, a4 - a5, a5, a6 - a7, a7])

    return run


def exudyn_top(h: float, spin: Any, arm: Any) -> Run | None:
    """The heavy top by Euler parameters and a spherical joint; returns its centre of mass."""
    code = _exudyn()
    if code is None:
        return None
    import exudyn.utilities

    inertia = exudyn.utilities.RigidBodyInertia(mass=15.0, inertiaTensor=np.diag([0.234375, 0.46875, 0.234375]))
    made = code.mbs.CreateRigidBody(
        inertia=inertia, nodeType=code.exu.NodeType.RotationEulerParameters, referencePosition=list(arm),
        initialVelocity=list(np.cross(spin, arm)), initialAngularVelocity=list(spin), gravity=[0.0, 0.0, -G],
        returnDict=True,
    )  # fmt: skip
    ends = [
        code.mbs.AddMarker(code.items.MarkerBodyPosition(bodyNumber=body, localPosition=list(at)))
        for body, at in ((code.ground, np.zeros(3)), (made["bodyNumber"], -np.asarray(arm)))
    ]
    code.mbs.AddObject(code.items.ObjectJointSpherical(markerNumbers=ends))
    code.mbs.Assemble()

    def run() -> Any:
        code.solve(h, 1.0, sparse=False)
        return code.mbs.GetNodeOutput(made["nodeNumber"], code.exu.OutputVariableType.Position)

    return run


def exudyn_pendulum(h: float, start: Any, end: float) -> Run | None:
    """A unit mass at a fixed distance from the origin; returns its place."""
    code = _exudyn()
    if code is None:
        return None
    node = code.mbs.AddNode(code.items.NodePoint2D(referenceCoordinates=list(start)))
    mass = code.mbs.AddObject(code.items.ObjectMassPoint2D(mass=1.0, nodeNumber=node))
    ends = [code.marker(code.ground, (0.0, 0.0)), code.marker(mass, (0.0, 0.0))]
    code.mbs.AddObject(code.items.ObjectConnectorDistance(markerNumbers=ends, distance=float(np.linalg.norm(start))))
    code.weight(mass)
    code.mbs.Assemble()

    def run() -> Any:
        code.solve(h, end, sparse=False)
        return code.mbs.GetNodeOutput(node, code.exu.OutputVariableType.Position)[:2]

    return run


def _direction(angle: float) -> Any:
    return np.array([np.cos(angle), np.sin(angle)])


def _andrews_joints(code: Exudyn, bodies: tuple[Any, ...], th: Mapping[str, float], fixed: tuple[Any, Any]) -> None:
    b1, b2, b3, b4, b5, b6, b7 = bodies
    (A, B), centre = fixed, (0.0, 0.0)
    for place, body in ((centre, b1), (B, b3), (A, b5), (A, b7)):
        code.join(code.ground, place, body, centre)
    tip = (th["da"] - th["d"], 0.0)  # where three links meet
    code.join(b1, (th["rr"], 0.0), b2, (th["da"], 0.0))
    code.join(b2, tip, b3, (0.0, -th["ss"]))
    code.join(b2, tip, b4, (0.0, -th["ea"]))
    code.join(b2, tip, b6, (th["fa"], 0.0))
    code.join(b5, (th["zt"], 0.0), b4, (0.0, th["ee"] - th["ea"]))
    code.join(b7, (0.0, -th["u"]), b6, (th["fa"] - th["zf"], 0.0))
    ends = [code.marker(code.ground, (th["xc"], th["yc"])), code.marker(b3, (th["sd"], -th["sc"]))]
    code.mbs.AddObject(
        code.items.ObjectConnectorSpringDamper(markerNumbers=ends, stiffness=th["c0"], referenceLength=th["l0"])
    )
