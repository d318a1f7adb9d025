"""Errors and results travel between processes."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import onesided
from onesided.base.errors import OnesidedError, SolveError
from onesided.files.reading import loads
from onesided.formulas.formula import FormulaError


def kinds(base=OnesidedError):
    return [base, *(kind for child in base.__subclasses__() for kind in kinds(child))]


def bad_formula():
    try:
        loads("energy='x+'\ncoordinates={x=1.0}\ncontrol={range=[0,1]}\n")
    except FormulaError as e:
        return e
    raise AssertionError


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.__name__)
def test_every_kind_of_error_comes_back_whole(kind):
    error = kind.__new__(kind)
    error.args = ("what; got this",)
    error.__dict__.update(what="what", got="this", partial=np.arange(3), place="file, line 3")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert (again.args, again.got, again.place) == (error.args, error.got, error.place)


def test_errors_that_carry_more():
    for error in (bad_formula(), SolveError("did not", partial=1.0, got="x")):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__


def test_a_traced_path_travels_without_its_system():
    system, task = onesided.zoo.load("two-bar-roller")
    path = onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)
    again = pickle.loads(pickle.dumps(path))
    np.testing.assert_array_equal(again.q, path.q)
    assert [event.words() for event in again.events] == [event.words() for event in path.events]
    with pytest.raises(OnesidedError, match="cannot be branched"):
        onesided.branch(again.events[0], 0)
    assert copy.deepcopy(path.events[0]).origin is path.events[0].origin


def _fails(_):
    raise bad_formula()


def test_a_pool_gets_the_error_instead_of_waiting_for_ever():
    with multiprocessing.get_context("spawn").Pool(1) as pool, pytest.raises(FormulaError, match="x"):
        pool.map_async(_fails, [1]).get(100)
