"""Equilibrium paths and motion of mechanical systems whose constraints act on one side only.

Names are imported when first used: `import onesided` loads neither JAX nor SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from onesided._types import Status as Status
from onesided._version import __version__ as __version__

if TYPE_CHECKING:
    from onesided.complementarity import LCP as LCP
    from onesided.complementarity import MLCP as MLCP
    from onesided.complementarity import NCP as NCP
    from onesided.complementarity import all_solutions as all_solutions
    from onesided.errors import ModelError as ModelError
    from onesided.errors import OnesidedError as OnesidedError
    from onesided.errors import SolveError as SolveError
    from onesided.model.compose import compose as compose
    from onesided.model.derivatives import Function as Function
    from onesided.model.files import load as load
    from onesided.model.files import loads as loads
    from onesided.model.sizes import Scales as Scales
    from onesided.model.system import System as System
    from onesided.results import Diagram as Diagram
    from onesided.results import Drive as Drive
    from onesided.results import Equilibrium as Equilibrium
    from onesided.results import Event as Event
    from onesided.results import Kind as Kind
    from onesided.results import Path as Path
    from onesided.results import Ray as Ray
    from onesided.results import Solution as Solution
    from onesided.results import load_result as load_result
    from onesided.results import save as save
    from onesided.statics.drive import drive as drive
    from onesided.statics.equilibrium import Newton as Newton
    from onesided.statics.explore import diagram as diagram
    from onesided.statics.integrate import FirstOrder as FirstOrder
    from onesided.statics.paths import branch as branch
    from onesided.statics.paths import iter_trace as iter_trace
    from onesided.statics.paths import trace as trace
    from onesided.statics.rates import rates as rates
    from onesided.statics.rays import rays as rays
    from onesided.statics.relax import Relaxation as Relaxation
    from onesided.statics.stability import instability as instability
    from onesided.statics.trace import PredictorCorrector as PredictorCorrector
    from onesided.tolerances import Tolerances as Tolerances
    from onesided.verbs import solve as solve

_HOMES = {
    "LCP": "complementarity",
    "MLCP": "complementarity",
    "NCP": "complementarity",
    "all_solutions": "complementarity",
    "ModelError": "errors",
    "OnesidedError": "errors",
    "SolveError": "errors",
    "Function": "model.derivatives",
    "compose": "model.compose",
    "load": "model.files",
    "loads": "model.files",
    "Scales": "model.sizes",
    "System": "model.system",
    "Diagram": "results",
    "Drive": "results",
    "Equilibrium": "results",
    "Event": "results",
    "Kind": "results",
    "Path": "results",
    "Ray": "results",
    "Solution": "results",
    "load_result": "results",
    "save": "results",
    "drive": "statics.drive",
    "Newton": "statics.equilibrium",
    "diagram": "statics.explore",
    "FirstOrder": "statics.integrate",
    "branch": "statics.paths",
    "iter_trace": "statics.paths",
    "trace": "statics.paths",
    "rates": "statics.rates",
    "rays": "statics.rays",
    "Relaxation": "statics.relax",
    "instability": "statics.stability",
    "PredictorCorrector": "statics.trace",
    "Tolerances": "tolerances",
    "solve": "verbs",
}

__all__ = ["Status", "__version__", *_HOMES]  # noqa: PLE0604 - the names are strings


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"onesided.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'onesided' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
