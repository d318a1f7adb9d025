"""Studies on processes: a case that ends its process is marked, kills lose nothing and do nothing twice."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pytest
from kills import ENVIRONMENT, kill_often
from study_models import risky, slow, spring

import onesided
from onesided.studies import workers
from onesided.studies.fingerprint import fingerprint
from onesided.studies.futures import dask_client


def test_a_case_that_ends_its_process_is_marked_and_the_others_are_done(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "TRIES", 1)  # processes take seconds to start
    k = np.arange(8.0)
    study = onesided.study(onesided.StudyTask(spring(), risky), over={"k": k}, folder=tmp_path / "s", workers=1)
    failed = study.failed()
    assert set(failed) == {3, 4} and "MemoryError: 1e30 bytes" in failed[4]
    assert "worker died" in failed[3] and "signal 9" in failed[3] and "lack of memory" in failed[3]
    good = [0, 1, 2, 5, 6, 7]
    assert list(study["double"][good]) == list(2.0 * k[good])
    assert os.getpid() not in study["process"]
    prints = [float(int(fingerprint(spring().replace(parameters={"k": one}))[:12], 16)) for one in k[good]]
    assert list(study["print"][good]) == prints  # a model is the same thing in every process


class Losing(Executor):
    """Loses the first call for each new list of cases that holds one of the cases 3 and 5, and every call with 3."""

    def __init__(self):
        self.inner, self.lost = ThreadPoolExecutor(2), set()

    def submit(self, function, data, batch, folder):
        numbers = {number for number, _ in batch}
        if 3 in numbers or (5 in numbers and 5 not in self.lost):
            self.lost |= numbers
            failed = Future()
            failed.set_exception(RuntimeError("the machine is gone"))
            return failed
        return self.inner.submit(function, data, batch, folder)


def test_any_executor_will_do_and_what_it_loses_is_tried_alone(tmp_path):
    over = {"k": np.arange(40.0)}
    study = onesided.study(onesided.StudyTask(spring(), slow), over=over, folder=tmp_path / "s", executor=Losing())
    failed = study.failed()
    assert 3 in failed and set(failed) <= {3, 5} and "the machine is gone" in failed[3]
    assert study.complete and study["double"][39] == 78.0


@pytest.mark.slow
def test_kills_at_any_time_lose_nothing_and_do_nothing_twice(tmp_path):
    """The parent, or a worker, is killed four times; then the study is complete, each case once."""
    kill_often(tmp_path / "s", kills=4, cases=400, seed=1)


@pytest.mark.slow
def test_dask_goes_on_when_one_of_two_workers_is_killed(tmp_path):
    file = tmp_path / "scheduler.json"
    scheduler = [
        sys.executable,
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--no-dashboard",
    ]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1",
              "--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path)]  # fmt: skip
    running = [
        subprocess.Popen([*scheduler, "--scheduler-file", str(file)], env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    ]
    try:
        while not file.exists():
            time.sleep(0.1)
        running += [subprocess.Popen(worker, env=ENVIRONMENT, stderr=subprocess.DEVNULL) for _ in range(2)]
        client = dask_client(json.loads(file.read_text())["address"])
        client.wait_for_workers(2)
        killed = []

        def kill_one(state):
            if state.done > 100 and not killed:
                killed.append(state.done)
                running[1].kill()

        task, over = onesided.StudyTask(spring(), slow), {"k": np.arange(400.0)}
        study = onesided.study(task, over=over, folder=tmp_path / "s", executor=client, progress=kill_one)
        client.close()
        assert killed and study.complete and study.failed() == {}
        assert list(study["double"]) == list(2.0 * np.arange(400.0))
    finally:
        for process in running:
            process.kill()
            process.wait()
