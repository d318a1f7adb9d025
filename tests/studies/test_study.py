"""Studies: closed forms come out, a folder goes on and grows, what is wrong is said and nothing is lost."""

import errno
import json
import os

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import onesided
from onesided.base.errors import ModelError, SolveError, UsageError
from onesided.cli.app import app
from onesided.results import studied, study_rows
from onesided.results.studied import read_statement, write_statement
from onesided.studies import run_study
from onesided.studies.fingerprint import fingerprint

TRUSS = onesided.zoo.text("von-mises")


@pytest.fixture(scope="module")
def truss():
    return onesided.loads(TRUSS).system


@pytest.fixture(scope="module")
def spring():
    """A block on a spring, pressed on a wall: x = max(p, 0), reaction k max(−p, 0), frequency √(k/m)."""
    return onesided.loads(
        "energy='k/2*(x-p)**2'\n[coordinates]\nx=1.0\n[parameters]\nk=2.0\nm=1.0\n[control]\nrange=[-1,1]\nstart=0.5\n"
        "[unilateral]\nwall='x'\n[mass]\nx='m'\n[motion]\ntime=[0,1]\n"
    ).system


def double(system):
    """A task without any mechanics, for what happens around tasks."""
    if system.parameters["k"] == 13.0:
        raise ValueError("unlucky")
    return {"double": 2.0 * system.parameters["k"]}


def snap(h):
    return 2.0 * (np.sqrt(1.0 + h**2) ** (2 / 3) - 1.0) ** 1.5


def test_a_grid_gives_the_closed_form_over_its_axes(truss, tmp_path):
    h, k = [0.4, 0.5], [0.5, 1.0, 2.0]
    task = onesided.StudyTask(truss, "trace", {"max_events": 1}, keep=["last y", "max energy"], results=True)
    study = onesided.study(task, over={"h": h, "k": k}, folder=tmp_path / "s", workers=0)
    assert study.complete and study.status.ok
    assert study.grid("limit_load") == pytest.approx(np.outer(snap(np.array(h)), k), rel=1e-9)
    data = study.to_xarray()
    assert data["limit_load"].dims == ("h", "k") and data["last y"].shape == (2, 3)
    assert float(data["limit_load"].sel(h=0.5, k=2.0)) == pytest.approx(2.0 * snap(0.5), rel=1e-9)
    frame = study.to_pandas()
    assert list(frame.index) == list(range(6)) and set(frame["instability_kind"]) == {"limit point"}
    events = study.events()
    assert events["at"] == pytest.approx(study["limit_load"]) and list(events["case"]) == list(range(6))
    assert study.result(4)["y"][-1] == study["last y"][4]
    assert "sample" not in data.dims and study.counts() == {"cases": 6, "done": 6, "failed": 0}


def test_other_verbs_keep_their_numbers(spring, tmp_path):
    solved = onesided.study(
        onesided.StudyTask(spring, "solve"), over={"p": [-0.5, 0.5], "k": [1.0, 4.0]}, folder=tmp_path / "a", workers=0
    )
    assert solved.grid("x") == pytest.approx(np.array([[0.0, 0.0], [0.5, 0.5]]))
    assert solved.grid("reaction wall") == pytest.approx(np.array([[0.5, 2.0], [0.0, 0.0]]))
    rates = onesided.study(
        onesided.StudyTask(spring, "modes"), over={"k": [1.0, 4.0], "m": [1.0, 0.25]}, folder=tmp_path / "b", workers=0
    )
    assert rates.grid("frequency 1") == pytest.approx(np.array([[1.0, 2.0], [2.0, 4.0]]))
    corner = onesided.loads(onesided.zoo.text("corner-limit")).system
    driven = onesided.study(
        onesided.StudyTask(corner, "drive", {"programme": [-1.0, 1.0]}),
        over={"k": [1.0, 3.0]}, folder=tmp_path / "c", workers=0,
    )  # fmt: skip
    assert driven["dissipated"] == pytest.approx([2.0, 6.0])  # 2 k L², see the model
    assert driven["corner_load"] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert list(driven["jumps"]) == [1.0, 1.0] and driven["first_jump"] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_nothing_is_compiled_anew_for_a_case(truss, spring):
    parts = onesided.loads(onesided.zoo.text("von-mises-truss")).system
    functions = onesided.System(("x",), lambda q, p, th: th.k * q[0] ** 2 / 2 - p * q[0], parameters={"k": 1.0})
    for system in (truss, spring, parts, functions):
        other = system.replace(parameters={"k": 7.0})
        assert other.derivatives is system.derivatives and other.parameters["k"] == 7.0


def test_a_study_goes_on_grows_and_reruns(spring, tmp_path, monkeypatch):
    calls, folder, task = [], tmp_path / "s", onesided.StudyTask(spring, double)
    result = onesided.StudyTask.result

    def counted(task, values):
        calls.append(values["k"])
        return result(task, values)

    monkeypatch.setattr(onesided.StudyTask, "result", counted)
    first = onesided.study(task, over={"k": [11.0, 12.0, 13.0]}, folder=folder, workers=0, limit=2)
    assert calls == [11.0, 12.0] and not first.complete and first.missing().tolist() == [2]
    grown = onesided.study(task, over={"k": [11.0, 12.0, 13.0, 14.0]}, folder=folder, workers=0)
    assert calls == [11.0, 12.0, 13.0, 14.0] and grown.complete
    assert grown.failed() == {2: "error: ValueError: unlucky"} and grown.cases.values(2) == {"k": 13.0}
    assert list(grown["double"][[0, 1, 3]]) == [22.0, 24.0, 28.0] and np.isnan(grown["double"][2])
    onesided.study(task, over={"k": [11.0, 12.0, 13.0, 14.0]}, folder=folder, workers=0, rerun="failed")
    assert calls[4:] == [13.0]
    opened = onesided.open_study(folder)
    assert opened.counts() == {"cases": 4, "done": 4, "failed": 1}


def test_a_study_of_which_nothing_is_done_yet_can_be_looked_at(spring, tmp_path):
    """As it lies on disk between its statement and the first rows."""
    found = onesided.study(onesided.StudyTask(spring, "solve"), over={"k": [1.0, 2.0]}, folder=tmp_path, workers=0)
    for file in (tmp_path / "rows").iterdir():
        file.unlink()
    assert found.counts() == {"cases": 2, "done": 0, "failed": 0}
    assert len(found["k"]) == len(found["case"]) == len(found.to_pandas()) == 0
    assert found.to_xarray()["k"].values.tolist() == [1.0, 2.0]
    assert found.missing().tolist() == [0, 1] and found.failed() == {}
    with pytest.raises(UsageError, match="no case is done yet"):
        found["stable"]


def test_a_folder_of_another_study_is_refused_with_what_differs(spring, truss, tmp_path):
    over, folder = {"k": [1.0, 2.0]}, tmp_path / "s"
    onesided.study(onesided.StudyTask(spring, "solve"), over=over, folder=folder, workers=0)
    for task, varied, words in (
        (onesided.StudyTask(spring, "modes"), over, r"another task \(verb: solve, now modes\)"),
        (onesided.StudyTask(truss, "solve"), over, "another model"),
        (onesided.StudyTask(spring, "solve", keep=["max x"]), over, "another task"),
        (onesided.StudyTask(spring, "solve"), {"k": [1.0, 3.0]}, "other cases"),
        (onesided.StudyTask(spring.replace(parameters={"m": 3.0}), "solve"), over, "another model"),
    ):
        with pytest.raises(UsageError, match=words):
            onesided.study(task, over=varied, folder=folder, workers=0)
    statement = read_statement(folder)
    write_statement(folder, statement | {"version": "0.0.1"})
    with pytest.raises(UsageError, match=r"another version of onesided \(0\.0\.1, now"):
        onesided.study(onesided.StudyTask(spring, "solve"), over=over, folder=folder, workers=0)
    assert onesided.open_study(folder).counts()["done"] == 2


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"over": {"kk": [1.0]}}, "did you mean 'k'"),
        ({"over": {"k": []}}, "no value of k"),
        ({"over": {"k": np.arange(10**6), "m": np.arange(10**6)}}, "too many cases"),
        ({"over": {"p": [0.0]}}, "moves p itself"),
        ({"over": {"k": ["a"]}}, "not numbers"),
        ({"over": {"k": [np.nan]}}, "not finite"),
        ({}, "nothing is varied"),
        ({"sample": {"k": [1.0], "m": [1.0, 2.0]}}, "differ in length"),
        ({"sample": "none.csv"}, "cannot be read"),
        ({"over": {"k": [1.0]}, "sample": {"k": [1.0]}}, "in the grid and in the sample"),
        ({"over": {"k": [1.0]}, "executor": 3}, "no executor"),
        ({"over": {"k": [1.0]}, "workers": -1}, "number of processes"),
        ({"over": {"k": [1.0]}, "rerun": [5]}, "no such case"),
        ({"over": {"k": [1.0]}, "rerun": "all"}, "once more"),
        ({"sample": onesided.Imperfections(3, 0.1)}, "without parts"),
    ],
)
def test_bad_input_is_answered_in_words(spring, tmp_path, asked, words):
    with pytest.raises((UsageError, ModelError), match=words):
        onesided.study(spring, folder=tmp_path / "s", **asked)


def test_names_of_columns_are_not_given_away(tmp_path):
    text = (
        "energy='note/2*status**2 + ok*status**2 - p*status'\n[coordinates]\nstatus=1.0\n"
        "[parameters]\nnote=2.0\nok=0.0\n[control]\nrange=[-1,1]\n"
    )
    with pytest.raises(UsageError, match="'ok' is a column"):
        onesided.study(onesided.loads(text).system, over={"ok": [1.0]}, folder=tmp_path / "a")
    other, over = onesided.loads(text.replace("note", "k")).system, {"k": [1.0, 2.0]}
    solved = onesided.study(onesided.StudyTask(other, "solve"), over=over, folder=tmp_path / "b", workers=0)
    assert list(solved["status"]) == ["solved", "solved"]
    assert solved["value status"] == pytest.approx([-1.0, -0.5])  # x = p/k at p = −1
    task = onesided.StudyTask(other, lambda system: {"note": 1.0})
    refused = onesided.study(task, over=over, folder=tmp_path / "c", workers=0).failed()
    assert "column of every study" in refused[0]


def test_bad_tasks_and_folders_are_answered_in_words(spring, tmp_path):
    for arguments, words in (
        (("follow",), "no such verb"),
        (("trace", {"q": 1}), "no argument 'q'"),
        (("trace", {"throw": True}), "no argument 'throw'"),
        (("trace", {}, ["largest x"]), "cannot be kept"),
        (("solve", {}, [], True), "not kept as files"),
        (("modes", {}, ["max x"]), "no series"),
    ):
        with pytest.raises(UsageError, match=words):
            onesided.StudyTask(spring, *arguments)
    (tmp_path / "mine.txt").write_text("something of the user")
    with pytest.raises(UsageError, match="holds no study"):
        onesided.study(spring, over={"k": [1.0]}, folder=tmp_path, workers=0)
    with pytest.raises(UsageError, match="holds no study"):
        onesided.open_study(tmp_path)


def test_a_full_disk_loses_nothing_and_the_study_goes_on(spring, tmp_path, monkeypatch):
    written, write = [], study_rows.append_rows

    def full(folder, rows):
        if written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(len(rows))
        write(folder, rows)

    monkeypatch.setattr(run_study, "append_rows", full)
    monkeypatch.setattr(run_study, "MOST_ROWS", 2)
    task, over = onesided.StudyTask(spring, double), {"k": [1.0, 2.0, 3.0, 4.0, 5.0]}
    with pytest.raises(UsageError, match="No space left on device"):
        onesided.study(task, over=over, folder=tmp_path / "s", workers=0)
    assert onesided.open_study(tmp_path / "s").counts()["done"] == 2
    monkeypatch.undo()
    assert onesided.study(task, over=over, folder=tmp_path / "s", workers=0).complete


@pytest.mark.parametrize("workers", [0, 1])
def test_a_result_that_cannot_be_written_stops_the_study_and_is_not_done(truss, tmp_path, workers):
    """A file stands where results of the cases from 1000 on belong: nothing can be written there."""
    task, over = onesided.StudyTask(truss, "trace", results=True), {"h": np.linspace(0.4, 0.5, 1002)}
    folder = tmp_path / "s"
    onesided.study(task, over=over, folder=folder, workers=0, limit=1)
    place = studied.result_folder(folder, 1001).parent
    place.write_text("")
    with pytest.raises(UsageError, match=r"cannot be written.*make room"):
        onesided.study(task, over=over, folder=folder, workers=workers, rerun=[2, 1001])
    found = onesided.open_study(folder)
    assert found.counts()["done"] == 2 and 1001 in found.missing() and not found.failed()
    place.unlink()
    again = onesided.study(task, over=over, folder=folder, workers=0, rerun=[1001])
    assert again.result(1001).status.ok and again.counts()["done"] == 3


def test_ctrl_c_keeps_what_is_done(spring, tmp_path):
    def stop(state):
        if state.done == 2:
            raise KeyboardInterrupt

    task, over = onesided.StudyTask(spring, double), {"k": [1.0, 2.0, 3.0]}
    monkey = pytest.MonkeyPatch()
    monkey.setattr(run_study.time, "monotonic", iter(np.arange(0.0, 1000.0)).__next__)
    with pytest.raises(SolveError, match="2 of 3 cases") as caught:
        onesided.study(task, over=over, folder=tmp_path / "s", workers=0, progress=stop)
    monkey.undo()
    assert caught.value.partial.counts()["done"] == 2


def test_a_table_that_grows_while_it_is_read_is_one_table(spring, tmp_path, monkeypatch):
    """At every look there is a case more, as while other processes write: all columns are of the same cases."""
    task = onesided.StudyTask(spring, lambda system: {"double": 2.0 * system.parameters["k"]})
    k = np.arange(1.0, 9.0)
    whole = onesided.study(task, sample=onesided.Sample(8, {"k": (1.0, 2.0)}, seed=1), folder=tmp_path / "a", workers=0)
    grid = onesided.study(task, over={"k": k}, folder=tmp_path / "b", workers=0)
    looks, real = iter(range(1, 100)), studied.read_rows

    def growing(folder, columns=None):
        return real(folder, columns).slice(0, min(next(looks), 8))

    monkeypatch.setattr(studied, "read_rows", growing)
    over = grid.to_xarray()["double"].to_numpy()
    assert np.array_equal(over[np.isfinite(over)], 2.0 * k[np.isfinite(over)])
    for name in ("double", "k"):
        column = grid.grid(name)
        assert np.array_equal(column[np.isfinite(column)], ({"double": 2.0, "k": 1.0}[name] * k)[np.isfinite(column)])
    assert len(grid.to_pandas()) <= 8
    k, double = whole.together("k", "double")
    assert np.array_equal(double, 2.0 * k)
    onesided.plots.response(whole, "double")
    onesided.plots.bands(whole, "double")
    for study in (whole, grid):
        assert onesided.plots.write(study, tmp_path / "study.svg", y="double").stat().st_size > 0
    assert "share of the cases" in onesided.plots.study_figure(whole).get_ylabel()
    assert onesided.plots.study_figure(grid).get_xlabel() == "k"
    assert whole.quantiles("double", [0.5], confidence=0.5)[0].value > 0.0


def test_two_runs_do_not_share_a_folder(spring, tmp_path):
    def inner(system):
        with pytest.raises(UsageError, match="is running"):
            onesided.study(onesided.StudyTask(spring, double), over={"k": [1.0]}, folder=tmp_path / "s", workers=0)
        return {"refused": 1.0}

    study = onesided.study(onesided.StudyTask(spring, inner), over={"k": [1.0]}, folder=tmp_path / "s", workers=0)
    assert study.failed() == {} and study["refused"][0] == 1.0


rows = st.lists(st.lists(st.tuples(st.integers(0, 30), st.floats(-1e9, 1e9)), min_size=1, max_size=3), max_size=9)


@settings(max_examples=10)
@given(rows)
def test_of_all_rows_of_a_case_the_last_counts_however_chunks_are_joined(tmp_path_factory, written):
    folder, expected = tmp_path_factory.mktemp("rows"), {}
    monkey = pytest.MonkeyPatch()
    monkey.setattr(study_rows, "MOST_PARTS", 2)
    for chunk in written:
        study_rows.append_rows(folder, [{"case": case, "ok": True, "status": "", "x": x} for case, x in chunk])
        expected |= dict(chunk)
    table = study_rows.read_rows(folder)
    assert dict(zip(table["case"].to_pylist(), table["x"].to_pylist() if expected else [], strict=True)) == expected
    assert len(study_rows.chunks(folder)) == len(written).bit_count()  # as in a binary number
    monkey.undo()


def test_parts_that_a_killed_process_left_beside_the_whole_do_not_count_twice(tmp_path, monkeypatch):
    monkeypatch.setattr(study_rows, "clear_joined", lambda folder: None)
    for case in range(20):
        study_rows.append_rows(tmp_path, [{"case": case % 18, "ok": True, "status": "", "x": float(case)}])
    assert len(list((tmp_path / "rows").iterdir())) == 21
    table = study_rows.read_rows(tmp_path)
    assert table["x"].to_pylist() == [18.0, 19.0, *map(float, range(2, 18))]
    monkeypatch.undo()
    study_rows.clear_joined(tmp_path)
    assert len(list((tmp_path / "rows").iterdir())) == 5 and study_rows.read_rows(tmp_path).equals(table)


def test_no_bit_of_a_chunk_turns_over_unnoticed(tmp_path):
    """Names, numbers, the description at the end: whatever was written is known by its digest."""
    study_rows.append_rows(tmp_path, [{"case": k, "ok": True, "status": "x", "x": 0.1 * k} for k in range(20)])
    file = study_rows.chunks(tmp_path)[0].file
    content = file.read_bytes()
    for bit in np.random.default_rng(5).choice(8 * len(content), 300, replace=False):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << (bit % 8)
        file.write_bytes(changed)
        with pytest.raises(UsageError, match="is damaged"):
            study_rows.read_rows(tmp_path, ["case"])
    file.write_bytes(content)
    assert len(study_rows.read_rows(tmp_path)) == 20


def test_damaged_chunks_are_named(spring, tmp_path):
    onesided.study(onesided.StudyTask(spring, double), over={"k": [1.0]}, folder=tmp_path, workers=0)
    (chunk,) = (tmp_path / "rows").iterdir()
    chunk.write_bytes(b"rubbish")
    with pytest.raises(UsageError, match="is damaged"):
        onesided.open_study(tmp_path).to_dict()
    chunk.unlink()
    chunk.mkdir()
    with pytest.raises(UsageError, match="is damaged"):
        onesided.open_study(tmp_path).to_dict()


def test_models_are_recognised_by_what_they_say_not_by_their_words(truss):
    other = fingerprint(truss)
    assert fingerprint(onesided.loads(TRUSS.replace('title = "', 'title = "My ')).system) == other
    assert fingerprint(onesided.loads(TRUSS.replace("k*(", "2*k*(")).system) != other
    made = [onesided.System(("x",), lambda q, p, th, c=c: c * q[0] ** 2 / 2 - p * q[0]) for c in (1.0, 1.0, 2.0)]
    assert fingerprint(made[0]) == fingerprint(made[1]) != fingerprint(made[2])


STIFFNESS = 2.0


def stretched(q, p, th):
    return halved(q[0]) - p * q[0]


def halved(x):
    return STIFFNESS * x**2 / 2 if x is not None else halved(x)


class Well:
    """An energy with a number of its own."""

    def __init__(self, depth):
        self.depth = depth

    def __call__(self, q, p, th):
        return self.depth * q[0] ** 2

    def energy(self, q, p, th):
        return self.depth * q[0] ** 2 - p * q[0]


@pytest.mark.parametrize("wrap", [lambda well: well, lambda well: well.energy, lambda well: jax.jit(well.energy)])
def test_functions_of_any_kind_are_known_by_what_they_hold(wrap):
    one, same, other = (fingerprint(wrap(Well(depth))) for depth in (1.0, 1.0, 2.0))
    assert one == same != other


def test_a_model_that_uses_numbers_of_its_script_is_known_by_them(monkeypatch):
    system = onesided.System(("x",), stretched)
    before = fingerprint(system)
    assert fingerprint(onesided.System(("x",), stretched)) == before
    monkeypatch.setitem(globals(), "STIFFNESS", 3.0)
    assert fingerprint(system) != before


FILE = TRUSS + '[study]\nkeep = ["max y"]\nover.k = [1, 2]\nover.h = {from = 0.4, to = 0.5, count = 2}\n'


def test_a_file_states_its_study_for_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "truss.toml").write_text(FILE)
    run = CliRunner().invoke(app, ["study", "truss.toml", "--workers", "0", "--json"])
    assert run.exit_code == 0, run.output
    last = json.loads(run.output.splitlines()[-1])
    assert last["kind"] == "study" and last["done"] == 4 and last["failures"] == {}
    told = CliRunner().invoke(app, ["study", "truss.toml", "--status", "--table", "cases.csv"])
    assert "4 of 4 cases, 0 failed; complete" in told.output and (tmp_path / "cases.csv").exists()
    again = onesided.study(onesided.load("truss.toml"), folder=last["folder"], workers=0)
    assert again.grid("limit_load")[:, 0] == pytest.approx(snap(0.4) * np.array([1.0, 2.0]))
    drawn = FILE.replace("over.h", "sample.file = 'cases2.csv'\n#")
    (tmp_path / "drawn.toml").write_text(drawn)
    (tmp_path / "cases2.csv").write_text("h, b\n0.4, 1\n0.5, 1\n0.6, 1\n")
    run = CliRunner().invoke(app, ["study", "drawn.toml", "--workers", "0", "--limit", "2"])
    assert "2 of 6 cases, 0 failed; not complete" in run.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[study]\nverb='follow'\nover.k=[1]\n", "verb"),
        ("[study]\ntask='trace'\nover.k=[1]\n", "expected verb, over, sample"),
        ("[study]\n", "nothing is varied"),
        ("[study]\nover.k=[]\n", "over"),
        ("[study.sample]\ncount=3\n", "count"),
        ("[study.sample]\nfile='../secret.csv'\n", "beside the model file"),
        ("[study]\nover.kk=[1]\n", "did you mean"),
    ],
)
def test_wrong_tables_are_refused_before_anything_is_written(tmp_path, monkeypatch, text, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "truss.toml").write_text(TRUSS + text)
    run = CliRunner().invoke(app, ["study", "truss.toml", "--workers", "0"])
    assert run.exit_code == 2 and words in run.output and not (tmp_path / "onesided-results").exists()


def test_side_by_side_gives_the_table_of_one_by_one(truss, tmp_path):
    over = {"h": [0.45, 0.5], "k": [0.5, 1.0, 2.0]}
    one = onesided.study(truss, over=over, folder=tmp_path / "one", workers=0)
    many = onesided.study(truss, over=over, folder=tmp_path / "many", engine="batch")
    assert "6 cases side by side" in repr(many) and many.complete and not one.done_by
    left_out = {"points", "max l0", "min l0"}
    assert set(one) - set(many) == left_out
    for name in set(many) - {
        "seconds",
        "note",
        "event_kinds",
        "event_at",
        "event_names",
        "event_before",
        "event_after",
    }:
        if one[name].dtype == object:
            assert one[name].tolist() == many[name].tolist()
        else:
            assert many[name] == pytest.approx(one[name], rel=1e-10, abs=1e-12, nan_ok=True), name
    ours, theirs = many.events(), one.events()
    assert all(ours[name].tolist() == theirs[name].tolist() for name in ("case", "kind", "name", "before", "after"))
    assert ours["at"] == pytest.approx(theirs["at"], rel=1e-10)


def test_what_cannot_be_done_side_by_side_is_refused_or_done_alone(truss, tmp_path):
    asked = [
        ({"task": onesided.StudyTask(truss, "drive", {"programme": [0.0, 0.1]}), "engine": "batch"}, "drive"),
        ({"task": onesided.StudyTask(truss, keep=["max y"]), "engine": "batch"}, "max y"),
        ({"task": onesided.StudyTask(truss, "trace", {"max_events": 1}), "engine": "batch"}, "max_events"),
        ({"task": truss, "engine": "abacus"}, "abacus"),
        ({"task": truss, "engine": "batch", "workers": 2}, "workers"),
    ]
    for arguments, words in asked:
        with pytest.raises(UsageError, match=words):
            onesided.study(**arguments, over={"k": [1.0]}, folder=tmp_path / "s")
    assert not (tmp_path / "s").exists()
    task = onesided.StudyTask(truss, "trace", {"p_bounds": (-1.0, -0.5)})  # the start is outside
    found = onesided.study(task, over={"k": [1.0, 2.0]}, folder=tmp_path / "s", engine="batch")
    assert found.counts()["failed"] == 2 and "outside the bounds" in found.failed()[0]
    assert "2 one by one" in found.done_by


@pytest.mark.parametrize("count", ["1e12", "2.5", "0", "inf", "nan"])
def test_counts_on_the_command_line_are_whole_and_bearable(count, tmp_path):
    ran = CliRunner().invoke(app, ["study", "von-mises", "--over", f"k=1:2:{count}", "-o", str(tmp_path / "s")])
    assert ran.exit_code == 2 and "count" in ran.output and not (tmp_path / "s").exists()
