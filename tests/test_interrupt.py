"""Ctrl-C on the command line: one line, exit code 130, what was found is kept, nothing is left half-written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import onesided
from onesided import load_result
from onesided.base.errors import SolveError
from onesided.base.interrupt import NOTHING, SAVING, SOON
from onesided.base.progress import Progress

LISTENING = "from onesided.base.interrupt import INTERRUPT; INTERRUPT.listen(); print('up', flush=True); "
RUN = LISTENING + "from onesided.__main__ import main; main()"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def chain(units):
    """A chain of units that snap: 3ⁿ − 1 limit points."""
    bars = [f"{1 + 0.02 * i}/2*(sqrt(1 + (y{i} - {f'y{i - 1}' if i > 1 else '0'})**2) - l)**2" for i in units]
    return (
        f'energy = "{" + ".join(bars)} + p*y{units[-1]}"\n[coordinates]\n'
        + "".join(f"y{i} = {0.5 * i}\n" for i in units)
        + "[parameters]\nl = 1.118033988749895\n[control]\nstart = 0\nrange = [-1, 1]\n"
    )


def begin(code, *arguments, cold=False):
    """A process of the command line that hears Ctrl-C; a cold one has compiled nothing before."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | ({"JAX_COMPILATION_CACHE_DIR": str(Path("jax").absolute())} if cold else {}),
    )
    assert process.stdout.readline() == "up\n"
    return process


@pytest.mark.parametrize("moment", [0.0, 0.15, 0.6, 1.2])
def test_during_imports_and_compilation_one_line_says_so(moment):
    process = begin(RUN, "trace", "scissor-lift", cold=True)
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors == f"error: {NOTHING}\n"
    assert not Path("onesided-results").exists()


def test_what_a_trace_found_is_saved():
    Path("long.toml").write_text(chain(range(1, 8)))
    process = begin(RUN, "trace", "long.toml", "--json", "-o", "kept")
    seen = process.stdout.readline()
    assert '"progress"' in seen, process.communicate()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 130, output + errors
    assert '"status": "interrupted"' in output
    assert errors == ""
    path = load_result("kept")
    assert path.status is onesided.Status.interrupted
    assert path.residual < 1e-9
    assert [name for name in os.listdir(".") if "draft" in name] == []


HELD = LISTENING + (
    "import time; INTERRUPT.pressed(); from pathlib import Path; from onesided.base.atomic import whole_file\n"
    "with whole_file(Path('target')) as draft:\n    draft.write_text('half'); print('held', flush=True); time.sleep(60)"
)


def test_work_that_does_not_ask_again_is_announced_and_the_second_ctrl_c_ends_it():
    process = begin(HELD)
    assert process.stdout.readline() == "held\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == f"{SOON}\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == f"error: {NOTHING}\n"
    assert os.listdir(".") == []  # the draft is gone, and there is no target


SLOW = LISTENING + (
    "import time; INTERRUPT.pressed(); print('on', flush=True)\n"
    "while not INTERRUPT.pressed():\n    time.sleep(0.01)\ntime.sleep(60)"
)


def test_what_takes_long_after_the_work_has_stopped_is_announced():
    process = begin(SLOW)
    assert process.stdout.readline() == "on\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == f"{SAVING}\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130


class PressedAt(Progress):
    """Presses Ctrl-C at the third report."""

    reports = 0

    def update(self, **news):
        self.reports += 1
        if self.reports == 3:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def model():
    return onesided.loads(chain(range(1, 4)))


def test_paths_diagrams_and_histories_return_what_they_have(model):
    system, start = model.system, model.task.start
    path = onesided.trace(system, start, 0.0, p_bounds=(-1, 1), progress=PressedAt(), throw=False)
    whole = onesided.trace(system, start, 0.0, p_bounds=(-1, 1), max_points=len(path))
    assert path.status is onesided.Status.interrupted
    assert np.array_equal(path.q, whole.q[: len(path)])
    diagram = onesided.diagram(system, start, 0.0, p_bounds=(-1, 1), progress=PressedAt(), throw=False)
    assert (diagram.interrupted, diagram.complete) == (True, False)
    assert "Ctrl-C" in diagram.note or "interrupted" in diagram.note
    drive = onesided.drive(system, start, [0.0, 1.0, -1.0], progress=PressedAt(), throw=False)
    assert drive.status is onesided.Status.interrupted
    assert drive.paths[0].residual < 1e-9


def test_in_a_script_the_error_holds_what_was_found(model):
    with pytest.raises(SolveError, match="interrupted") as caught:
        onesided.diagram(model.system, model.task.start, 0.0, p_bounds=(-1, 1), progress=PressedAt())
    assert caught.value.partial.interrupted
