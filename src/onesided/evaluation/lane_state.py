"""The numbers of one of many paths, and what is done with them: moves, predictions, changes under conditions."""

from functools import reduce
from typing import Any, NamedTuple

import jax.numpy as jnp

from onesided.evaluation.resolution import integrals
from onesided.evaluation.step_data import Blocks

START, STEP, CENTRE, TURNS, BOUND, TOUCH, LEAVE, DONE = range(8)  # what a path is about
AT_LIMIT, OPENS, CLOSES, CORNER_OPENS, CORNER_CLOSES, AT_BOUND, POINT = range(1, 8)  # kinds of rows
ENDED, LEFT = 1, 2  # how a path is done: at a bound, or left to others


class LaneKnobs(NamedTuple):
    """Step control and tolerances, as in `StepKnobs`; compiled in. `weak`: margins below it are not clear.

    near : a start that is corrected by less is an equilibrium, stable or not.
    points : whether every point of a path is reported, not only events.
    """

    first_step: float
    max_step: float
    turn: float
    miss: float
    residual: float
    resolve: float
    event: float
    weak: float
    near: float
    points: bool = False


class LaneData(NamedTuple):
    """What a path is given: parameters, sizes of the unknowns and equations, start and bounds of the scaled p.

    With direction 0 the start is corrected, and that is all.
    """

    th: Any
    unit: Any
    weight: Any
    direction: Any
    low: Any
    high: Any


class Lane(NamedTuple):
    """Where a path is: point a with tangents there, before and in between, a proposed point b, the iterate z.

    `closed` is one for closed constraints, `chosen` for the one whose margin vanishes; `margins` and `rates` belong to
    a, those with a `b_` to b. `s_z` and `p_dot` belong to the iterate before, while ṗ = 0 is located.
    """

    y: Any
    t: Any
    t_1: Any
    t_m: Any
    b_y: Any
    b_t: Any
    z: Any
    closed: Any
    margins: Any
    rates: Any
    b_margins: Any
    b_rates: Any
    chosen: Any
    phase: Any
    s: Any
    s_1: Any
    s_m: Any
    s_b: Any
    known: Any
    volume: Any
    volume_m: Any
    volume_1: Any
    b_volume: Any
    orientation: Any
    b_orientation: Any
    sense: Any
    step: Any
    b_step: Any
    tries: Any
    iterations: Any
    first: Any
    previous: Any
    level: Any
    s_z: Any
    p_dot: Any
    rounds: Any
    parity: Any
    degree: Any
    how: Any
    points: Any
    events: Any


VECTORS = 13  # of `Lane`
AFRESH: dict[str, Any] = {"iterations": 0.0, "first": 0.0, "previous": jnp.inf}


class LaneSolved(NamedTuple):
    """What one evaluation yields at z: blocks, error, correction, unit tangent, sign and size of the determinant.

    Margins are those of the corrected point, to first order. `negative` counts negative pivots of the Hessian on the
    closed constraints, which `counted` says to be sure.
    """

    blocks: Blocks
    error: Any
    delta: Any
    distance: Any
    tangent: Any
    sign: Any
    volume: Any
    noise: Any
    margins: Any
    rates: Any
    negative: Any
    counted: Any


class LaneThen(NamedTuple):
    """What follows: pairs of a condition and a changed path, and conditions for what all phases have in common.

    examine : look at what happened on the way to b;  accept : go to b;  ahead : predict the next point;  left : give
    up;  shorter : take a shorter step, by `share`;  told : the row is reported as an event.
    """

    changes: tuple[tuple[Any, Lane], ...] = ()
    examine: Any = False
    accept: Any = False
    ahead: Any = False
    left: Any = False
    shorter: Any = False
    share: Any = 0.5
    row: Any = None
    told: Any = False


def along_step(lane: Lane) -> Any:
    """Unit vector along the step from a to b."""
    along = lane.t + lane.b_t
    return along * (1.0 / jnp.sqrt(along @ along))


def moved(lane: Lane) -> Lane:
    """At b, with a as history."""
    return lane._replace(
        y=lane.b_y,
        t=lane.b_t,
        t_1=lane.t,
        margins=lane.b_margins,
        rates=lane.b_rates,
        s=lane.s_b,
        s_1=lane.s,
        volume=lane.b_volume,
        volume_1=lane.volume,
        known=jnp.where(lane.s_b - lane.s_m > 0.1 * (lane.s_m - lane.s), 1.0, 0.0),
        rounds=0.0,
        points=lane.points + 1.0,
    )


def ahead(lane: Lane) -> Lane:
    """Predict the next point: the tangents at a, before it and in between extrapolated and integrated."""
    h, d1, d2 = lane.step, lane.s - lane.s_m, lane.s - lane.s_1
    near, late = (lane.t - lane.t_m) / d1, (lane.t_m - lane.t_1) / (lane.s_m - lane.s_1)
    _, second, third, _ = integrals(h, d1, d2)
    bent = second * near + third * (near - late) / d2
    z = lane.y + h * lane.t + jnp.where(lane.known > 0, bent, 0.0)
    return lane._replace(z=z, level=lane.t @ z, phase=1.0 * STEP, **AFRESH)


def one_of(truths: list[Any]) -> Any:
    """Whether one of them is true."""
    return reduce(jnp.logical_or, truths) if truths else jnp.asarray(False)


def merged(lane: Lane, changes: list[tuple[Any, Lane]]) -> Lane:
    """The path with what changes where a condition holds; no two hold at once for the same number."""
    made = list(lane)
    for condition, other in changes:
        for i, (old, new) in enumerate(zip(lane, other, strict=True)):
            if new is not old:
                made[i] = jnp.where(condition, new, made[i])
    return Lane(*made)
