"""Equilibrium paths and motion of mechanical systems whose constraints act on one side only.

Names are imported when first used: `import onesided` loads neither JAX nor SciPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from onesided._version import __version__ as __version__

if TYPE_CHECKING:
    from onesided.base.errors import ModelError as ModelError
    from onesided.base.errors import OnesidedError as OnesidedError
    from onesided.base.errors import SolveError as SolveError
    from onesided.base.tolerances import Tolerances as Tolerances
    from onesided.base.types import Status as Status
    from onesided.complementarity import LCP as LCP
    from onesided.complementarity import MLCP as MLCP
    from onesided.complementarity import NCP as NCP
    from onesided.complementarity import all_solutions as all_solutions
    from onesided.complementarity_systems import CableStructure as CableStructure
    from onesided.complementarity_systems import LinearComplementaritySystem as LinearComplementaritySystem
    from onesided.complementarity_systems import SlacknessSystem as SlacknessSystem
    from onesided.dynamics.contacts.event_driven import EventDriven as EventDriven
    from onesided.dynamics.contacts.moreau import Moreau as Moreau
    from onesided.dynamics.couple import GaussSeidelSweeps as GaussSeidelSweeps
    from onesided.dynamics.couple import HiddenConstraint as HiddenConstraint
    from onesided.dynamics.couple import couple as couple
    from onesided.dynamics.modes import modes as modes
    from onesided.dynamics.multipliers import Compliances as Compliances
    from onesided.dynamics.multipliers import MinimalNorm as MinimalNorm
    from onesided.dynamics.multipliers import ReducedSet as ReducedSet
    from onesided.dynamics.penalty import prepared as prepared
    from onesided.dynamics.penalty import with_penalty as with_penalty
    from onesided.dynamics.simulate import iter_simulate as iter_simulate
    from onesided.dynamics.simulate import simulate as simulate
    from onesided.dynamics.smooth.explicit import Baumgarte as Baumgarte
    from onesided.dynamics.smooth.explicit import Projected as Projected
    from onesided.dynamics.smooth.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
    from onesided.dynamics.smooth.generalized_alpha import Index3 as Index3
    from onesided.dynamics.smooth.generalized_alpha import StabilisedIndex2 as StabilisedIndex2
    from onesided.dynamics.smooth.radau import Radau as Radau
    from onesided.dynamics.smooth.variational import Variational as Variational
    from onesided.dynamics.steering.program import TrustRegion as TrustRegion
    from onesided.dynamics.steering.program import Uno as Uno
    from onesided.dynamics.steering.steer import DirectCollocation as DirectCollocation
    from onesided.dynamics.steering.steer import steer as steer
    from onesided.evaluation.derivatives import Function as Function
    from onesided.evaluation.rows import rows as rows
    from onesided.files.import_dxf import read_dxf as read_dxf
    from onesided.files.imports import read_mesh as read_mesh
    from onesided.files.imports import read_truss as read_truss
    from onesided.files.reading import load as load
    from onesided.files.reading import loads as loads
    from onesided.files.robots import read_robot as read_robot
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
    from onesided.statics.curves.stability import instability as instability
    from onesided.statics.drive import drive as drive
    from onesided.statics.equilibria.find_equilibrium import Newton as Newton
    from onesided.statics.equilibria.relax import Relaxation as Relaxation
    from onesided.statics.explore import diagram as diagram
    from onesided.statics.paths import branch as branch
    from onesided.statics.paths import iter_trace as iter_trace
    from onesided.statics.paths import trace as trace
    from onesided.statics.rays.rates import rates as rates
    from onesided.statics.rays.rays import rays as rays
    from onesided.statics.tracing.integrate import FirstOrder as FirstOrder
    from onesided.statics.tracing.steps import PredictorCorrector as PredictorCorrector
    from onesided.statics.within import Within as Within
    from onesided.statics.within import within as within
    from onesided.structures.compose import compose as compose
    from onesided.structures.symmetry_search import symmetry_of as symmetry_of
    from onesided.system.compliance import HuntCrossley as HuntCrossley
    from onesided.system.compliance import KelvinVoigt as KelvinVoigt
    from onesided.system.contact import Contact as Contact
    from onesided.system.contact import with_contacts as with_contacts
    from onesided.system.held import Sampled as Sampled
    from onesided.system.sizes import Scales as Scales
    from onesided.system.surfaces import SurfacePair as SurfacePair
    from onesided.system.surfaces import check_surfaces as check_surfaces
    from onesided.system.surfaces import conformity as conformity
    from onesided.system.surfaces import surface_start as surface_start
    from onesided.system.surfaces import with_surfaces as with_surfaces
    from onesided.system.symmetry import Symmetry as Symmetry
    from onesided.system.system import System as System
    from onesided.verbs import solve as solve


_HOMES = {
    "Status": "base.types",
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
    "EventDriven": "dynamics.contacts.event_driven",
    "Baumgarte": "dynamics.smooth.explicit",
    "Projected": "dynamics.smooth.explicit",
    "GeneralizedAlpha": "dynamics.smooth.generalized_alpha",
    "Index3": "dynamics.smooth.generalized_alpha",
    "StabilisedIndex2": "dynamics.smooth.generalized_alpha",
    "modes": "dynamics.modes",
    "Moreau": "dynamics.contacts.moreau",
    "Compliances": "dynamics.multipliers",
    "MinimalNorm": "dynamics.multipliers",
    "ReducedSet": "dynamics.multipliers",
    "prepared": "dynamics.penalty",
    "with_penalty": "dynamics.penalty",
    "Radau": "dynamics.smooth.radau",
    "iter_simulate": "dynamics.simulate",
    "simulate": "dynamics.simulate",
    "TrustRegion": "dynamics.steering.program",
    "Uno": "dynamics.steering.program",
    "DirectCollocation": "dynamics.steering.steer",
    "steer": "dynamics.steering.steer",
    "Variational": "dynamics.smooth.variational",
    "ModelError": "base.errors",
    "OnesidedError": "base.errors",
    "SolveError": "base.errors",
    "compose": "structures.compose",
    "HuntCrossley": "system.compliance",
    "KelvinVoigt": "system.compliance",
    "Contact": "system.contact",
    "with_contacts": "system.contact",
    "Function": "evaluation.derivatives",
    "load": "files.reading",
    "loads": "files.reading",
    "Sampled": "system.held",
    "read_dxf": "files.import_dxf",
    "read_mesh": "files.imports",
    "read_truss": "files.imports",
    "read_robot": "files.robots",
    "rows": "evaluation.rows",
    "Scales": "system.sizes",
    "check_surfaces": "system.surfaces",
    "conformity": "system.surfaces",
    "surface_start": "system.surfaces",
    "SurfacePair": "system.surfaces",
    "with_surfaces": "system.surfaces",
    "Symmetry": "system.symmetry",
    "symmetry_of": "structures.symmetry_search",
    "System": "system.system",
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
    "Newton": "statics.equilibria.find_equilibrium",
    "diagram": "statics.explore",
    "FirstOrder": "statics.tracing.integrate",
    "branch": "statics.paths",
    "iter_trace": "statics.paths",
    "trace": "statics.paths",
    "rates": "statics.rays.rates",
    "rays": "statics.rays.rays",
    "Relaxation": "statics.equilibria.relax",
    "instability": "statics.curves.stability",
    "PredictorCorrector": "statics.tracing.steps",
    "within": "statics.within",
    "Within": "statics.within",
    "Tolerances": "base.tolerances",
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
