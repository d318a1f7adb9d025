"""Wrong arguments from Python: every public verb and method answers in words, never by an error from inside."""

import inspect
import itertools
from types import ModuleType

import numpy as np
import pytest

import onesided
from onesided.base.arguments import checked
from onesided.base.errors import ModelError, OnesidedError, UsageError

WRONG = [
    None, "text", b"x", [], [1.0, 2.0, 3.0], 1j, np.ones((2, 2)), np.array(["a"]), float("nan"), float("inf"), -1, 0,
    True, 10**400, object(), {"a": 1}, onesided.EventDriven, lambda: 0,
]  # fmt: skip
METHODS = (
    "PredictorCorrector", "FirstOrder", "EventDriven", "Moreau", "Projected", "Radau", "GeneralizedAlpha", "Baumgarte",
    "Newton", "Relaxation", "Tolerances", "Scales", "Contact", "TrustRegion", "Uno", "DirectCollocation",
    "HiddenConstraint", "GaussSeidelSweeps",
)  # fmt: skip


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    model = onesided.loads(
        "energy='k/2*(x-1)**2 + p*x'\n[coordinates]\nx=1.0\n[parameters]\nk=1.0\n[control]\nrange=[-1,1]\n"
        "[unilateral]\nstop='x'\n[motion]\ntime=[0,1]\n[mass]\nx='1'\n"
    )
    system = model.system
    path = onesided.trace(system, [1.0], 0.0, p_bounds=(-1, 1))
    folder = tmp_path_factory.mktemp("results") / "kept"
    onesided.save(path, folder)
    at = {"system": system, "q": [1.0], "p": 0.0, "tolerances": onesided.Tolerances()}
    start = {"system": system, "q0": [1.0], "method": None, "tolerances": onesided.Tolerances()}
    bounds = {"p0": 0.0, "p_bounds": (-1, 1), "symmetry": None}
    moving = {
        **start, "v0": [0.1], "t_span": (0, 0.1), "control": 0.0, "multipliers": None, "events": {}, "stop": (),
        "max_steps": 100,
    }  # fmt: skip
    return {
        "trace": start | bounds | {"direction": 1, "max_points": 5, "max_events": 2, "events": {}, "throw": True},
        "diagram": start | bounds | {"max_branches": 2, "max_depth": 2, "throw": True},
        "drive": start | {"programme": [0.0, 0.5], "max_jumps": 3, "fall": "descent", "throw": True},
        "solve": {"problem": system, "start": [1.0], "p": 0.0, "method": None},
        "simulate": moving | {"method": onesided.EventDriven(), "throw": True},
        "branch": {"event": path.events[0], "k": 0, "throw": True},
        "sensitivity": {"event": path.events[0], "system": system, "tolerances": onesided.Tolerances()},
        "event_value": {"system": system, "event": path.events[0], "parameters": {"k": 1.1}, "what": "p"},
        "follow": {"event": path.events[0], "parameter": "k", "bounds": (0.9, 1.1), "max_points": 20, "throw": True},
        "stability_map": {"system": system, "parameter": "k", "bounds": (0.9, 1.1), "samples": 2},
        "rates": at,
        "rays": at,
        "modes": at,
        "instability": {"system": system, "path": path, "hold": None, "tolerances": onesided.Tolerances()},
        "with_contacts": {"system": system, "contacts": {}},
        "with_penalty": {"system": system, "epsilon": 1.0},
        "save": {"result": path, "folder": folder},
        "load_result": {"folder": folder},
        "load": {"path": "nothing.toml"},
        "LCP": {"M": np.eye(2), "q": -np.ones(2)},
        "System": {
            "coordinates": ("x",),
            "energy": well,
            "unilateral": {},
            "bilateral": {},
            "parameters": {},
            "control": "p",
            "scales": onesided.Scales(),
            "kinetic": None,
            "mass": None,
            "force": None,
            "measures": {},
        },
        "compose": {"parameters": {}, "control": "p", "sparse": None},
        "Function": {"value": well, "gradient": None, "hessian": None},
        "rows": {"name": "a", "size": 2, "family": well},
        "read_mesh": {"path": "none.msh", "member": None},
        "read_truss": {"nodes": "none.csv", "members": None, "kind": "bar"},
        "SurfacePair": {"first": well, "second": well, "start": (0.0, 0.0)},
        "symmetry_of": {"system": system, "p": 0.0},
        "within": {"system": system, "symmetry": "detect", "p": 0.0},
        "prepared": {"system": system, "epsilon": 1.0, "q0": [1.0], "v0": [0.0], "t": 0.0, "control": 0.0},
        "Compliances": {"values": {"a": 1.0}},
        "ReducedSet": {"without": ("a",)},
        "all_solutions": {"problem": onesided.LCP(np.eye(2), -np.ones(2)), "tolerances": onesided.Tolerances()},
        "study": {
            "task": system,
            "folder": folder.parent / "study",
            "over": {"k": [1.0]},
            "sample": None,
            "workers": 0,
            "executor": None,
            "rerun": (),
            "limit": None,
            "progress": None,
            "throw": True,
        },
        "open_study": {"folder": "nothing"},
        "StudyTask": {"system": system, "verb": "solve", "arguments": {}, "keep": (), "results": False},
        "Sample": {"count": 3, "of": {"k": (0.0, 1.0)}, "seed": 0, "method": "random"},
        "Imperfections": {
            "count": 3,
            "size": 1.0,
            "shapes": None,
            "correlation": None,
            "nodes": None,
            "p": None,
            "kind": "normal",
            "seed": 0,
        },
        "imperfect": {"system": system, "shapes": None, "correlation": None, "nodes": None, "p": None},
    } | of_searches(system, path, start, moving)


def of_searches(system, path, start, moving):
    """Calls of verbs that search, join, steer and read."""
    ends = {"q0": [1.0], "p0": 0.0, "method": None, "throw": True}
    disk = onesided.SurfacePair(lambda q, s, th: [s, q[0]], lambda q, s, th: [s, s * s], start=(0.0, 0.0))
    light = {key: moving[key] for key in ("system", "q0", "v0", "t_span", "control", "multipliers", "tolerances")}
    return {
        "iter_trace": start | {"p0": 0.0, "p_bounds": (-1, 1), "direction": 1},
        "iter_simulate": light | {"method": onesided.EventDriven(), "force": None},
        "transitions": {"system": system, "p_range": (-1, 1), "max_states": 2, "fall": "descent", **ends},
        "design": {"system": system, "variables": {"k": (0.5, 2.0)}, "goal": "p at limit = 0.1", "subject_to": (),
                   "direction": 1, "p_bounds": (-1, 1), "programme": None, "max_gradients": 2, **ends},
        "trace_many": {"system": system, "parameters": {"k": [1.0, 2.0]}, "q0": [1.0], "p0": 0.0, "direction": 1,
                       "p_bounds": (-1, 1), "method": None, "at": None, "device": "cpu"},
        "steer": {"system": system, "start": ([1.0], [0.0]), "goal": ([1.5], [0.0]), "inputs": {"u": "x"},
                  "objective": None, "t_span": (0, 1), "bounds": None, "modes": None, "control": 0.0,
                  "method": onesided.DirectCollocation(intervals=2, most=2), "guess": None, "throw": True},
        "couple": {"first": system, "second": system, "joint": lambda a, b: a[0] - b[0],
                   "starts": (([1.0], [0.0]), ([1.0], [0.0])), "t_span": (0, 0.02), "step": 0.01, "inner": (1, 1),
                   "coupling": None, "throw": True},
        "members": {"system": system, "result": path},
        "read_dxf": {"path": "none.dxf", "member": None, "supports": None, "loads": None},
        "read_robot": {"path": "none.urdf", "positions": None, "leave_out": ()},
        "with_surfaces": {"system": system, "pairs": {"a": disk}},
        "surface_start": {"system": system, "pairs": {"a": disk}, "q0": [1.0]},
        "check_surfaces": {"pairs": {"a": disk}, "q": np.array([1.0]), "th": {}},
        "conformity": {"pair": disk, "q": [1.0], "s": [0.0, 0.0], "th": {}},
        "Sampled": {"function": lambda t, q, v: 0.0, "rate": 10.0},
        "HuntCrossley": {"stiffness": 1.0, "dissipation": 0.0, "exponent": 1.5},
        "KelvinVoigt": {"stiffness": 1.0, "damping": 0.0},
        "Variational": {"step": 0.1, "every": 1},
    }  # fmt: skip


def well(q, p, th):
    return (q[0] - 1.0) ** 2 + p * q[0]


def defaults(name):
    parameters = inspect.signature(getattr(onesided, name)).parameters
    return {key: entry.default for key, entry in parameters.items() if entry.default is not inspect.Parameter.empty}


VERBS = (
    "trace", "diagram", "drive", "solve", "simulate", "branch", "sensitivity", "event_value",
    "follow", "stability_map", "rates", "rays", "modes", "instability",
    "with_contacts", "with_penalty", "save", "load_result", "load", "LCP",
    "System", "compose", "Function", "rows", "read_mesh", "read_truss", "SurfacePair", "symmetry_of", "within",
    "prepared", "Compliances", "ReducedSet", "all_solutions", "study", "open_study", "StudyTask", "Sample",
    "Imperfections", "imperfect", "iter_trace", "iter_simulate", "transitions", "design", "trace_many", "steer",
    "couple", "members", "read_dxf", "read_robot", "with_surfaces", "surface_start", "check_surfaces", "conformity",
    "Sampled", "HuntCrossley", "KelvinVoigt", "Variational",
)  # fmt: skip


LONG = {"steer"}  # every call compiles


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in (*VERBS, *METHODS)]
)
def test_a_wrong_argument_is_refused_in_words_or_right_after_all(name, calls, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    given = calls[name] if name in calls else defaults(name)
    verb = getattr(onesided, name)
    assert set(given) <= set(inspect.signature(verb).parameters)
    for key in given:
        for wrong in WRONG:
            try:
                found = verb(**(given | {key: wrong}))
                _ = next(found) if name.startswith("iter_") else None
            except OnesidedError as error:
                assert len(str(error)) < 2000, (key, wrong)
            except BaseException as error:
                raise AssertionError(f"{name}({key}={wrong!r}) gave {error!r}") from error


@pytest.mark.parametrize("name", [*VERBS, *METHODS])
def test_arguments_that_do_not_exist_are_named(name):
    if name in {"LCP", "System"}:
        pytest.skip("a plain data class")
    with pytest.raises((UsageError, ModelError), match="no_such_argument"):
        getattr(onesided, name)(no_such_argument=1)


def test_numbers_of_other_libraries_are_taken_as_numbers():
    @checked
    def verb(value: float, count: int, pair: tuple[float, float] = (0.0, 1.0)) -> tuple[type, ...]:
        return type(value), type(count), type(pair), type(pair[0])

    assert verb(np.float32(2), np.int8(3), np.array([0, 1])) == (float, int, tuple, float)
    assert verb(np.array(2.0), 3, [0, 1]) == (float, int, tuple, float)


def test_a_class_in_place_of_its_instance_is_recognised(calls):
    with pytest.raises(UsageError, match=r"an instance, EventDriven\(\)"):
        onesided.simulate(**(calls["simulate"] | {"method": onesided.EventDriven}))


PLAIN = {  # data, results and names of kinds: what they are made of is checked by their own rules
    "Status", "CableStructure", "LinearComplementaritySystem", "SlacknessSystem", "LCP", "MLCP", "NCP", "Index3",
    "StabilisedIndex2", "MinimalNorm", "Symmetry", "System", "Coupled", "Diagram", "Drive", "Equilibrium", "Event",
    "Sensitivity", "DriveSensitivity", "Followed", "StabilityMap", "ManyPaths",
    "Kind", "Members", "Modes", "Motion", "MotionEvent", "Occurrence", "Path", "Ray", "Solution", "Steering", "Study",
    "Within",
    "ModelError", "ModelFileError", "OnesidedError", "SolveError", "UsageError", "Designed", "Transitions",
    "LiveServer",
}  # fmt: skip


def test_no_public_verb_or_method_is_forgotten():
    for name in (
        set(onesided.__all__) - PLAIN - {"__version__", "loads", "live"}
    ):  # `live` starts a server: see its own tests
        public = getattr(onesided, name)
        if isinstance(public, ModuleType):
            continue
        entry = public.__init__ if isinstance(public, type) else public
        assert hasattr(entry, "__wrapped__"), f"{name} is not marked @checked"
        assert name in {*VERBS, *METHODS}, f"{name} is not called with wrong arguments"


def test_iterators_that_never_end_are_refused():
    @checked
    def verb(values: tuple[float, ...], pair: tuple[float, float] = (0.0, 1.0)) -> int:
        return len(values)

    assert verb(iter(range(5))) == 5
    for wrong in ({"values": itertools.count()}, {"values": (1.0,), "pair": itertools.repeat(1.0)}):
        with pytest.raises(UsageError, match="values"):
            verb(**wrong)
    with pytest.raises(ModelError, match="iterator that ends"):
        onesided.System((f"x{i}" for i in itertools.count()), well)
    node = onesided.elements.Node("a", (0.0, 0.0))
    with pytest.raises(ModelError, match="iterator that ends"):
        onesided.compose(itertools.repeat(node))
    itself = [node]
    itself.append(itself)
    with pytest.raises(ModelError, match="neither a place"):
        onesided.compose(itself)
