"""Kill a study, parent or worker, again and again: `python tests/studies/kills.py 100` does it 100 times."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import onesided
from onesided.results import study_rows

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
LIFE = (0.5, 6.0)  # seconds that a study may live


def kill_often(folder, *, kills, cases, seed):
    """Start and kill; at no time is a case gone that was there, and in the end each is there once, with its value."""
    generator, there = random.Random(seed), {}
    code = (
        "import numpy, onesided; from study_models import slow, spring\n"
        f"over = {{'k': numpy.arange({cases}.0)}}\n"
        f"onesided.study(onesided.StudyTask(spring(), slow), over=over, folder={str(folder)!r}, workers=2)"
    )
    for _ in range(kills):
        _live_and_die([sys.executable, "-c", code], generator)
        now = _rows(folder)
        assert there.items() <= now.items(), "a case that was there is gone, or was done twice"
        there = now
    subprocess.run([sys.executable, "-c", code], env=ENVIRONMENT, check=True)
    study = onesided.open_study(folder)
    assert study.counts() == {"cases": cases, "done": cases, "failed": 0}, study.failed()
    assert list(study["double"]) == list(2.0 * np.arange(float(cases)))
    assert there.items() <= _rows(folder).items()


def _live_and_die(command, generator):
    with subprocess.Popen(command, env=ENVIRONMENT) as process:
        time.sleep(generator.uniform(*LIFE))
        children = _children(process.pid)
        victim = generator.choice([process.pid, *children])
        os.kill(victim, signal.SIGKILL)
        if victim != process.pid:
            time.sleep(generator.uniform(0.0, 1.0))
            process.kill()


def _rows(folder):
    """Cases that are there, each with the time it took: a case that is done twice takes another time."""
    if not (folder / "study.json").exists():
        return {}
    table = study_rows.read_rows(folder, ["case", "seconds"])
    return dict(zip(table["case"].to_pylist(), table["seconds"].to_pylist() if len(table) else [], strict=True))


def _children(pid):
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as place:
        kill_often(Path(place) / "s", kills=count, cases=60 * count, seed=count)
    sys.stdout.write(f"{count} kills: nothing lost, nothing twice\n")
