"""Results on disk: nothing of the user's is lost, damage is named, earlier formats are read."""

import errno
import json
import math
import os
import pickle
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path as FilePath
from threading import Thread

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onesided
from onesided import report, zoo
from onesided.base import atomic
from onesided.base.atomic import ENDING, whole_file, whole_folder
from onesided.base.errors import OnesidedError, UsageError
from onesided.results import check_folder, save
from onesided.results.folder import TYPES, _number, as_json

HERE = FilePath(__file__).parent
OLD, KEPT = HERE / "format-1", HERE / "format-2"  # for good: what was once written is read
OLD_KINDS = sorted(folder.name for folder in OLD.iterdir())
KINDS = sorted(folder.name for folder in KEPT.iterdir() if folder.name != "study")


@pytest.fixture(scope="module")
def path():
    system, task = zoo.load("corner-limit")
    return onesided.trace(system, task.start, task.p, p_bounds=task.p_bounds)


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """One folder of each kind in the present format."""
    parent = tmp_path_factory.mktemp("new")
    for kind in KINDS:
        save(onesided.load_result(KEPT / kind), parent / kind)
    return parent


def files_of(folder):
    return sorted(file for file in folder.rglob("*") if file.is_file())


def same(a, b):
    """Whether two results hold the same, to the last bit."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, Mapping):
        return [*a] == [*b] and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if is_dataclass(a) and not isinstance(a, type):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a) if f.compare)
    return a == b or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize(
    ("number", "place"), [*((1, OLD / kind) for kind in OLD_KINDS), *((2, KEPT / kind) for kind in KINDS)], ids=str
)
def test_results_of_all_formats_are_read_and_written_anew(number, place, tmp_path):
    first = onesided.load_result(place)
    again = onesided.load_result(save(first, tmp_path / "r"))
    assert json.loads((place / "result.json").read_text())["format"] == number
    assert repr(first) == repr(again)
    assert same(first, again)


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_all_kinds_are_pickled(kind):
    first = onesided.load_result(KEPT / kind)
    again = pickle.loads(pickle.dumps(first))
    assert repr(first) == repr(again)
    assert same(first, again)


def test_every_kind_of_result_is_kept_for_good():
    kept = {json.loads((KEPT / kind / "result.json").read_text())["type"] for kind in KINDS}
    assert kept == set(TYPES)


def test_numbers_of_kept_results():
    """Truths about the toggle (hypot(1, y) − hypot(1, h))²/2 + p y, k = 1, h = 1/2, that the kept folders are of."""
    limit = ((math.hypot(1.0, 0.5) ** (2 / 3)) - 1.0) ** 1.5
    assert onesided.load_result(KEPT / "path").events[0].p == pytest.approx(limit, rel=1e-9)
    assert onesided.load_result(KEPT / "drive").jumps[0].p == pytest.approx(limit, rel=1e-9)
    assert onesided.load_result(KEPT / "sensitivity")["k"] == pytest.approx(limit, rel=1e-9)
    assert [event.kind.name for event in onesided.load_result(KEPT / "path-of-parts").events] == ["kink", "bound"]
    table = onesided.open_study(KEPT / "study")
    assert len(table) == 4


def test_a_damaged_study_is_told(tmp_path):
    chance = random.Random("study")
    for i in range(40):
        copy = tmp_path / f"{i}"
        shutil.copytree(KEPT / "study", copy)
        file = chance.choice([f for f in files_of(copy) if f.name != "running" and f.suffix != ".toml"])
        content = bytearray(file.read_bytes())
        for _ in range(chance.choice([1, 30])):
            content[chance.randrange(len(content))] = chance.randrange(256)
        file.write_bytes(content[: chance.choice([len(content), chance.randrange(len(content))])])
        try:
            _ = len(onesided.open_study(copy)["case"])
        except OnesidedError as e:
            assert str(copy) in str(e)


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_is_damaged_is_named_and_never_read_as_if_it_were_whole(kind, new, tmp_path):
    chance = random.Random(kind)
    before = repr(onesided.load_result(new / kind))
    for i in range(30):
        copy = tmp_path / f"{i}"
        shutil.copytree(new / kind, copy)
        file = chance.choice([f for f in files_of(copy) if f.suffix != ".csv"])
        content = bytearray(file.read_bytes())
        way = chance.choice(["flip", "cut", "empty", "gone", "words"])
        if way == "flip":
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        content = {"cut": content[: chance.randrange(len(content))], "empty": b"", "words": b"hello"}.get(way, content)
        file.write_bytes(content)
        if way == "gone":
            file.unlink()
        with pytest.raises(UsageError, match=r"is damaged|holds no result") as caught:
            onesided.load_result(copy)
        assert str(copy) in str(caught.value), way
    assert repr(onesided.load_result(new / kind)) == before


@pytest.mark.parametrize("kind", OLD_KINDS)
def test_damage_of_old_folders_is_an_error_of_ours_or_harmless(kind, tmp_path):
    """Format 1 has no digests: what cannot be read is told, without a traceback from inside."""
    chance = random.Random(kind)
    for i in range(40):
        copy = tmp_path / f"{i}"
        shutil.copytree(OLD / kind, copy)
        file = chance.choice([f for f in files_of(copy) if f.name in {"result.json", "arrays.npz"}])
        content = bytearray(file.read_bytes())
        for _ in range(chance.choice([1, 30])):
            content[chance.randrange(len(content))] = chance.randrange(256)
        file.write_bytes(content[: chance.choice([len(content), chance.randrange(len(content))])])
        try:
            onesided.load_result(copy)
        except OnesidedError as e:
            assert str(copy) in str(e)


@pytest.mark.parametrize(
    "record", ["[]", "3", "{}", '{"format": 1}', "[" * 100_000, '{"format": true, "type": "path"}']
)
def test_records_that_are_none(record, tmp_path):
    (tmp_path / "result.json").write_text(record)
    with pytest.raises(UsageError, match=r"result\.json"):
        onesided.load_result(tmp_path)


@pytest.mark.parametrize("indent", [None, 1, 3])
def test_a_record_may_be_laid_out_anew_but_says_what_was_written(indent, path, tmp_path):
    folder = tmp_path / "path"
    save(path, folder)
    record = json.loads((folder / "result.json").read_text())
    for moved in (record, {"digest": record["digest"], **record}):  # where the digest stands does not matter
        (folder / "result.json").write_text(json.dumps(moved, indent=indent))
        assert same(onesided.load_result(folder).q, path.q)
        (folder / "result.json").write_text(json.dumps({**moved, "note": "another"}, indent=indent))
        with pytest.raises(UsageError, match="its text is not what was written"):
            onesided.load_result(folder)


@pytest.mark.parametrize(("change", "words"), [({"format": 99}, "newer"), ({"type": "novel"}, "novel")])
def test_newer_formats_and_unknown_types_are_refused(change, words, tmp_path):
    shutil.copytree(OLD / "path", tmp_path / "r")
    record = json.loads((tmp_path / "r" / "result.json").read_text())
    (tmp_path / "r" / "result.json").write_text(json.dumps({**record, **change}))
    with pytest.raises(UsageError, match=words):
        onesided.load_result(tmp_path / "r")


def test_arrays_that_would_fill_the_memory_are_not_read(tmp_path):
    shutil.copytree(OLD / "path", tmp_path / "r")
    with np.load(OLD / "path" / "arrays.npz") as stored:
        arrays = dict(stored)
    arrays["q"] = np.zeros((60_000_000, 1))
    np.savez_compressed(tmp_path / "r" / "arrays.npz", **arrays)
    with pytest.raises(UsageError, match="bytes in a file of"):
        onesided.load_result(tmp_path / "r")


def test_a_damaged_branch_leaves_the_others(new, tmp_path):
    shutil.copytree(new / "diagram", tmp_path / "d")
    (tmp_path / "d" / "path-001" / "arrays.npz").write_bytes(b"")
    with pytest.raises(UsageError, match=r"path-001.*can be loaded by themselves"):
        onesided.load_result(tmp_path / "d")
    assert len(onesided.load_result(tmp_path / "d" / "path-000")) > 1


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists, max_leaves=20))
def test_json_is_valid_and_comes_back(value):
    def strict(text):
        raise AssertionError(f"{text} is no JSON")

    json.loads(as_json(value), parse_constant=strict)
    again = json.loads(as_json(value), object_hook=_number)
    assert repr(again) == repr(value)


# What stays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("old", ["1", "2"])
def test_only_what_belongs_to_a_result_is_replaced(old, path, tmp_path):
    target = tmp_path / "r"
    if old == "1":
        shutil.copytree(OLD / "diagram", target)
    else:
        save(onesided.load_result(OLD / "diagram"), target, extra={"model.toml": "old"})
    (target / "thesis.tex").write_text("years of work")
    (target / "figures").mkdir()
    (target / "figures" / "one.svg").write_text("<svg/>")
    save(path, target)
    assert len(onesided.load_result(target)) == len(path)
    assert (target / "thesis.tex").read_text() == "years of work"
    assert (target / "figures" / "one.svg").read_text() == "<svg/>"
    found = sorted(entry.name for entry in target.iterdir())
    assert found == ["arrays.npz", "events.csv", "figures", "path.csv", "result.json", "thesis.tex"]


@pytest.mark.parametrize("content", ["{}", "", '{"format": 1, "type": "something"}', '{"name": "of another program"}'])
def test_a_folder_of_another_program_is_refused(content, path, tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "result.json").write_text(content)
    with pytest.raises(UsageError, match="holds no result"):
        save(path, tmp_path / "theirs")
    assert (tmp_path / "theirs" / "result.json").read_text() == content


def test_a_file_of_the_users_with_a_name_of_ours_is_not_overwritten(path, tmp_path):
    save(path, tmp_path / "r")
    (tmp_path / "r" / "report.html").write_text("mine")
    with pytest.raises(UsageError, match="the result is in") as caught:
        save(path, tmp_path / "r", extra={"report.html": "<p>"})
    assert (tmp_path / "r" / "report.html").read_text() == "mine"
    rescued = FilePath(caught.value.advice.split("'")[1])
    assert len(onesided.load_result(rescued)) == len(path)
    shutil.rmtree(rescued.parent)


def test_a_page_that_was_made_later_belongs_to_the_result(path, tmp_path):
    report.write(path, save(path, tmp_path / "r") / "report.html")
    save(path, tmp_path / "r", extra={"report.html": "<p>"})
    assert (tmp_path / "r" / "report.html").read_text() == "<p>"


def test_targets_that_cannot_be_written_are_refused_before_the_work(tmp_path, monkeypatch):
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="link to nothing"):
        check_folder(tmp_path / "dangling")
    monkeypatch.chdir(tmp_path)
    for name in (".", "", "..", str(tmp_path)):
        with pytest.raises(UsageError, match="the folder you are in"):
            check_folder(name)
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="holds no result"):
        check_folder("file")
    with pytest.raises(UsageError, match="cannot be written"):
        check_folder("file/below")
    monkeypatch.setattr(atomic.os, "fsync", _full)
    with pytest.raises(UsageError, match="cannot be written; got No space left"):
        check_folder("new")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["dangling", "file"]


def _full(_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_disk_that_fills_up_loses_no_result(path, tmp_path, monkeypatch):
    plain = atomic._to_disk
    monkeypatch.setattr(
        atomic, "_to_disk", lambda file: _full(0) if "r" in file.parts and tmp_path in file.parents else plain(file)
    )
    with pytest.raises(UsageError, match="could not be written; got No space left") as caught:
        save(path, tmp_path / "r")
    rescued = FilePath(caught.value.advice.split("'")[1])
    assert len(onesided.load_result(rescued)) == len(path)
    assert list(tmp_path.iterdir()) == []
    shutil.rmtree(rescued.parent)


def test_links_to_folders_stay_links(path, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save(path, tmp_path / "link")
    save(path, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert len(onesided.load_result(tmp_path / "real")) == len(path)


# Whole or not at all --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_is_never_missing_while_it_is_replaced(exchange, tmp_path, monkeypatch):
    if not exchange:
        monkeypatch.setattr(atomic, "_exchanged", lambda *_: False)
    target = tmp_path / "r"

    def write(n):
        with whole_folder(target, lambda folder: ["number"]) as draft:
            (draft / "number").write_text(str(n))

    write(-1)
    writers = [Thread(target=lambda k=k: [write(100 * k + i) for i in range(25)]) for k in range(2)]
    seen = []
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        try:
            seen.append(int((target / "number").read_text()))
        except FileNotFoundError:
            seen.append(None)
    assert int((target / "number").read_text()) in {24, 124}
    assert [entry.name for entry in tmp_path.iterdir()] == ["r"]
    if exchange and atomic._exchanged(*_two(tmp_path)):
        assert None not in seen


def _two(folder):
    for name in ("a", "b"):
        (folder / name).mkdir()
    return folder / "a", folder / "b"


def test_what_a_killed_process_left_is_removed_or_put_back(tmp_path):
    code = (
        "import os, sys, pathlib\n"
        "from onesided.base import atomic\n"
        "target = pathlib.Path(sys.argv[1]) / 'r'\n"
        "target.mkdir(); (target / 'old').write_text('old')\n"
        "atomic._exchanged = lambda *_: False\n"
        "rename, calls = os.rename, []\n"
        "def dying(a, b):\n"
        "    calls.append(a)\n"
        "    os.kill(os.getpid(), 9) if len(calls) == 2 else rename(a, b)\n"
        "atomic.os.rename = dying\n"
        "with atomic.whole_folder(target, lambda folder: ['old']) as draft:\n"
        "    (draft / 'new').write_text('new')\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    left = [entry.name for entry in tmp_path.iterdir()]
    assert len(left) == 1
    assert left[0].endswith(ENDING)
    with whole_file(tmp_path / "next.txt") as draft:
        draft.write_text("x")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["next.txt", "r"]
    assert (tmp_path / "r" / "old").read_text() == "old"


def test_what_cannot_be_written_is_called_by_its_own_name(tmp_path):
    """A full disk names no file, a draft is nobody's business; other files keep their names."""
    target, other = tmp_path / "picture.svg", tmp_path / "other"
    for wrong in (lambda draft: OSError(28, "full"), lambda draft: OSError(28, "full", str(draft))):
        with pytest.raises(OSError, match=r"full.*picture\.svg'$") as caught, whole_file(target) as draft:
            raise wrong(draft)
        assert caught.value.filename == str(target)
    with pytest.raises(FileNotFoundError) as caught, whole_file(target):
        other.read_text()
    assert caught.value.filename == str(other)
    assert list(tmp_path.iterdir()) == []


def test_modes_follow_the_umask(path, tmp_path):
    before = os.umask(0o027)
    try:
        save(path, tmp_path / "r")
        with whole_file(tmp_path / "f") as draft:
            draft.write_text("x")
    finally:
        os.umask(before)
    assert (tmp_path / "r").stat().st_mode & 0o777 == 0o750
    assert {file.stat().st_mode & 0o777 for file in (*files_of(tmp_path / "r"), tmp_path / "f")} == {0o640}


def test_not_a_number_is_kept():
    assert math.isnan(json.loads(as_json([math.nan]), object_hook=_number)[0])
