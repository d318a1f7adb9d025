"""Types that users see: names of elements, and scripts that pass mypy's strictest rules."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import onesided
from onesided import elements

SCRIPT = """
import jax.numpy as jnp
import numpy as np

import onesided
from onesided.complementarity_systems import LinearComplementaritySystem, LocatedSwitches
from onesided.elements import Bar, Force, Node

system = onesided.System(("x",), energy=lambda q, p, th: 2 * q[0] ** 2 - p * q[0], mass=lambda q, th: jnp.eye(1))
motion: onesided.Motion = onesided.simulate(system, [1.0], [0.0], (0.0, 1.0), method=onesided.Radau())
bounce: onesided.Motion = onesided.simulate(system, [1.0], [0.0], (0.0, 1.0), method=onesided.EventDriven())
swing = LinearComplementaritySystem([[0, 1], [0, 0]], [[0.0], [-1.0]], [[-1.0, 0.0]], [[0.25]])
first: float = onesided.simulate(swing, (0.0, 1.0), t_span=(0.0, 3.0), method=LocatedSwitches()).switches[0].t
path: onesided.Path = onesided.trace(system, [0.0], 0.0, p_bounds=(0.0, 1.0))
kinds: list[onesided.Kind] = [event.kind for event in path.events]
page: str = onesided.report.html(path)
label: str = onesided.plots.diagram(path).get_xlabel()
truss: onesided.System = onesided.compose(
    Node("a", (0.0, 0.0), fixed=True), Node("b", (1.0, 0.5), fixed="x"),
    Bar("rafter", ("a", "b"), stiffness=1.0), Force("load", "b", (0.0, -1.0)),
)
answer: np.ndarray = onesided.solve(onesided.LCP(np.eye(2), -np.ones(2))).value
"""


def test_the_stub_of_elements_names_every_kind():
    """Kinds are found by themselves; type checkers need them by name."""
    stub = Path(elements.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    named = {alias.asname for node in ast.parse(stub).body if isinstance(node, ast.ImportFrom) for alias in node.names}
    ours = {name for name in elements.__all__ if getattr(elements, name).__module__.startswith("onesided.")}
    assert named == ours


@pytest.mark.slow
def test_a_script_passes_strict_rules(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.replace("np.ndarray", "np.typing.NDArray[np.float64]"), encoding="utf-8")
    wrong = tmp_path / "wrong.py"
    wrong.write_text(SCRIPT.replace("t_span=(0.0, 3.0)", "v0=[1.0]"), encoding="utf-8")
    source = os.environ | {"MYPYPATH": str(Path(onesided.__file__).parents[1])}
    told = [
        subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", str(file)],
            capture_output=True,
            text=True,
            check=False,
            env=source,
            cwd=tmp_path,
        )
        for file in (script, wrong)
    ]
    assert told[0].returncode == 0, told[0].stdout
    assert told[1].returncode == 1
    assert "No overload variant" in told[1].stdout
