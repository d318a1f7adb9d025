"""Equilibrium paths and motion of mechanical systems whose constraints act on one side only.

Names are imported when first used: `import onesided` loads neither JAX nor SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from onesided._version import __version__ as __version__

if TYPE_CHECKING:
    from onesided._types import Status as Status
    from onesided.complementarity import LCP as LCP
    from onesided.complementarity import MLCP as MLCP
    from onesided.complementarity import NCP as NCP
    from onesided.complementarity import all_solutions as all_solutions
    from onesided.complementarity_systems import CableStructure as CableStructure
    from onesided.complementarity_systems import LinearComplementaritySystem as LinearComplementaritySystem
    from onesided.complementarity_systems import SlacknessSystem as SlacknessSystem
    from onesided.dynamics.couple import GaussSeidelSweeps as GaussSeidelSweeps
    from onesided.dynamics.couple import HiddenConstraint as HiddenConstraint
    from onesided.dynamics.couple import couple as couple
    from onesided.dynamics.event_driven import EventDriven as EventDriven
    from onesided.dynamics.explicit import Baumgarte as Baumgarte
    from onesided.dynamics.explicit import Projected as Projected
    from onesided.dynamics.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
    from onesided.dynamics.generalized_alpha import Index3 as Index3
    from onesided.dynamics.generalized_alpha import StabilisedIndex2 as StabilisedIndex2
    from onesided.dynamics.modes import modes as modes
    from onesided.dynamics.moreau import Moreau as Moreau
    from onesided.dynamics.multipliers import Compliances as Compliances
    from onesided.dynamics.multipliers import MinimalNorm as MinimalNorm
    from onesided.dynamics.multipliers import ReducedSet as ReducedSet
    from onesided.dynamics.penalty import prepared as prepared
    from onesided.dynamics.penalty import with_penalty as with_penalty
    from onesided.dynamics.program import TrustRegion as TrustRegion
    from onesided.dynamics.program import Uno as Uno
    from onesided.dynamics.radau import Radau as Radau
    from onesided.dynamics.simulate import iter_simulate as iter_simulate
    from onesided.dynamics.simulate import simulate as simulate
    from onesided.dynamics.steer import DirectCollocation as DirectCollocation
    from onesided.dynamics.steer import steer as steer
    from onesided.dynamics.variational import Variational as Variational
    from onesided.errors import ModelError as ModelError
    from onesided.errors import OnesidedError as OnesidedError
    from onesided.errors import SolveError as SolveError
    from onesided.model.compliance import HuntCrossley as HuntCrossley
    from onesided.model.compliance import KelvinVoigt as KelvinVoigt
    from onesided.model.compose import compose as compose
    from onesided.model.contact import Contact as Contact
    from onesided.model.contact import with_contacts as with_contacts
    from onesided.model.derivatives import Function as Function
    from onesided.model.files import load as load
    from onesided.model.files import loads as loads
    from onesided.model.held import Sampled as Sampled
    from onesided.model.import_dxf import read_dxf as read_dxf
    from onesided.model.imports import read_mesh as read_mesh
    from onesided.model.imports import read_truss as read_truss
    from onesided.model.robots import read_robot as read_robot
    from onesided.model.rows import rows as rows
    from onesided.model.sizes import Scales as Scales
    from onesided.model.surfaces import SurfacePair as SurfacePair
    from onesided.model.surfaces import check_surfaces as check_surfaces
    from onesided.model.surfaces import conformity as conformity
    from onesided.model.surfaces import surface_start as surface_start
    from onesided.model.surfaces import with_surfaces as with_surfaces
    from onesided.model.symmetry import Symmetry as Symmetry
    from onesided.model.symmetry_search import symmetry_of as symmetry_of
    from onesided.model.system import System as System
    from onesided.results import Coupled as Coupled
    from onesided.results import Diagram as Diagram
    from onesided.results import Drive as Drive
    from onesided.results import Equilibrium as Equilibrium
    from onesided.results import Event as Event
    from onesided.results import Kind as Kind
    from onesided.results import Modes as Modes
    from onesided.results import Motion as Motion
    from onesided.results import MotionEvent as MotionEvent
    from onesided.results import Occurrence as Occurrence
    from onesided.results import Path as Path
    from onesided.results import Ray as Ray
    from onesided.results import Solution as Solution
    from onesided.results import Steering as Steering
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
    from onesided.statics.steps import PredictorCorrector as PredictorCorrector
    from onesided.statics.within import Within as Within
    from onesided.statics.within import within as within
    from onesided.tolerances import Tolerances as Tolerances
    from onesided.verbs import solve as solve


_HOMES = {
    "Status": "_types",
    "all_solutions": "complementarity",
    "CableStructure": "complementarity_systems",
    "LinearComplementaritySystem": "complementarity_systems",
    "SlacknessSystem": "complementarity_systems",
    "LCP": "complementarity",
    "MLCP": "complementarity",
    "NCP": "complementarity",
    "couple": "dynamics.couple",
    "GaussSeidelSweeps": "dynamics.couple",
    "HiddenConstraint": "dynamics.couple",
    "EventDriven": "dynamics.event_driven",
    "Baumgarte": "dynamics.explicit",
    "Projected": "dynamics.explicit",
    "GeneralizedAlpha": "dynamics.generalized_alpha",
    "Index3": "dynamics.generalized_alpha",
    "StabilisedIndex2": "dynamics.generalized_alpha",
    "modes": "dynamics.modes",
    "Moreau": "dynamics.moreau",
    "Compliances": "dynamics.multipliers",
    "MinimalNorm": "dynamics.multipliers",
    "ReducedSet": "dynamics.multipliers",
    "prepared": "dynamics.penalty",
    "with_penalty": "dynamics.penalty",
    "Radau": "dynamics.radau",
    "iter_simulate": "dynamics.simulate",
    "simulate": "dynamics.simulate",
    "TrustRegion": "dynamics.program",
    "Uno": "dynamics.program",
    "DirectCollocation": "dynamics.steer",
    "steer": "dynamics.steer",
    "Variational": "dynamics.variational",
    "ModelError": "errors",
    "OnesidedError": "errors",
    "SolveError": "errors",
    "compose": "model.compose",
    "HuntCrossley": "model.compliance",
    "KelvinVoigt": "model.compliance",
    "Contact": "model.contact",
    "with_contacts": "model.contact",
    "Function": "model.derivatives",
    "load": "model.files",
    "loads": "model.files",
    "Sampled": "model.held",
    "read_dxf": "model.import_dxf",
    "read_mesh": "model.imports",
    "read_truss": "model.imports",
    "read_robot": "model.robots",
    "rows": "model.rows",
    "Scales": "model.sizes",
    "check_surfaces": "model.surfaces",
    "conformity": "model.surfaces",
    "surface_start": "model.surfaces",
    "SurfacePair": "model.surfaces",
    "with_surfaces": "model.surfaces",
    "Symmetry": "model.symmetry",
    "symmetry_of": "model.symmetry_search",
    "System": "model.system",
    "Coupled": "results",
    "Diagram": "results",
    "Drive": "results",
    "Equilibrium": "results",
    "Event": "results",
    "Kind": "results",
    "load_result": "results",
    "Modes": "results",
    "Motion": "results",
    "MotionEvent": "results",
    "Occurrence": "results",
    "Path": "results",
    "Ray": "results",
    "save": "results",
    "Solution": "results",
    "Steering": "results",
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
    "PredictorCorrector": "statics.steps",
    "within": "statics.within",
    "Within": "statics.within",
    "Tolerances": "tolerances",
    "solve": "verbs",
}

_PACKAGES = ("complementarity", "plots", "report", "zoo")

__all__ = ["__version__", *_HOMES]  # noqa: PLE0604 - the names are strings


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"onesided.{_HOMES[name]}"), name)
    if name in _PACKAGES:
        return import_module(f"onesided.{name}")
    raise AttributeError(f"module 'onesided' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*__all__, *_PACKAGES])
