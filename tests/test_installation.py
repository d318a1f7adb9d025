"""Caches, forks and what an installation says of itself."""

import os
import stat
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import onesided
from onesided.base import caches
from onesided.cli.app import app
from onesided.dynamics.choose import method_for


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return caches.compiled_code()


def entry(folder, name, data, age=0.0):
    path = folder / f"{name}-cache"
    path.write_bytes(data)
    if age:
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    return path


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
        timeout=120,
    )


def test_the_cache_is_private_and_an_open_one_is_closed(cache):
    cache.chmod(0o755)
    assert caches.compiled_code() == cache
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_damaged_entries_are_removed_whole_ones_stay(cache):
    packed = zlib.compress(os.urandom(5000))
    whole = entry(cache, "whole", packed)
    damaged = [
        entry(cache, "empty", b""),
        entry(cache, "cut", packed[:-3]),
        entry(cache, "rotten", packed[:2000] + b"\0\0\0\0" + packed[2004:]),
    ]
    caches.compiled_code()
    assert whole.exists()
    assert not any(path.exists() for path in damaged)


def test_what_is_decided_alone_is_logged(cache, caplog):
    caplog.set_level("INFO", "onesided")
    entry(cache, "cut", b"")
    caches.compiled_code()
    ball = onesided.System(("z",), lambda q, p, th: q[0], {"floor": lambda q, p, th: q[0]})
    method_for(ball, (0.0, 1.0))
    removed, chosen = (record.getMessage() for record in caplog.records)
    assert "cut-cache" in removed
    assert "event-driven" in chosen


def test_an_entry_that_is_damaged_later_is_found_too(cache):
    path = entry(cache, "late", zlib.compress(b"x" * 1000))
    caches.compiled_code()
    path.write_bytes(path.read_bytes()[:10])
    caches.compiled_code()
    assert not path.exists()


def test_the_cache_is_bounded_and_the_oldest_go(cache, monkeypatch):
    packed = zlib.compress(os.urandom(1000))
    monkeypatch.setattr(caches, "BOUND", 10 * len(packed))
    names = [entry(cache, f"e{i}", packed) for i in range(20)]
    monkeypatch.setattr(caches, "entries", lambda folder: iter(
        caches.CacheEntry(path, len(packed), float(i)) for i, path in enumerate(names)))  # fmt: skip
    caches.compiled_code()
    assert [path.exists() for path in names] == [False] * 12 + [True] * 8


@pytest.mark.parametrize("place", ["/proc/none", "/dev/null"])
def test_without_a_place_to_write_there_is_no_cache_and_no_complaint(place):
    code = (
        "import onesided; m = onesided.loads(\"energy='x**2'\\n[coordinates]\\nx=1.0\\n[control]\\nrange=[0,1]\")\n"
        "print(onesided.solve(m.system, start=m.task.start, p=0.0).status.name)"
    )
    done = run(code, XDG_CACHE_HOME=place)
    assert (done.stdout, done.stderr, done.returncode) == ("solved\n", "", 0)


def test_kernels_compile_where_nothing_can_be_kept():
    code = (
        "import numba.core.caching as c; c.CacheImpl._locator_classes = []\n"
        "import numpy as np; from onesided.complementarity import LCP, GaussSeidel, solve\n"
        "print(solve(LCP(np.eye(2), -np.ones(2)), GaussSeidel()).status.name)"
    )
    done = run(code, NUMBA_OPT="0")  # quickly: the machine code is not looked at
    assert (done.stdout, done.returncode) == ("solved\n", 0), done.stderr


FORK = """
import multiprocessing, sys, warnings
warnings.simplefilter("ignore")
import onesided
model = onesided.loads("energy='x**2'\\n[coordinates]\\nx=1.0\\n[control]\\nrange=[0,1]")
def work(_):
    return onesided.solve(model.system, start=model.task.start, p=0.0).status.name
if sys.argv[1] != "before":
    work(0)
if sys.argv[1] == "after":  # a loop is compiled by JAX, which starts threads
    import jax, numpy
    from onesided.evaluation.compiling import compiled
    compiled(lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y + x, x))(numpy.ones(2))
with multiprocessing.get_context("fork").Pool(1) as pool:
    try:
        print(pool.map_async(work, [1]).get(60))
    except onesided.OnesidedError as error:
        print(error)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_after_compiled_code_ran_is_refused_and_one_before_works(tmp_path):
    Path(tmp_path / "fork.py").write_text(FORK)
    said = {
        when: subprocess.run(
            [sys.executable, str(tmp_path / "fork.py"), when], capture_output=True, text=True, check=True, timeout=120
        ).stdout
        for when in ("before", "straight lines alone", "after")
    }
    assert said["before"] == said["straight lines alone"] == "['solved']\n"
    assert "forked" in said["after"]
    assert 'get_context("spawn")' in said["after"]


def test_the_command_line_tells_and_clears_the_cache(cache):
    entry(cache, "some", zlib.compress(os.urandom(2**20)))
    command = CliRunner()
    assert "1 entries, 1.0 of 256 MB" in command.invoke(app, ["cache"]).output
    assert command.invoke(app, ["cache", "--clear"]).output == "1.0 MB removed\n"
    assert list(cache.glob("*-cache")) == []


def test_the_installation_describes_itself():
    told = CliRunner().invoke(app, ["check", "--environment"])
    assert told.exit_code == 0
    for word in ("onesided", "numpy", "jax", "feral-solver", "devices", "cache", "ffmpeg", "browser"):
        assert word in told.output
    assert CliRunner().invoke(app, ["check"]).exit_code == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "bouncing-ball", "--step", "0"),
        ("simulate", "bouncing-ball", "--rtol", "0"),
        ("animate", "nowhere", "--frames", "100000000"),
        ("cables", "suspension", "--slings", "100000"),
    ],
)
def test_options_out_of_range_are_refused(arguments):
    told = CliRunner().invoke(app, arguments)
    assert told.exit_code == 2
    assert "expected" in told.output
