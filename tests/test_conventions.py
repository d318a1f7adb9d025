"""Rules that keep the code honest: no stray tolerances, every citation resolves, no code in model files."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "onesided").rglob("*.py"))


@cache
def _parsed(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def test_small_numbers_live_in_tolerances_or_in_the_knobs_of_a_method():
    stray = []
    for file in SOURCES:
        if file.name == "tolerances.py":
            continue
        tree = _parsed(file)
        knobs = {
            id(node.value)
            for cls in ast.walk(tree)
            if isinstance(cls, ast.ClassDef)
            for node in cls.body
            if isinstance(node, ast.AnnAssign)
        }
        stray += [
            f"{file.name}:{node.lineno}: {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, float)
            and 0 < abs(node.value) < 1e-3
            and id(node) not in knobs
        ]
    assert stray == []


def test_powers_of_the_machine_precision_have_a_name():
    """They are constants of a module or knobs of a method, whose names and comments give the reason."""
    unnamed = []
    for file in SOURCES:
        tree = _parsed(file)
        bodies = [tree.body, *(cls.body for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef))]
        named = {id(part) for body in bodies for node in body if isinstance(node, (ast.Assign, ast.AnnAssign))
                 for part in ast.walk(node)}  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and ast.unparse(node.left) == "EPS":
                unnamed += [] if id(node) in named else [f"{file.name}:{node.lineno}: {ast.unparse(node)}"]
    assert unnamed == []


def test_every_citation_has_an_entry():
    known = set(re.findall(r"^@\w+\{(\w+),", (ROOT / "docs" / "references.bib").read_text(), re.MULTILINE))
    texts = [file.read_text(encoding="utf-8") for file in [*SOURCES, *(ROOT / "src").rglob("*.toml")]]
    cited = {key for text in texts for key in re.findall(r"\[([A-Z]{2}\d?)(?: |, )", text)}
    assert cited
    assert cited <= known


def test_nothing_evaluates_text_as_code():
    for file in SOURCES:
        calls = [n.func.id for n in ast.walk(_parsed(file))
                 if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]  # fmt: skip
        assert not {"eval", "exec", "compile", "__import__", "print"} & set(calls), file


def _defined(kind):
    """Names of classes (not private to a module) or modules of the package, each with the files that define it."""
    found = defaultdict(list)
    for file in SOURCES:
        if kind == "module" and file.stem not in {"__init__", "__main__"}:
            found[file.stem].append(str(file))
        elif kind == "class":
            for node in _parsed(file).body:
                if isinstance(node, ast.ClassDef):
                    found[node.name].append(str(file))
    return found


@pytest.mark.parametrize("kind", ["module", "class"])
def test_no_name_stands_for_two_things(kind):
    assert {name: files for name, files in _defined(kind).items() if len(files) > 1} == {}


OPTIONAL = {
    "cloudpickle", "cupy", "distributed", "ezdxf", "imageio_ffmpeg", "meshio", "mujoco", "networkx",
    "pandas", "pyarrow", "unopy", "uvicorn", "xarray",
}  # fmt: skip


def test_imports_stand_at_the_top():
    """Inside functions only optional packages are imported, and the command line after it listens to Ctrl-C."""
    inside = []
    for file in SOURCES:
        for function in ast.walk(_parsed(file)):
            if isinstance(function, ast.FunctionDef) and file.name != "__main__.py":
                found = [node for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom))]
                modules = [node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in found]
                inside += [f"{file}: {name}" for name in modules if (name or "").split(".")[0] not in OPTIONAL]
    assert inside == []
