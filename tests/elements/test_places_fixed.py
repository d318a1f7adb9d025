"""Which components are held, in every way of saying it."""

import pytest

from onesided.elements import Body, Node


@pytest.mark.parametrize(
    ("fixed", "free"),
    [(False, "xyz"), (True, ""), ("x", "yz"), ("xy", "z"), ("xyz", ""), (["x", "z"], "y"), (("y",), "xz"), ((), "xyz")],
)
def test_nodes(fixed, free):
    node = Node("a", (0, 0, 0), fixed=fixed)
    assert [slot.name for slot in node.slots if slot.free] == [f"a_{c}" for c in free]


def test_bodies():
    free = lambda fixed: [s.name[2:] for s in Body("b", (0, 0), fixed=fixed).slots if s.free]  # noqa: E731
    assert free("angle") == ["x", "y"]
    assert free("xy") == ["angle"]
    assert free(["x", "angle"]) == ["y"]
