"""What compiled steps along a path carry: the frame of a curve, where it stands, the knobs, the points they make."""

from typing import Any, NamedTuple


class CurveFrame(NamedTuple):
    """The scaled variables of a curve: sizes of all unknowns (q, p, ν), of all equations, and the constraints.

    `closed` says which constraints are equations, `onesided` which of them are unilateral.
    """

    unit: Any
    weight: Any
    closed: Any
    onesided: Any


class Here(NamedTuple):
    """Where a curve stands: point, tangent, tangents of the `known` points before it, with their arc lengths.

    `t_m` and `s_m` are those in the middle of the last step; where that is not known, s_m is s. `margins` and `rates`
    are those of the constraints, behind n + 1 zeros; `volume` is the logarithm of a determinant, `volume_m` and
    `volume_1` that in the middle and at the start of the last step.
    """

    y: Any
    t: Any
    t_1: Any
    t_2: Any
    t_m: Any
    margins: Any
    rates: Any
    s: float
    s_1: float
    s_2: float
    s_m: float
    orientation: float
    known: float
    volume: float
    volume_m: float
    volume_1: float


class StepKnobs(NamedTuple):
    """First step, step control, tolerances, bounds of the scaled p, and the number of points wanted."""

    step: float
    turn: float
    miss: float
    max_step: float
    resolve: float
    minimum_step: float
    residual: float
    event: float
    low: float
    high: float
    wanted: int


class PathStretch(NamedTuple):
    """Points in a row: scaled unknowns, unit tangents, blocks one after the other, and `numbers`.

    The numbers of a point are its arc length, the step that led to it, the step to go on with, the orientation, the
    logarithm of a determinant, the residual, and `TURN` or `BOUND` where it was located between the two before it; then
    the arc length in the middle of the step, and the slope of the energy there, both NaN where it was not looked at.
    """

    y: Any
    t: Any
    blocks: Any
    numbers: Any


class Blocks(NamedTuple):
    """What the model says at a point: `head` holds (energy, L_x, c); the matrices have a row per unknown.

    L_xq : (n + 1, n), the transpose of L_qx;  c_x : (n + 1, m), gradients as columns.
    """

    head: Any
    L_xq: Any
    c_x: Any


class StepPlane(NamedTuple):
    """A point to start from, the plane through it across `row`, and what Newton's method may do."""

    guess: Any
    row: Any
    target: Any
    limit: Any
    reach: Any


class NewtonEnd(NamedTuple):
    """Outcome of Newton's method: the point, with the blocks and the tangent there, oriented like the row."""

    y: Any
    blocks: Blocks
    tangent: Any
    orientation: Any
    volume: Any
    first: Any
    error: Any
    iterations: Any
    converged: Any
    delta: Any


class PointAt(NamedTuple):
    """The last point, its tangent, those of two before it and in between, margins and rates, and the point before.

    One array while stepping.
    """

    y: Any
    t: Any
    t_1: Any
    t_2: Any
    t_m: Any
    margins: Any
    rates: Any
    y_1: Any


class PathWay(NamedTuple):
    """What else is known on the way: arc lengths, the next step, points and failures so far: one vector while stepping.

    While `locating` a limit point on the last step, `left` and `right` are fractions of it between which ṗ vanishes,
    with its values there, narrowed `rounds` times; for a bound, `right` is the fraction where it should be. Before,
    a point that is proposed is checked: `tried`, `s_b`, `volume_b` are the step to it, its arc length and volume,
    `next_phase` what is located afterwards, `stop` whether something seems to have happened.
    """

    s: Any
    s_1: Any
    s_2: Any
    s_m: Any
    orientation: Any
    known: Any
    volume: Any
    volume_m: Any
    volume_1: Any
    step: Any
    count: Any = 0.0
    tries: Any = 0.0
    locating: Any = 0.0
    left: Any = 0.0
    f_left: Any = 0.0
    right: Any = 0.0
    f_right: Any = 0.0
    rounds: Any = 0.0
    tried: Any = 0.0
    s_b: Any = 0.0
    volume_b: Any = 0.0
    next_phase: Any = 0.0
    stop: Any = 0.0
