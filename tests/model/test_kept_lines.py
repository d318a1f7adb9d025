"""Lists of operations between processes: the same after packing, never more than operations, remade when damaged."""

import os
import stat
import subprocess
import sys
import zlib

import jax.numpy as jnp
import numpy as np
import pytest

from onesided.evaluation import kept_lines
from onesided.evaluation.jax_process import prepare_jax
from onesided.evaluation.kept_lines import kept_line, packed, stable_text, unpacked
from onesided.evaluation.machine_code import NativeFunction
from onesided.evaluation.straight import straight

prepare_jax()


def function(x, y):
    """Truths, choices and constants of all kinds, and most operations."""
    first = jnp.where((x[0] > 0.5) & ~(y[1] <= 0.0), jnp.sin(x[0]) * jnp.pi, jnp.log1p(y[0]))
    second = jnp.arctan2(x[1], 1e300) + jnp.maximum(x[0], y[1]) ** 2.5 + jnp.sign(x[1]) * jnp.sqrt(jnp.abs(x[1]))
    third = jnp.where(jnp.isfinite(x[0]) != (x[1] == y[0]), jnp.cbrt(x[0]), -x[0]) + jnp.fmod(y[0], 0.3) * (x[1] > 0)
    return jnp.stack([first, second, third, jnp.asarray(1.5)])


@pytest.fixture
def line():
    return straight(function, 2, 2)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_lines, "_folder", lambda: tmp_path)
    return tmp_path


def test_what_was_packed_computes_the_same(line):
    again = NativeFunction(unpacked(packed(line), (4, 4)), (2, 2), (False, False))
    for x, y in (([0.7, 1.2], [0.4, 0.9]), ([-0.7, 0.0], [0.4, -0.9]), ([0.4, -2.0], [-2.0, 3.0])):
        found = again([np.array(x), np.array(y)])[0]
        np.testing.assert_allclose(found, function(np.array(x), np.array(y)), rtol=1e-14)


def test_every_flipped_bit_is_noticed(line):
    """Also where the digest is made anew: then the line is another one, or none, but never anything else."""
    data = packed(line)
    rng = np.random.default_rng(5)
    for at in rng.choice(len(data), 100, replace=False):
        changed = bytearray(data)
        changed[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(kept_lines._DamagedError):
            unpacked(bytes(changed), (4, 4))
    digest, head = kept_lines.hashlib.sha256, kept_lines.DIGEST + kept_lines.HEAD.size
    for at in (*range(kept_lines.DIGEST, head), *rng.choice(np.arange(head, len(data)), 60, replace=False)):
        changed = bytearray(data[kept_lines.DIGEST :])
        changed[at - kept_lines.DIGEST] ^= 1 << int(rng.integers(8))
        try:
            other = unpacked(digest(changed).digest() + bytes(changed), (4, 4))
        except kept_lines._DamagedError:
            continue
        assert len(NativeFunction(other, (2, 2), (False, False))([np.ones(2), np.ones(2)])[0]) == 4


def test_a_line_is_made_once_and_again_when_it_is_damaged(folder, line):
    made = []

    def make():
        made.append(None)
        return line

    for _ in range(2):
        kept_line(("spring", 2), (4, 4), make)
    (entry,) = folder.iterdir()
    assert len(made) == 1
    for damage in (b"", b"no list", entry.read_bytes()[:90], zlib.compress(b"x" * 100)):
        before = len(made)
        entry.write_bytes(damage)
        kept_line(("spring", 2), (4, 4), make)
        kept_line(("spring", 2), (4, 4), make)
        assert len(made) == before + 1
    kept_line(("spring", 3), (4, 4), make)
    assert len(list(folder.iterdir())) == 2


def test_an_entry_of_another_size_is_not_taken(folder, line):
    made = []
    kept_line(("spring",), (4, 4), lambda: line)
    kept_line(("spring",), (4, 5), lambda: made.append(None) or line)
    assert made == [None]


def test_a_change_of_our_sources_changes_all_keys(folder, line, monkeypatch):
    kept_line(("spring",), (4, 4), lambda: line)
    assert "element_code.py" in kept_lines._sources() and "springs" not in kept_lines._sources()
    monkeypatch.setattr(kept_lines, "_sources", lambda: "others")
    kept_line(("spring",), (4, 4), lambda: line)
    assert len(list(folder.iterdir())) == 2


class Own:
    """A class of a user."""


def test_only_plain_data_and_our_own_classes_have_a_stable_text(folder, line):
    assert stable_text((1, "a", (True, None, 2.5), kept_lines._LineReading)) == (
        "(1, 'a', (True, None, 2.5), <onesided.evaluation.kept_lines._LineReading>)"
    )
    assert stable_text((1, Own)) is None and stable_text((1, [2])) is None and stable_text(len) is None
    assert stable_text(1) != stable_text(1.0) != stable_text("1.0") and stable_text(0.0) != stable_text(-0.0)
    kept_line((Own,), (4, 4), lambda: line)
    assert list(folder.iterdir()) == []


def test_without_a_place_to_write_everything_works(tmp_path, monkeypatch, line):
    monkeypatch.setattr(kept_lines, "_folder", lambda: tmp_path / "missing")
    assert kept_line(("spring",), (4, 4), lambda: line) is line
    monkeypatch.setattr(kept_lines, "_folder", lambda: None)
    assert kept_line(("spring",), (4, 4), lambda: line) is line


SECOND = """
from onesided.evaluation import kept_lines
from onesided.evaluation.jax_process import prepare_jax
kept_lines.straight_made = 0
from onesided import zoo
import onesided.structures.element_code as code
def refuse(*arguments):
    raise SystemExit("traced again")
if {again}:
    code.straight = refuse
system, task = zoo.load("scissor-lift")
e = system.evaluate(system.start, 0.3, [0.1] * system.derivatives.m)
print(e.energy.hex(), [float(x).hex() for x in e.L_qx.ravel()])
"""


def test_a_second_process_traces_no_element_and_finds_the_same_numbers(tmp_path):
    told = []
    for again in (False, True):
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
        command = [sys.executable, "-c", SECOND.format(again=again)]
        told.append(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)
    assert told[0] == told[1]
    lines = [path for path in (tmp_path / "onesided" / "jax").iterdir() if path.name.startswith("line-")]
    assert lines and stat.S_IMODE(lines[0].parent.stat().st_mode) == 0o700
