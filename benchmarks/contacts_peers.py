"""The pile of rough discs in other codes. Each adapter returns None where its code is not installed."""

import importlib.util
import time
from dataclasses import dataclass

import numpy as np

G = 9.81


@dataclass(frozen=True)
class Pile:
    """Discs of unit mass between two walls at 45° above a gate; places (N, 2)."""

    start: np.ndarray
    radius: float
    friction: float

    @property
    def half(self):
        """Half of the gate's width."""
        first = int(np.sum(self.start[:, 1] < 1.1 * self.radius))
        return first * 2.02 * self.radius / 2 + 0.6 * self.radius

    @property
    def walls(self):
        """Normals and points of the walls and the gate."""
        s = np.sqrt(0.5)
        return (((s, s), (-self.half, 0.0)), ((-s, s), (self.half, 0.0)), ((0.0, 1.0), (0.0, 0.0)))

    def penetration(self, places):
        """Deepest overlap of any two discs, or of a disc and a wall, over all instants (T, N, 2)."""
        a, b = np.triu_indices(len(self.start), 1)
        pairs = min(np.linalg.norm(x[a] - x[b], axis=1).min() for x in places) - 2 * self.radius
        sides = min(float(((places - p) @ np.array(n)).min()) for n, p in self.walls) - self.radius
        return max(0.0, -min(pairs, sides))


def with_mujoco(pile, last, step):
    """Spheres in a plane, Newton's solver, elliptic cones, contacts as stiff as the step allows."""
    if importlib.util.find_spec("mujoco") is None:
        return None
    import mujoco

    model = mujoco.MjModel.from_xml_string(_mujoco_text(pile, step))
    data, places, spent, most, worst = mujoco.MjData(model), [], 0.0, 0, 0.0
    for _ in range(round(last / step)):
        begin = time.process_time()
        mujoco.mj_step(model, data)
        spent += time.process_time() - begin
        places.append(pile.start + data.qpos.reshape(-1, 3)[:, :2])
        most = max(most, data.ncon)
        if data.solver_niter[0]:
            worst = max(worst, float(data.solver.gradient[min(data.solver_niter[0], len(data.solver.gradient)) - 1]))
    steps = len(places)
    return pile.penetration(np.array(places)), f"({worst:.0e})", spent / steps, most


def _mujoco_text(pile, step):
    inertia = 0.5 * pile.radius**2
    discs = "".join(
        f'<body pos="{x} 0 {z}"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>'
        f'<joint type="hinge" axis="0 -1 0"/>'
        f'<inertial pos="0 0 0" mass="1" diaginertia="{inertia} {inertia} {inertia}"/>'
        f'<geom type="sphere" size="{pile.radius}"/></body>'
        for x, z in pile.start
    )
    walls = "".join(
        f'<geom type="plane" size="5 5 1" pos="{p[0]} 0 {p[1]}" zaxis="{n[0]} 0 {n[1]}"/>' for n, p in pile.walls
    )
    return (
        f'<mujoco><option timestep="{step}" gravity="0 0 {-G}" cone="elliptic" solver="Newton" tolerance="1e-12" '
        'iterations="200"/><size memory="200M"/>'
        f'<default><geom condim="3" friction="{pile.friction} 0 0" solref="{2 * step} 1" '
        'solimp="0.99 0.9999 0.0001"/></default>'
        f"<worldbody>{walls}{discs}</worldbody></mujoco>"
    )


def with_siconos(pile, last, step):
    """Native discs of siconos.mechanics with Moreau–Jean stepping; never run, for want of a package to install."""
    if importlib.util.find_spec("siconos") is None:
        return None
    import siconos.kernel as sk
    import siconos.numerics as sn
    from siconos.mechanics.collision.native import CircularDS, Disk, SpaceFilter

    model = sk.NonSmoothDynamicalSystem(0.0, last)
    space = SpaceFilter(3, 6)
    for x, y in pile.start:
        disk = Disk(pile.radius, 1.0, [x, y, 0.0], [0.0, 0.0, 0.0])
        disk.setFExtPtr([0.0, -G, 0.0])
        model.insertDynamicalSystem(disk)
    law = sk.NewtonImpactFrictionNSL(0.0, 0.0, pile.friction, 2)
    space.insert(law, 0, 0)
    for n, p in pile.walls:
        space.insertLine(n[0], n[1], -float(np.dot(n, p)))
    solver = sk.FrictionContact(2, sn.SICONOS_FRICTION_2D_NSGS)
    solver.numericsSolverOptions().dparam[sn.SICONOS_DPARAM_TOL] = 1e-8
    stepping = sk.TimeStepping(model, sk.TimeDiscretisation(0.0, step), sk.MoreauJeanOSI(0.5), solver)
    places, spent, most, worst = [], 0.0, 0, 0.0
    while stepping.hasNextEvent():
        begin = time.process_time()
        space.update(stepping.nextTime())
        stepping.computeOneStep()
        spent += time.process_time() - begin
        stepping.nextStep()
        discs = [model.dynamicalSystem(i) for i in range(model.getNumberOfDS())]
        places.append([d.q()[:2] for d in discs if isinstance(d, CircularDS)])
        most = max(most, solver.getSizeOutput() // 2)
        worst = max(worst, solver.numericsSolverOptions().dparam[sn.SICONOS_DPARAM_RESIDU])
    return pile.penetration(np.array(places)), f"{worst:.1e}", spent / len(places), most


def sphere_with_exudyn(ball, friction, penalty):
    """A run of a sphere (mass 1, radius, inertia, speed) that slides and rolls for 1 s, by penalty (step, k, zone).

    `zone` is the slip below which friction is proportional to it; the fastest of Exudyn's explicit methods is taken.
    """
    if importlib.util.find_spec("exudyn") is None:
        return None
    import exudyn
    import exudyn.itemInterface

    items = exudyn.itemInterface
    (radius, inertia, speed), (step, k, zone) = ball, penalty
    mbs = exudyn.SystemContainer().AddSystem()
    ground = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=mbs.AddObject(items.ObjectGround())))
    place = {"referenceCoordinates": [0, 0, radius - G / k, 0, 0, 0], "initialVelocities": [speed, 0, 0, 0, 0, 0]}
    node = mbs.AddNode(items.NodeRigidBodyRotVecLG(**place))
    mbs.AddObject(items.ObjectRigidBody(mass=1.0, inertia=[inertia] * 3 + [0, 0, 0], nodeNumber=node))
    marker = mbs.AddMarker(items.MarkerNodeRigid(nodeNumber=node))
    mbs.AddLoad(items.Force(markerNumber=marker, loadVector=[0, 0, -G]))
    contact = mbs.AddGeneralContact()
    contact.verboseMode, contact.frictionProportionalZone = 0, zone
    contact.SetFrictionPairings(friction * np.eye(1))
    contact.SetSearchTreeCellSize(numberOfCells=[1, 1, 1])
    law = {"contactStiffness": k, "contactDamping": np.sqrt(k), "frictionMaterialIndex": 0}
    contact.AddSphereWithMarker(marker, radius=radius, **law)
    corners, triangles = [[-5, -5, 0], [5, -5, 0], [5, 5, 0], [-5, 5, 0]], [[0, 1, 2], [0, 2, 3]]
    contact.AddTrianglesRigidBodyBased(rigidBodyMarkerIndex=ground, pointList=corners, triangleList=triangles, **law)
    mbs.Assemble()
    settings = exudyn.SimulationSettings()
    settings.timeIntegration.numberOfSteps, settings.timeIntegration.endTime = round(1.0 / step), 1.0
    settings.timeIntegration.verboseMode, settings.parallel.numberOfThreads = 0, 1
    settings.solution.file.write = False

    def run():
        mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.ExplicitEuler)
        kinds = exudyn.OutputVariableType.Displacement, exudyn.OutputVariableType.Velocity
        return tuple(mbs.GetNodeOutput(node, kind)[0] for kind in kinds)

    return run


PEERS = {"MuJoCo": with_mujoco, "Siconos": with_siconos}
