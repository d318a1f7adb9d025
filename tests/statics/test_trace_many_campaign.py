"""Ten thousand random systems of ten families side by side, each event against `trace`."""

import numpy as np
import pytest
from many_models import FAMILIES, Family

import onesided

PATHS, SEEDS = 100, 10


@pytest.fixture(scope="module", params=FAMILIES)
def family(request):
    return FAMILIES[request.param]()


def _events_of(path):
    return [
        (
            e.kind.name,
            ", ".join(e.constraints),
            e.instability_before,
            -1 if e.instability_after is None else e.instability_after,
        )
        for e in path.events
    ]


def _alone(family: Family, own, direction):
    """The path of one system, by `trace`; None where it has none."""
    method = onesided.PredictorCorrector(compile_after=0)
    try:
        return onesided.trace(
            family.system.replace(parameters=own), family.start, family.p,
            direction=direction, p_bounds=family.bounds, method=method, throw=False,
        )  # fmt: skip
    except onesided.OnesidedError:
        return None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEEDS))
def test_every_event_is_that_of_trace(family, seed):
    given, direction = family.drawn(PATHS, seed), 1 if seed % 2 else -1
    found = onesided.trace_many(
        family.system, given, family.start, family.p, direction=direction, p_bounds=family.bounds
    )
    for i in range(PATHS):
        own = {name: float(values[i]) for name, values in given.items()}
        path, rows = _alone(family, own, direction), found.of(i)
        if path is None:
            assert not found.ok[i], own
            continue
        if path.status.ok:
            assert found.status[i] is path.status, own
        else:  # `trace` gave up and says so; from where it was handed over it may come further
            rows = rows[: len(path.events)]
        columns = (found.kind, found.constraint, found.before, found.after)
        listed = zip(*(column[rows] for column in columns), strict=True)
        assert list(listed) == _events_of(path), own
        p = np.array([event.p for event in path.events])
        assert np.allclose(found.p[rows], p, rtol=1e-10, atol=1e-10 * np.max(np.abs(p), initial=0.0)), own
        q = np.array([event.q for event in path.events]).reshape(len(p), family.system.n)
        assert np.allclose(found.q[rows], q, rtol=1e-7, atol=1e-7), own
