"""Whether a model is a mechanism, for `onesided check`."""

from typing import Any

import numpy as np

from onesided import structures
from onesided.statics.equilibria.find_equilibrium import equilibrium
from onesided.system.system import System


def mechanism(system: System, q: Any, p: float) -> str:
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
