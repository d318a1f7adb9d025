"""Symmetry: groups stated and found, images of equilibria, folded diagrams, paths within a symmetry type."""

import math

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from symmetric_structures import dome, kresling, normal_form, pyramid, sway_load, symmetric_frame

import onesided
from onesided import Kind, ModelError, Symmetry, System
from onesided.base.errors import UsageError
from onesided.elements import Bar, Force, Node
from onesided.system.symmetry_names import group_name

CUP = System(("x", "y"), lambda q, p, th: (q[0] ** 2 + q[1] ** 2) ** 2 - p * (q[0] ** 2 + q[1] ** 2))


def turn(angle):
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


def dihedral(system, n):
    return Symmetry.of(system, {"turn": turn(2 * math.pi / n), "mirror": {"y": "-y"}})


def walls(n):
    """A point in a bowl that tips over, between n walls at distance one."""
    angles = 2 * np.pi * np.arange(n) / n
    gaps = {
        f"w{i}": (lambda q, p, th, a=a: 1.0 - math.cos(a) * q[0] - math.sin(a) * q[1]) for i, a in enumerate(angles)
    }
    return System(("x", "y"), lambda q, p, th: (1 - p) * (q[0] ** 2 + q[1] ** 2) / 2, unilateral=gaps)


# groups --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 4, 5, 12, 360])
def test_generators_make_the_whole_group(n):
    turns, group = Symmetry.of(CUP, {"turn": turn(2 * math.pi / n)}), dihedral(CUP, n)
    assert (turns.name, group.name) == (f"Z{n}", f"D{n}")
    assert (len(turns), len(group)) == (n, 2 * n)
    table = group.table
    every = np.arange(2 * n)
    assert np.array_equal(table[0], every) and np.array_equal(table[:, 0], every)
    assert all(np.array_equal(np.sort(row), every) for row in (*table, *table.T))


@given(st.integers(2, 9), st.floats(-3, 3), st.floats(-3, 3), st.floats(0.2, 3.0))
def test_isotropy_is_that_of_the_plane(n, x, y, stretch):
    """A point is left by the mirrors through it: by one on the n lines, by all elements in the centre."""
    group, q = dihedral(CUP, n), np.array([x, y])
    off = (math.atan2(y, x) / (math.pi / n)) % 1.0
    on_a_line = min(off, 1.0 - off) * math.hypot(x, y)
    if math.hypot(x, y) < 1e-9:
        assert group.isotropy(q).name == group.name
    elif on_a_line > 1e-2:
        assert group.isotropy(q).name == "trivial"
    line = stretch * turn(math.pi / n) @ [1.0, 0.0]
    assert group.isotropy(line).name == "Z2"
    assert len(np.unique(np.round(group.images(line), 9), axis=0)) == n


def test_a_map_that_is_no_symmetry_is_named_with_its_size():
    bowl = System(
        ("x", "y"), lambda q, p, th: (q[0] ** 2 + (1 + th.d) * q[1] ** 2) / 2 - p * q[0], parameters={"d": 0.0}
    )
    with pytest.raises(ModelError, match=r"'swap' is no symmetry.*forces differ"):
        Symmetry.of(bowl, {"flip": {"y": "-y"}, "swap": {"x": "y", "y": "x"}})
    plain = System(("x", "y"), lambda q, p, th: (q[0] ** 2 + (1 + th.d) * q[1] ** 2) / 2, parameters={"d": 0.0})
    assert len(Symmetry.of(plain, {"swap": {"x": "y", "y": "x"}})) == 2
    with pytest.raises(ModelError, match="'swap' is no symmetry"):
        Symmetry.of(plain.replace(parameters={"d": 1e-8}), {"swap": {"x": "y", "y": "x"}})


def test_a_group_is_checked_again_where_it_is_used():
    system = System(("x", "y"), lambda q, p, th: q[0] ** 4 + th.d * q[1] ** 4 - p * q @ q, parameters={"d": 1.0})
    group = Symmetry.of(system, {"swap": {"x": "y", "y": "x"}})
    group.check(system)
    with pytest.raises(ModelError, match=r"element 1 of Z2.* no symmetry"):
        onesided.trace(system.replace(parameters={"d": 1.01}), [0.0, 0.0], -1.0, p_bounds=(-1, 1), symmetry=group)


def test_gaps_without_a_counterpart_are_named():
    system = System(
        ("x", "y"),
        lambda q, p, th: q[0] ** 2 + q[1] ** 2,
        unilateral={"left": lambda q, p, th: 1 + q[0], "right": lambda q, p, th: 1.25 - q[0]},
    )
    with pytest.raises(ModelError, match="gap 'left' has no counterpart"):
        Symmetry.of(system, {"mirror": {"x": "-x"}})


def test_what_cannot_be_a_generator_is_refused():
    with pytest.raises(ModelError, match="no permutation"):
        Symmetry.of(CUP, {"both": {"x": "y"}})
    with pytest.raises(ModelError, match="coordinate"):
        Symmetry.of(CUP, {"both": {"x": "z"}})
    with pytest.raises(ModelError, match="not usable"):
        Symmetry.of(CUP, {"both": np.eye(3)})
    with pytest.raises(ModelError, match="too large"):
        Symmetry.of(CUP, {"turn": turn(1.0)})
    with pytest.raises(UsageError, match="another system"):
        onesided.trace(walls(3), [0.0, 0.0], 0.0, symmetry=dihedral(CUP, 3))
    with pytest.raises(UsageError, match="not usable"):
        onesided.trace(CUP, [0.0, 0.0], -1.0, symmetry="find")


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e5])
def test_coordinates_may_be_changed_linearly(unit):
    """The same group in skew coordinates of different units about another centre: same order, same isotropies."""
    T = np.array([[1.0, 0.5], [0.0, unit]])
    inverse, centre = np.linalg.inv(T), np.array([3.0, -2.0 * unit])
    form = normal_form(3)
    skew = System(("a", "b"), lambda q, p, th: form.energy(jnp.asarray(inverse) @ (q - centre), p, th))
    turned, mirrored = (T @ M @ inverse for M in (turn(2 * math.pi / 3), np.diag([1.0, -1.0])))
    group = Symmetry.of(skew, {"turn": turned, "mirror": mirrored}, centre=centre)
    assert group.name == "D3"
    assert group.isotropy(centre + T @ [0.4, 0.0]).name == "Z2"
    assert group.isotropy(centre + T @ [0.4, 0.1]).name == "trivial"


def _closure(*generators):
    known = [np.eye(3)]
    for M in known:
        for A in generators:
            if min(np.max(np.abs(A @ M - other)) for other in known) > 1e-6:
                known.append(A @ M)
    table = [[int(np.argmin([np.max(np.abs(A @ B - C)) for C in known])) for B in known] for A in known]
    return np.array(table), np.array(known)


def _about_z(n):
    M = np.eye(3)
    M[:2, :2] = turn(2 * math.pi / n)
    return M


CYCLE, QUARTER = np.eye(3)[[1, 2, 0]], _about_z(4)
UP, SIDE, FLIP = np.diag([1.0, 1, -1]), np.diag([1.0, -1, 1]), np.diag([1.0, -1, -1])


@pytest.mark.parametrize(
    ("name", "generators"),
    [
        ("trivial", ()),
        ("mirror", (UP,)),
        ("Ci", (-np.eye(3),)),
        ("C5", (_about_z(5),)),
        ("C2v", (_about_z(2), SIDE)),
        ("C6v", (_about_z(6), SIDE)),
        ("C3h", (_about_z(3), UP)),
        ("S4", (QUARTER @ UP,)),
        ("D2", (_about_z(2), FLIP)),
        ("D5", (_about_z(5), FLIP)),
        ("D4h", (QUARTER, FLIP, UP)),
        ("D2d", (QUARTER @ UP, FLIP)),
        ("D3d", (_about_z(3), FLIP, -np.eye(3))),
        ("T", (CYCLE, FLIP)),
        ("Th", (CYCLE, FLIP, -np.eye(3))),
        ("Td", (CYCLE, QUARTER @ UP)),
        ("O", (CYCLE, QUARTER)),
        ("Oh", (CYCLE, QUARTER, UP)),
    ],
)
def test_point_groups_have_their_names(name, generators):
    assert group_name(*_closure(*generators)) == name


# images --------------------------------------------------------------------------------------------------------------


def test_images_of_equilibria_with_contacts_are_equilibria():
    system = walls(5)
    group = dihedral(system, 5)
    x = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0])  # on wall 0, pressed by (p − 1) × distance
    for image, rows in zip(group.images(x), group.rows, strict=True):
        e = system.evaluate_packed(image)
        assert np.max(np.abs(e.L_q)) < 1e-12
        assert np.max(np.abs(e.c * image[3:])) < 1e-12 and np.min(e.c) > -1e-12
        assert image[3 + rows[0]] == pytest.approx(1.0)


def test_two_sided_constraints_go_over_into_combinations():
    """Two points joined by a joint stated in x and y; a third of a turn mixes the two equations."""
    system = System(
        ("x", "y", "u", "v"),
        lambda q, p, th: (q[0] ** 2 + q[1] ** 2) ** 2 + (q[2] ** 2 + q[3] ** 2) - p * (q[0] ** 2 + q[1] ** 2),
        bilateral={"jx": lambda q, p, th: 3 * (q[0] - q[2]), "jy": lambda q, p, th: q[1] - q[3]},
    )
    group = Symmetry.of(system, {"turn": np.kron(np.eye(2), turn(2 * math.pi / 3))})
    assert len(group) == 3
    found = onesided.solve(system, start=[0.8, 0.5, 0.8, 0.5], p=3.0).value
    for image in group.images(np.concatenate([found.q, [3.0], found.mu])):
        e = system.evaluate_packed(image)
        assert np.max(np.abs([*e.L_q, *e.c])) < 1e-9
    with pytest.raises(UsageError, match="nothing can move"):
        onesided.within(system, group)


# structures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, 4, 7, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 6, 8, 9, 10, 11, 12))])
def test_pyramids_have_the_symmetry_of_their_base(n):
    group = onesided.symmetry_of(pyramid(n))
    assert (group.name, len(group), group.basis.shape[1]) == (f"C{n}v", 2 * n, 1)
    assert group.isotropy([0.3, 0.0, 1.0]).name == "mirror"  # towards a bar


@pytest.mark.parametrize("n", [3, 6, *(pytest.param(n, marks=pytest.mark.slow) for n in (4, 5, 8))])
def test_domes_have_the_symmetry_of_their_rings(n):
    group = onesided.symmetry_of(dome(n))
    assert (group.name, group.basis.shape[1]) == (f"C{n}v", 3)  # apex down; a ring wider and lower


@pytest.mark.parametrize("n", [5, pytest.param(8, marks=pytest.mark.slow)])
def test_a_kresling_ring_has_no_mirrors(n):
    group = onesided.symmetry_of(kresling(n))
    assert (group.name, group.basis.shape[1]) == (f"C{n}", 3)


def test_a_frame_has_one_mirror_which_turns_angles_round():
    system = symmetric_frame()
    group = onesided.symmetry_of(system)
    assert group.name == "mirror"
    image = dict(zip(system.coordinates, group.turned(np.eye(system.n)[0])[1], strict=True))
    assert system.coordinates[0] == "left_0_angle" and image["right_0_angle"] == pytest.approx(-1.0)


SPACE, ORIGIN = np.eye(3), np.zeros(3)


def _tripod(place=SPACE, shift=ORIGIN, unit=1.0, weak=0.0, load=(0.0, 0.0, -1.0)):
    feet = [unit * (place @ [math.cos(a), math.sin(a), 0.0] + shift) for a in 2 * np.pi * np.arange(3) / 3]
    top = unit * (place @ [0.0, 0.0, 0.7] + shift)
    return onesided.compose(
        [Node(f"f{i}", tuple(x.tolist()), fixed=True) for i, x in enumerate(feet)],
        Node("top", tuple(top.tolist())),
        [Bar(f"b{i}", (f"f{i}", "top"), stiffness="1 + weak" if i == 0 else 1.0) for i in range(3)],
        Force("load", "top", tuple((place @ load).tolist())),
        parameters={"weak": weak},
    )


def test_members_and_loads_count_for_the_symmetry():
    system = _tripod()
    assert onesided.symmetry_of(system).name == "C3v"
    assert onesided.symmetry_of(system.replace(parameters={"weak": 1e-7})).name == "mirror"
    assert onesided.symmetry_of(_tripod(load=(0.1, 0.0, -1.0))).name == "mirror"
    assert onesided.symmetry_of(_tripod(load=(0.0, 0.1, -1.0))).name == "trivial"


@pytest.mark.parametrize(("unit", "far"), [(1e-4, 0.0), (1e3, 10.0)])
def test_place_and_unit_do_not_count(unit, far):
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    assert onesided.symmetry_of(_tripod(Q, far * np.array([1.0, -2.0, 0.5]), unit)).name == "C3v"


@pytest.mark.parametrize(
    ("name", "group", "kept"), [("tensegrity-prism", "C3", 2), ("panel-ring", "C8", 2), ("guyed-mast", "mirror", 4)]
)
def test_cables_bodies_and_contacts_of_bundled_models_are_permuted(name, group, kept):
    model = onesided.zoo.load(name)
    found = onesided.symmetry_of(model.system, p=model.task.p)
    assert found.name == group
    assert len(found.representatives) == kept


def test_a_system_of_functions_has_no_geometry():
    with pytest.raises(ModelError, match="made of parts"):
        onesided.symmetry_of(CUP)


# diagrams ------------------------------------------------------------------------------------------------------------


def _ends(paths, group=None):
    """End points (q, p) of branches, those of all images with a group, each once."""
    ends = [np.append(path.q[-1], path.p[-1]) for path in paths]
    if group is not None:
        ends = [np.append(q, end[-1]) for end in ends for q in group.images(end[:-1])]
    return {tuple(np.round(end, 5) + 0.0) for end in ends}


@pytest.mark.parametrize("n", [3, 4])
def test_a_folded_diagram_has_every_branch_as_an_image(n):
    system = normal_form(n)
    group = dihedral(system, n)
    whole = onesided.diagram(system, [0.0, 0.0], -1.0, p_bounds=(-1, 1))
    folded = onesided.diagram(system, [0.0, 0.0], -1.0, p_bounds=(-1, 1), symmetry=group)
    assert whole.complete and folded.complete and whole.multiplicity == ()
    assert [path.isotropy for path in folded.paths] == [f"D{n}", "Z2", "Z2"]
    assert folded.multiplicity == (1, n, n)
    assert sum(folded.multiplicity) == len(whole.paths)
    assert _ends(folded.paths, group) == _ends(whole.paths)
    rays = folded.events[0].rays
    assert sorted(ray.isotropy for ray in rays.rays) == sorted([f"D{n}"] * 2 + ["Z2"] * 2 * n)
    assert f"{2 * n} × Z2" in folded.events[0].words()
    assert folded.times(1) == f"× {n}"


def test_contacts_are_folded_with_their_branches():
    """A point that tips over towards one of two walls and stays there."""
    system = System(
        ("x",),
        lambda q, p, th: (1 - p) * q[0] ** 2 / 2 + q[0] ** 4 / 4,
        unilateral={"left": lambda q, p, th: 1 + q[0], "right": lambda q, p, th: 1 - q[0]},
    )
    mirror = Symmetry.of(system, {"mirror": {"x": "-x"}})
    whole = onesided.diagram(system, [0.0], 0.0, p_bounds=(0, 3))
    folded = onesided.diagram(system, [0.0], 0.0, p_bounds=(0, 3), symmetry=mirror)
    assert (len(whole.paths), folded.multiplicity) == (3, (1, 2))
    assert [path.isotropy for path in folded.paths] == ["Z2", "trivial"]
    assert _ends(folded.paths, mirror) == _ends(whole.paths)


def test_a_branch_that_is_its_own_image_is_there_once():
    """From x = 1 the branch p = x² leads through the fork at x = 0 to its own image."""
    system = System(("x",), lambda q, p, th: q[0] ** 4 / 4 - p * q[0] ** 2 / 2)
    mirror = Symmetry.of(system, {"mirror": {"x": "-x"}})
    folded = onesided.diagram(system, [1.0], 1.0, p_bounds=(-1, 1), symmetry=mirror)
    assert folded.complete and folded.multiplicity == (1, 1, 1)
    assert [path.isotropy for path in folded.paths] == ["trivial", "Z2", "Z2"]
    assert folded.paths[0].q[[0, -1], 0] == pytest.approx([1.0, -1.0])
    off_the_bound = onesided.diagram(system, [1.0], 1.0, p_bounds=(-1, 2), symmetry=mirror)
    assert off_the_bound.multiplicity[0] == 2  # it ends at −√2, its image at √2


def test_a_frame_sways_to_either_side():
    """Portal frame on hinges: kL tan kL = 6 (EI/b)/(EI/L) = 3 with P = k² EI, for stiff members and many elements."""
    system = symmetric_frame()
    folded = onesided.diagram(system, system.start, 0.0, p_bounds=(0.0, 1.6), symmetry="detect")
    assert folded.complete and folded.multiplicity == (1, 2)
    assert [path.isotropy for path in folded.paths] == ["mirror", "trivial"]
    fork = folded.events[0]
    assert sorted(ray.isotropy for ray in fork.rays.rays) == ["mirror", "mirror", "trivial", "trivial"]
    assert fork.p == pytest.approx(brentq(lambda k: k * math.tan(k) - 3, 0.1, 1.5) ** 2, rel=1e-3)


def test_a_trace_tells_the_symmetry_of_the_branches():
    group = dihedral(normal_form(3), 3)
    path = onesided.trace(normal_form(3), [0.0, 0.0], -1.0, p_bounds=(-1, 1), symmetry=group)
    fork = path.events[0]
    assert path.isotropy == "D3" and fork.rays[fork.followed].isotropy == "D3"
    side = next(i for i in fork.forward if fork.rays[i].isotropy == "Z2")
    assert group.isotropy(onesided.branch(fork, side).q).name == "Z2"


def test_multiplicities_are_kept_on_disk(tmp_path):
    system = normal_form(3)
    folded = onesided.diagram(system, [0.0, 0.0], -1.0, p_bounds=(-1, 1), symmetry=dihedral(system, 3))
    loaded = onesided.load_result(onesided.save(folded, tmp_path / "d"))
    assert loaded.multiplicity == folded.multiplicity
    assert [path.isotropy for path in loaded.paths] == [path.isotropy for path in folded.paths]
    assert loaded.events[0].rays[0].isotropy == folded.events[0].rays[0].isotropy


# fixed-point spaces --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_the_symmetric_path_of_a_pyramid_is_followed_with_one_coordinate(n):
    system = pyramid(n)
    inside = onesided.within(system, "detect")
    assert inside.system.coordinates == ("apex_z",)
    path = onesided.trace(inside.system, inside.start(system.start), 0.0, p_bounds=(-1, 4))
    whole = inside.lift(path)
    z = whole.q[:, 2]
    assert whole.p == pytest.approx(6 * z * (math.sqrt(5) / np.hypot(1, z) - 1), abs=1e-9)
    assert np.max(np.abs(whole.q[:, :2])) < 1e-14
    before_limit = np.arange(len(z)) < next(event.index for event in whole.events if event.kind is Kind.limit)
    plain = before_limit & (np.abs(whole.p - sway_load(2.0)) > 1e-6)
    assert np.array_equal(whole.instability[plain], np.where(whole.p[plain] < sway_load(2.0), 0, 2))
    assert "break the symmetry" in whole.note
    limit = next(event for event in whole.events if event.kind is Kind.limit)
    assert (limit.instability_before, limit.instability_after) == (2, 3)
    assert onesided.branch(limit, limit.followed).coordinates == system.coordinates


@pytest.mark.parametrize(("k", "coupling"), [(1.0, 0.0), (250.0, 0.3)])
def test_reactions_are_shared_among_the_images(k, coupling):
    """Equal blocks joined in a ring and pressed on the floor: λ of each is k times how far p is below it."""
    system = BLOCKS.replace(parameters={"k": k, "c": coupling})
    group = Symmetry.of(system, {"shift": {"a": "b", "b": "c", "c": "a"}})
    inside = onesided.within(system, group)
    path = onesided.trace(inside.system, inside.start([1.0, 1.0, 1.0]), 1.0, direction=-1, p_bounds=(-1, 1))
    whole = inside.lift(path)
    assert path.lam[-1] == pytest.approx([3 * k])
    assert whole.lam[-1] == pytest.approx([k, k, k])
    assert whole.events[0].constraints == ("fa", "fb", "fc") and whole.events[0].p == pytest.approx(0, abs=1e-9)
    assert np.all(whole.codes[-1] == 2) and whole.residual < 1e-9


BLOCKS = System(
    ("a", "b", "c"),
    lambda q, p, th: th.k * jnp.sum((q - p) ** 2) / 2 + th.c * jnp.sum((q - jnp.roll(q, 1)) ** 2),
    unilateral={f"f{name}": (lambda q, p, th, i=i: q[i]) for i, name in enumerate("abc")},
    parameters={"k": 1.0, "c": 1.0},
)


def test_cables_go_slack_together_within_the_symmetry():
    system, task = onesided.zoo.load("tensegrity-prism")
    inside = onesided.within(system, "detect")
    path = inside.lift(onesided.trace(inside.system, inside.start(task.start), 0.0, p_bounds=(0, 20)))
    whole = onesided.trace(system, task.start, 0.0, p_bounds=(0, 20))
    assert path.events[0].p == pytest.approx(whole.events[0].p, rel=1e-9)
    assert path.events[0].constraints == whole.events[0].constraints == ("top0", "top1", "top2")
    assert path.q[-1] == pytest.approx(whole.q[-1], abs=1e-8)
    assert path.lam[-1] == pytest.approx(whole.lam[-1], abs=1e-7)
    assert "cable 'top0' goes slack" in path.events[0].words()


def test_a_start_without_the_symmetry_is_refused():
    inside = onesided.within(BLOCKS, Symmetry.of(BLOCKS, {"swap": {"a": "b", "b": "a"}}))
    assert inside.system.coordinates == ("a", "c")
    assert inside.point([2.0, 3.0]) == pytest.approx([2.0, 2.0, 3.0])
    with pytest.raises(UsageError, match="does not have the symmetry"):
        inside.start([1.0, 2.0, 3.0])
