"""What a model consists of, and whether it is a mechanism, in words: for `onesided check`."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from onesided import structures
from onesided.cli.given import load_model
from onesided.statics.equilibria.find_equilibrium import equilibrium
from onesided.system.system import System


def model_facts(file: Path) -> dict[str, str]:
    """What a model consists of, in words."""
    system, task = load_model(file, None)
    examine = system.check_start if task.motion is None else system.check_model
    examine(task.start, task.p)
    loose = _mechanism(system, task.start, task.p)
    sizes = system.sizes(task.start, task.p)
    low, high = task.p_bounds
    lengths = [f"{c} {v:.3g}" for c, v in zip(system.coordinates, sizes.length, strict=True)]
    parts = {} if system.structure is None else {"parts": _counts(system.structure.parts)}
    return {
        "ok": task.title or str(file),
        **parts,
        "coordinates": _abbreviated(system.coordinates),
        "one-sided": _abbreviated(system.unilateral),
        "two-sided": _abbreviated(system.bilateral),
        "control": f"{system.control} from {task.p:g}, between {low:g} and {high:g}",
        "start": _start(system, task),
        **({"mechanism": f"nothing resists {loose}"} if loose else {}),
        **({} if task.motion is None else {"motion": "from t = {:g} to {:g}".format(*task.motion.time)}),
        **({} if task.steer is None else {"steer": "from t = {:g} to {:g}".format(*task.steer.time)}),
        "scales": f"{_abbreviated(lengths)}; energy {sizes.energy:.3g}; {system.control} {sizes.control:.3g}",
    }


def _mechanism(system: System, q: Any, p: float) -> str:
    """The motion that nothing resists near a start, in words; empty where there is none, or it was not looked for."""
    if system.derivatives.large:
        return ""
    if system.structure is not None:
        found = structures.supports.free_motion(system, q, p)
        if found is not None:
            return found
    e = system.evaluate(q, p, np.zeros(len(system.constraint_names)))
    if np.linalg.matrix_rank(np.vstack([e.L_qq, e.c_q])) == system.n:
        return ""
    return equilibrium(system, q, p, throw=False).value.free


def _counts(parts: Any) -> str:
    """How many parts of each kind there are."""
    return ", ".join(f"{count} {kind}" for kind, count in Counter(part.kind for part in parts if part.kind).items())


def _abbreviated(names: Iterable[str], most: int = 12) -> str:
    """Names, or the first and last of them with their number when there are many."""
    names = list(names)
    if len(names) <= most:
        return ", ".join(names) or "none"
    return f"{', '.join(names[: most - 2])}, …, {names[-1]} ({len(names)})"


def _start(system: Any, task: Any) -> str:
    """What the start violates, if anything: solve and trace bring it in."""
    gaps = system.evaluate(task.start, task.p, [0.0] * len(system.constraint_names)).c[len(system.bilateral) :]
    low = [f"gap '{name}' is {gap:.3g}" for name, gap in zip(system.unilateral, gaps, strict=True) if gap < 0]
    return _abbreviated(low) if low else "no gap is violated"
