"""Garbage collection is held back inside blocks only, whoever switched it off or put objects aside."""

import gc
import threading
import weakref

import pytest

from onesided.base import collecting
from onesided.base.collecting import MANY, collection_held_back


class Knot:
    """Refers to itself: freed by a search for garbage alone."""

    def __init__(self):
        self.me = self


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    gc.unfreeze()
    monkeypatch.setattr(collecting._Held, "aside", False)
    yield
    gc.enable()
    gc.unfreeze()


def test_nothing_is_searched_inside_and_everything_found_later():
    with collection_held_back():
        assert not gc.isenabled()
        with collection_held_back():
            knot = weakref.ref(Knot())
        assert not gc.isenabled()
        assert knot() is not None
    assert gc.isenabled()
    gc.collect()
    assert knot() is None


def test_it_stays_off_where_it_was_off_and_ends_with_an_error():
    gc.disable()
    with collection_held_back():
        pass
    assert not gc.isenabled()
    gc.enable()
    with pytest.raises(ZeroDivisionError), collection_held_back():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_what_others_have_put_aside_stays_there():
    gc.freeze()
    aside = gc.get_freeze_count()
    with collection_held_back():
        pass
    assert 0 < gc.get_freeze_count() <= aside


def test_many_objects_count_as_old_at_once_but_where_others_have_put_some_aside():
    def young_after_a_block():
        with collection_held_back():
            made = [[i] for i in range(2 * MANY)]
        young = {id(one) for one in gc.get_objects(generation=0)}
        return sum(id(one) in young for one in made)

    gc.collect()
    assert young_after_a_block() == 0
    gc.freeze()
    aside = gc.get_freeze_count()
    young_after_a_block()
    assert 0 < gc.get_freeze_count() <= aside


def test_blocks_of_several_threads_overlap():
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with collection_held_back():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    with collection_held_back():
        thread.start()
        inside.wait()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()
