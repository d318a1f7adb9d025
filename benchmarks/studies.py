"""Studies: what they cost beside the cases, how much faster two processes are than one, tables of a million cases.

Everything is measured in one run; on a busy machine the ratio of processes says little.
"""

import tempfile
import time
from pathlib import Path

import numpy as np

import onesided
from onesided.results.studied import open_study, write_statement
from onesided.results.study_cases import Cases
from onesided.results.study_rows import append_rows

SPRING = "energy='k/2*(x-p)**2'\n[coordinates]\nx=1.0\n[parameters]\nk=2.0\n[control]\nrange=[-1,1]\nstart=0.5\n"
ROW = {
    "ok": True, "status": "bound_reached", "note": "", "limit_load": 0.1, "first_event": "limit point", "points": 30.0,
    "event_kinds": ["limit point"] * 2, "event_at": [0.1, -0.1], "event_names": ["", ""], "seconds": 0.01,
}  # fmt: skip


def nothing(system):
    """The cheapest task."""
    return {"a": system.parameters["k"], "b": 1.0, "c": 2.0}


def overhead(folder: Path, cases: int = 20_000) -> None:
    """Time per case of a task that does nothing."""
    task, over = onesided.StudyTask(onesided.loads(SPRING).system, nothing), {"k": np.arange(float(cases))}
    begun = time.process_time()
    onesided.study(task, over=over, folder=folder / "here", workers=0)
    print(f"in this process: {(time.process_time() - begun) / cases * 1e3:.3f} ms of CPU per case")
    begun = time.process_time()
    onesided.study(task, over=over, folder=folder / "there", workers=2)
    print(f"with two processes: {(time.process_time() - begun) / cases * 1e3:.3f} ms of CPU per case in the parent")


def speed_up(folder: Path, cases: int = 1000) -> None:
    """Cases per second on one process and on two, after the processes have compiled the model."""
    system = onesided.loads(onesided.zoo.text("two-bar-roller")).system
    rates = []
    for workers in (1, 2):
        seen: list[tuple[float, int]] = []
        onesided.study(
            system, over={"ks": np.linspace(1.0, 4.0, cases)}, folder=folder / f"{workers}", workers=workers,
            progress=lambda state, seen=seen: seen.append((time.perf_counter(), state.done)),
        )  # fmt: skip
        warm = [(at, done) for at, done in seen if done > cases // 10]
        rates.append((warm[-1][1] - warm[0][1]) / (warm[-1][0] - warm[0][0]))
    print(f"paths per second: {rates[0]:.0f} on one process, {rates[1]:.0f} on two: {rates[1] / rates[0]:.2f} times")


def tables(folder: Path, cases: int = 1_000_000) -> None:
    """Time to write and to open the rows of a million cases."""
    folder.mkdir()
    Cases({"k": np.arange(cases / 1000), "m": np.arange(1000.0)}).write(folder)
    write_statement(folder, {"task": {"verb": "trace"}, "model": "", "version": ""})
    begun = time.process_time()
    for first in range(0, cases, 5000):
        append_rows(folder, [{"case": i, **ROW} for i in range(first, first + 5000)])
    print(f"{cases} rows written: {time.process_time() - begun:.1f} s of CPU")
    study = open_study(folder)
    for name, call in {"to_pandas": study.to_pandas, "to_xarray": study.to_xarray, "events": study.events}.items():
        begun = time.process_time()
        call()
        print(f"{name}: {time.process_time() - begun:.1f} s of CPU")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        overhead(Path(place))
        tables(Path(place) / "large")
        speed_up(Path(place))
