"""Ctrl-C on the command line: one line, exit code 130, what was found is kept, nothing is left half-written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import onesided
from onesided import load_result
from onesided.base.errors import SolveError
from onesided.base.interrupt import NOTHING, SAVING, SOON, Interrupt
from onesided.base.progress import Progress
from onesided.cli.app import app
from onesided.design import sensitivities

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


@pytest.mark.parametrize("moment", [0.0, 0.15, 0.3, 0.6])
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
    """Presses Ctrl-C at the third report, or at another, and holds it: whoever asks again hears it again."""

    def __init__(self, at=3):
        self.at, self.reports = at, 0

    def update(self, **news):
        self.reports += 1
        if self.reports >= self.at:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def model():
    return onesided.loads(chain(range(1, 4)))


def test_paths_diagrams_and_histories_return_what_they_have(model):
    system, start = model.system, model.task.start
    path = onesided.trace(system, start, 0.0, p_bounds=(-1, 1), progress=PressedAt(), throw=False)
    whole = onesided.trace(system, start, 0.0, p_bounds=(-1, 1), max_points=len(path))
    assert path.status is onesided.Status.interrupted
    np.testing.assert_allclose(path.q, whole.q[: len(path)], rtol=0, atol=1e-9)  # the same but for round-off that grows
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


FLOOR = """
energy = "k*(sqrt(1 + (1 - y)**2) - sqrt(2))**2/2 - p*y"
[coordinates]
y = 0
[unilateral]
floor = "ys - y"
[parameters]
k = 1
ys = 0.9
[control]
start = 0
range = [-0.5, 0.5]
"""


def test_a_curve_of_events_is_kept(tmp_path):
    """The points until then are those of the whole curve, also where only one of its sides was begun."""
    system = onesided.loads(FLOOR).system
    event = onesided.trace(system, max_events=1, throw=False).events[0]
    whole = onesided.follow(event, "k", (0.5, 2.0))
    lengths = []
    for at in (1, 4, 7, 12):
        found = onesided.follow(event, "k", (0.5, 2.0), progress=PressedAt(at), throw=False)
        assert found.status is onesided.Status.interrupted
        first = whole.start - found.start
        assert np.array_equal(found.p, whole.p[first : first + len(found)])
        assert np.array_equal(onesided.load_result(onesided.save(found, tmp_path / str(at))).p, found.p)
        lengths.append(len(found))
    assert lengths == sorted(lengths)
    assert 1 < lengths[0] < lengths[-1] < len(whole)
    with pytest.raises(SolveError, match="interrupted") as caught:
        onesided.follow(event, "k", (0.5, 2.0), progress=PressedAt())
    assert len(caught.value.partial) > 1


def test_a_map_is_kept_as_far_as_paths_were_traced(tmp_path):
    """At any moment: regions that agree with the whole map within the sharpness that they state."""
    system = onesided.loads(FLOOR).system
    whole = onesided.stability_map(system, "ys", (0.2, 1.8), samples=4)
    lists = {one.events for one in whole.regions}
    assert len(lists) > 1
    counting = PressedAt(10**9)
    onesided.stability_map(system, "ys", (0.2, 1.8), samples=4, progress=counting)
    with pytest.raises(KeyboardInterrupt):  # before there is a path
        onesided.stability_map(system, "ys", (0.2, 1.8), samples=4, progress=PressedAt(1))
    ends = []
    for at in np.linspace(counting.reports // 8, counting.reports - 1, 4).astype(int):
        with pytest.raises(SolveError, match="interrupted") as caught:
            onesided.stability_map(system, "ys", (0.2, 1.8), samples=4, progress=PressedAt(int(at)))
        found = caught.value.partial
        assert (found.status, found.complete) == (onesided.Status.interrupted, False)
        assert "Ctrl-C" in found.note
        for own in found.regions:
            middle = 0.5 * (own.low + own.high)
            there = next(one for one in whole.regions if one.low <= middle <= one.high)
            assert own.events == there.events or own.sharp > 0.01
        again = onesided.load_result(onesided.save(found, tmp_path / str(at)))
        assert (again.status, [str(one) for one in again.regions]) == (
            found.status,
            [str(one) for one in found.regions],
        )
        ends.append(found.regions[-1].high)
    assert ends == sorted(ends)
    assert ends[-1] == 1.8


def test_jumps_that_were_differentiated_are_kept(monkeypatch, model, tmp_path):
    drive = onesided.drive(model.system, model.task.start, [0.0, 1.0, -1.0, 1.0], throw=False)
    whole = onesided.sensitivity(drive)
    assert len(whole.jumps) > 2
    usual, left = sensitivities.event_sensitivity, iter(range(2))

    def pressed(*given):
        if next(left, None) is None:
            raise KeyboardInterrupt
        return usual(*given)

    monkeypatch.setattr(sensitivities, "event_sensitivity", pressed)
    with pytest.raises(SolveError, match="interrupted") as caught:
        onesided.sensitivity(drive)
    found = caught.value.partial
    assert (len(found.jumps), found.status) == (2, onesided.Status.interrupted)
    assert found.dissipated == pytest.approx(sum(jump.energy for jump in drive.jumps[:2]))
    assert np.array_equal(found.dissipated_rate, whole.jumps[0].energy_rate + whole.jumps[1].energy_rate)
    assert onesided.load_result(onesided.save(found, tmp_path / "kept")).status is onesided.Status.interrupted


@pytest.mark.parametrize(
    ("command", "at"), [("follow floor.toml --parameter k", 5), ("stability-map floor.toml --parameter ys", 9),
                        ("steer gantry-crane", 30)],
)  # fmt: skip
def test_commands_save_what_they_have(command, at, monkeypatch):
    Path("floor.toml").write_text(FLOOR)
    calls = iter(range(at))
    monkeypatch.setattr(Interrupt, "pressed", lambda self: next(calls, None) is None)
    done = CliRunner().invoke(app, [*command.split(), "--json", "-o", "kept"])
    assert done.exit_code == 130, done.output
    assert '"status": "interrupted"' in done.output
    assert load_result("kept").status is onesided.Status.interrupted


WATCHED = """
import atexit, sys
class Torn:
    def __del__(self):
        sys.__stderr__.write("taken apart")
kept = sys.modules["kept"] = Torn()
from onesided.__main__ import INTERRUPT, main
listen = INTERRUPT.listen
INTERRUPT.listen = lambda: (listen(), atexit.register(lambda: sys.stderr.write("called ")))
main()
"""


@pytest.mark.parametrize(("command", "code"), [("examples", 0), ("solve corner-limit", 0), ("check no-such.toml", 2)])
def test_the_process_ends_when_all_is_said(command, code):
    """What was loaded is not taken apart (Ctrl-C would not be heard meanwhile); the rest of leaving is as always."""
    usual = CliRunner().invoke(app, command.split())
    line = [sys.executable, "-c", WATCHED, *command.split()]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == code == usual.exit_code
    assert done.stdout == usual.stdout
    assert done.stderr == usual.stderr + "called " * 2  # listened twice


def test_a_reader_that_goes_away_is_no_loss():
    process = subprocess.Popen(
        [sys.executable, "-m", "onesided", "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert b"Traceback" not in errors
