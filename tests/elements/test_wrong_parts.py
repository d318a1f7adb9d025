"""Parts with a wrong argument, made in Python: an error that names the part or the argument, never one from inside."""

import inspect
from dataclasses import fields

import numpy as np
import pytest

import onesided
from onesided import elements
from onesided.base.errors import ModelError, OnesidedError
from onesided.elements import Body, Energy, Guided, Marker, Node
from onesided.elements.contract import kinds

WRONG = (
    None, "", "zz", "1 +", b"a", [], [1], [1, 2, 3, 4], {}, {"a": 1}, 1j, np.nan, np.inf, -1.0, 0, True, object(),
    np.zeros(3), np.zeros((2, 2)), lambda e: e, ("b", "b"), ("no", "where"), 10**400,
)  # fmt: skip
POINTS = {2: ((0, 0), (2, 0), (0, 2)), 3: ((0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2))}
RIGHT = {
    "ends": ("b", "c"), "between": ("b", "c"), "bodies": ("b", "c"), "pair": ("b", "c"), "radii": (0.5, 0.5),
    "point": "b", "first": ("b", "c"), "second": "d", "stiffness": 1.0, "EA": 1.0, "EI": 1.0, "GJ": 1.0,
    "modulus_area": 1.0, "formula": "b_x - c_x", "moment": 1.0, "damping": 1.0, "thrust": 1.0, "column": 1.0,
    "polygon": ("b", "c", "d"), "faces": (("b", "d", "c"), ("b", "c", "e"), ("c", "d", "e"), ("d", "b", "e")),
    "pressure": 1.0, "coordinate": "b_x", "lower": -0.5, "yield_tension": 1.0, "weight": 1.0, "pretension": 1.0,
    "radius": 1.0,
}  # fmt: skip
OWN = {
    "DistanceStop": {"lower": 0.5}, "OnCurve": {"formula": "x - 2*y"}, "SaggingCable": {"modulus_area": 1e3},
    "PlaneContact": {"radius": 0.0}, "FollowerMoment": {"moment": (0.0, 0.0, 1.0)}, "Distance": {"length": None},
    "Screw": {"pitch": 1.0}, "SegmentContact": {"thickness": 0.1},
    "InsideContact": {"radii": (3.0, 0.5)}, "Prescribed": {"value": "p"}, "PolygonContact": {},
}  # fmt: skip
HIDDEN = {
    "name",
    "control",
    "moving",
    "pieces",
    "bends",
    "bears",
    "dimension",
    "coordinates",
    "corners",
}


def surroundings(dimension):
    square = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
    more = {"outline": square, "inertia": 1.0} if dimension == 2 else {"inertia": (1.0, 1.0, 1.0)}
    bodies = [Body(name, at, mass=1.0, **more) for name, at in zip("bcde", POINTS[dimension], strict=False)]
    components = ("x", "y", "angle") if dimension == 2 else ("x", "y", "z", "rx", "ry", "rz")
    held = " + ".join(f"{body.name}_{component}**2" for body in bodies for component in components)
    return [*bodies, Energy("hold", held)]


def right(cls):
    """Arguments with which a part of this kind can be made, and the dimension of its surroundings."""
    dimension = cls.dimensions[0] if cls.__name__ != "FollowerMoment" else 3
    down = (0.0,) * (dimension - 1) + (-1.0,)
    known = RIGHT | {"at": "b", "force": down, "load": down, "acceleration": down, "normal": down, "through": down}
    known |= {"axis": (1.0, 0.0, 0.0)[:dimension], "down": down} | OWN.get(cls.__name__, {})
    own = {one.name for one in fields(cls)} - HIDDEN
    if "between" in own:
        known = {key: value for key, value in known.items() if key != "at"} | {"assemble": True}
    if "stiffness" in own:
        known = {key: value for key, value in known.items() if key not in {"modulus_area", "pretension"}}
    return {key: known[key] for key in own & known.keys()}, dimension


def composed(cls, given, dimension):
    return onesided.compose(*surroundings(dimension), cls("part", **given))


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_a_wrong_value_is_refused_in_words(kind):
    cls = kinds()[kind]
    given, dimension = right(cls)
    assert composed(cls, given, dimension).structure is not None
    for key in {one.name for one in fields(cls)} - HIDDEN:
        for value in WRONG:
            try:
                composed(cls, given | {key: value}, dimension)
            except OnesidedError as error:
                assert len(str(error)) > 10, (key, value)


@pytest.mark.parametrize("cls", [Node, Guided, Body, Marker])
def test_a_wrong_value_of_a_place_is_refused_in_words(cls):
    given = {"at": (0.0, 1.0)} | ({"on": "b"} if cls is Marker else {"along": (1.0, 0.0)} if cls is Guided else {})
    for key in ("name", *(one.name for one in fields(cls) if one.name != "name")):
        for value in WRONG:
            try:
                onesided.compose(*surroundings(2), cls(**{"name": "place"} | given | {key: value}))
            except OnesidedError as error:
                assert len(str(error)) > 10, (key, value)


@pytest.mark.parametrize("name", sorted(set(elements.__all__) - {"divided", "mirror", "repeat", "rotate", "Element"}))
def test_keys_that_do_not_exist_are_answered_with_those_that_do(name):
    cls = getattr(elements, name)
    keys = [key for key in inspect.signature(cls).parameters if key not in HIDDEN]
    with pytest.raises(ModelError, match=rf"`{name}` has no argument.*{keys[0]}.*did you mean `{keys[0]}`"):
        cls("part", **{keys[0] + "_": 1.0})
    with pytest.raises(ModelError, match=f"multiple values for argument '{keys[0]}'"):
        cls("part", 1.0, **{keys[0]: 2.0})


def test_arrays_are_taken_wherever_lists_are():
    given = {"outline": np.array([(-1.0, -1.0), (1.0, -1.0), (0.0, 1.0)]), "box": np.ones(2), "disc": np.ones(1)}
    for key, value in given.items():
        body = Body("b", np.zeros(2), **{key: value})
        listed = Body("b", (0.0, 0.0), **{key: value.tolist()})
        sketches = [onesided.compose(one, elements.Moment("m", ("b",), 1.0)).sketch for one in (body, listed)]
        assert str(sketches[0]) == str(sketches[1])


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (Node("n", (0.0, "h")), "node 'n': unknown name `h`"),
        (Body("n", (0.0, 0.0), angle="1/0"), "body 'n': "),
        (elements.Bar("rafter", ("b", "c"), law="kk*e**2"), "bar 'rafter': unknown name `kk`"),
        (elements.Force("wind", "b", ("P", 0.0)), "force 'wind': unknown name `P`"),
        (elements.Bar("rafter", ("b", "c"), stiffness=np.inf), "bar 'rafter': a quantity is not usable"),
    ],
)
def test_formulas_and_numbers_that_are_wrong_name_their_part(part, words):
    with pytest.raises(ModelError, match=words) as caught:
        onesided.compose(*surroundings(2), part)
    assert caught.value.about == part.name
