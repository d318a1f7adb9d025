"""The page about elements: its Python runs as written, its model files load."""

import re
from pathlib import Path

import numpy as np
import pytest

from onesided.model.elements.contract import KINDS
from onesided.model.files import loads

DOCS = [Path(__file__).parents[2] / "docs" / "elements.md"]


def blocks(file, language):
    return re.findall(rf"```{language}\n(.*?)```", file.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture(autouse=True)
def forget_new_kinds():
    before = dict(KINDS)
    yield
    KINDS.clear()
    KINDS.update(before)


@pytest.mark.parametrize("file", DOCS, ids=lambda file: file.name)
def test_python_runs_as_written(file, capsys):
    for block in blocks(file, "python"):
        exec(compile(block, file.name, "exec"), {"__name__": "docs"})  # noqa: S102 - our own pages
    printed = capsys.readouterr().out
    if file.name == "elements.md":
        assert "limit point at p = 0.0429143" in printed
        assert "band 'band' locks at p = 5.777" in printed


@pytest.mark.parametrize("file", DOCS, ids=lambda file: file.name)
def test_model_files_load(file):
    for block in blocks(file, "toml"):
        system, task = loads(block, file.name)
        assert system.n == len(task.start)
        assert np.all(np.isfinite(task.start))
