"""The study that a model file states."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.files.study_tables import AxisTable, SampleTable, StudyTable
from onesided.studies.imperfections import Imperfections
from onesided.studies.sampling import Sample
from onesided.studies.tasks import StudyTask
from onesided.system.system import System


class AskedStudy(NamedTuple):
    """A task, the grid and the sample of a study."""

    task: StudyTask
    over: dict[str, Any]
    sample: Any


def asked_study(system: System) -> AskedStudy:
    """What the file of a system says in `[study]`."""
    table = getattr(system.task, "study", None)
    if not isinstance(table, StudyTable):
        raise UsageError("nothing is varied", expected="over={name: values}, sample=…, or a table [study] in the file")
    task = StudyTask(system, table.verb, {}, table.keep, table.results)
    over = {name: _axis(given) for name, given in table.over.items()}
    if table.imperfections is not None:
        return AskedStudy(task, over, Imperfections(**table.imperfections.model_dump()))
    return AskedStudy(task, over, None if table.sample is None else _sample(table.sample, system))


def _axis(given: list[float] | AxisTable) -> Array:
    if not isinstance(given, AxisTable):
        return np.array(given)
    space = np.geomspace if given.spacing == "log" else np.linspace
    return np.asarray(space(given.from_, given.to, given.count))


def _sample(table: SampleTable, system: System) -> Any:
    if table.file is None:
        return table.lists or Sample(table.count or 0, table.of, table.seed, table.method)
    folder = None if system.made is None else system.made.args[2]
    if folder is None or Path(table.file).name != table.file:
        raise UsageError(
            "the table of cases is not beside the model file",
            got=table.file,
            expected="the name of a file in its folder",
        )
    return Path(folder) / table.file
