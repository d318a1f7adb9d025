"""Where a step is corrected: planes across the path ahead of a point, or in the middle between two."""

from typing import Any

import jax
import jax.numpy as jnp

from onesided.evaluation.resolution import integrals
from onesided.evaluation.step_data import PathWay, PointAt, StepKnobs, StepPlane

LIMIT = 5  # Newton iterations of a step


def chosen_tree(condition: Any, yes: Any, no: Any) -> Any:
    """One of two trees of arrays, entry by entry."""
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), yes, no)


def plane_in_the_middle(a: PointAt, b: PointAt, way: PathWay) -> StepPlane:
    """One evaluation in the middle of the cubic through a point and the one proposed."""
    h, along = way.s_b - way.s, a.t + b.t
    guess = (a.y + b.y) / 2 + h / 8 * (a.t - b.t)
    return StepPlane(guess, along / jnp.sqrt(along @ along), 0.0, 0, jnp.inf)


def plane_ahead(at: PointAt, way: PathWay, knobs: StepKnobs) -> StepPlane:
    """Extrapolate the tangent through the last points and the middle of the last step; integrate it over the step."""
    h, inside = way.step, (way.known >= 1) & (way.s_m < way.s)
    first, near = (at.t - at.t_1) / (way.s - way.s_1), (at.t - at.t_m) / (way.s - way.s_m)
    late, before = (at.t_m - at.t_1) / (way.s_m - way.s_1), (at.t_1 - at.t_2) / (way.s_1 - way.s_2)
    second, close = (first - before) / (way.s - way.s_2), (near - late) / (way.s - way.s_1)
    third = (close - (late - before) / (way.s_m - way.s_2)) / (way.s - way.s_2)
    rough = (jnp.where(way.known >= 1, first, 0.0), jnp.where(way.known >= 2, second, 0.0), 0.0 * at.t)
    bends = chosen_tree(inside, (near, close, jnp.where(way.known >= 2, third, 0.0)), rough)
    weights = integrals(h, way.s - jnp.where(inside, way.s_m, way.s_1), way.s - way.s_1)
    guess = at.y + h * at.t + weights[1] * bends[0] + weights[2] * bends[1] + weights[3] * bends[2]
    return StepPlane(guess, at.t, 0.01 * knobs.residual, LIMIT, knobs.miss * h)
