"""Many paths of several random models, each event against `trace`."""

import jax.numpy as jnp
import numpy as np
import pytest

import onesided

PATHS = 60


def chain(heights, stops):
    """Bistable units in a row, each with or without a stop, pulled at the end."""
    n = len(heights)

    def energy(q, p, th):
        moves = jnp.diff(jnp.concatenate([jnp.zeros(1), q]))
        now, before = (jnp.sqrt(1.0 + rise**2) for rise in (th.h * heights - moves, th.h * heights))
        return th.k / 2 * jnp.sum((now - before) ** 2) + th.e / 2 * q[0] ** 2 - p * q[-1]

    def stop(i):
        return lambda q, p, th: th.w * heights[i] - q[i] + (q[i - 1] if i else 0.0)

    return onesided.System(
        coordinates=tuple(f"q{i}" for i in range(n)),
        energy=energy,
        unilateral={f"stop{i}": stop(i) for i in stops},
        parameters={"k": 1.0, "h": 0.5, "e": 0.01, "w": 1.0},
    )


def column():
    """Two hinged bars pressed together, with an imperfection and a wall to either side."""
    return onesided.System(
        coordinates=("a", "b"),
        energy=lambda q, p, th: (
            0.5 * (q[0] - th.i) ** 2 + th.k / 2 * (q[1] - q[0]) ** 2 - p * (2 - jnp.cos(q[0]) - jnp.cos(q[1]))
        ),
        unilateral={
            "left": lambda q, p, th: th.w + jnp.sin(q[0]) + jnp.sin(q[1]),
            "right": lambda q, p, th: th.w - jnp.sin(q[0]) - jnp.sin(q[1]),
        },
        parameters={"k": 1.0, "i": 0.05, "w": 0.5},
    )


MODELS = {
    "two units": (chain(np.array([1.0, 0.8]), (0, 1)), {"k": (0.5, 2), "h": (0.3, 0.7), "w": (0.2, 2.6)}, (-1, 1)),
    "three units": (chain(np.array([1.0, 0.8, 1.2]), (2,)), {"h": (0.3, 0.7), "e": (0, 0.05), "w": (0.2, 3)}, (-1, 1)),
    "column": (column(), {"k": (0.5, 2), "i": (0.01, 0.2), "w": (0.2, 1.2)}, (-1, 4)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_event_is_that_of_trace(name):
    system, ranges, bounds = MODELS[name]
    rng = np.random.default_rng(7)
    given = {key: rng.uniform(*span, PATHS) for key, span in ranges.items()}
    start = np.zeros(system.n)
    found = onesided.trace_many(system, given, start, 0.0, p_bounds=bounds)
    method = onesided.PredictorCorrector(compile_after=0)
    for i in range(PATHS):
        own = system.replace(parameters={key: float(values[i]) for key, values in given.items()})
        path = onesided.trace(own, start, 0.0, p_bounds=bounds, method=method, throw=False)
        rows = found.of(i)
        kinds = [(event.kind.name, ", ".join(event.constraints), event.instability_before) for event in path.events]
        assert [(found.kind[j], found.constraint[j], found.before[j]) for j in rows] == kinds, given
        assert np.allclose(found.p[rows], [event.p for event in path.events], rtol=1e-10, atol=1e-10)
