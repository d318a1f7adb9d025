"""What verbs return: plain frozen data, independent of the solvers that made it."""

from onesided.results.diagram import Diagram as Diagram
from onesided.results.drive import Drive as Drive
from onesided.results.drive import Jump as Jump
from onesided.results.equilibrium import ActiveSet as ActiveSet
from onesided.results.equilibrium import Equilibrium as Equilibrium
from onesided.results.equilibrium import Recheck as Recheck
from onesided.results.equilibrium import State as State
from onesided.results.modes import Modes as Modes
from onesided.results.motion import Correction as Correction
from onesided.results.motion import Drift as Drift
from onesided.results.motion import Motion as Motion
from onesided.results.motion import MotionEvent as MotionEvent
from onesided.results.motion import Occurrence as Occurrence
from onesided.results.motion_store import motion_event_record as motion_event_record
from onesided.results.path import Event as Event
from onesided.results.path import Kind as Kind
from onesided.results.path import Path as Path
from onesided.results.path import Ray as Ray
from onesided.results.path import Rays as Rays
from onesided.results.progress import SILENT as SILENT
from onesided.results.progress import Progress as Progress
from onesided.results.solution import Solution as Solution
from onesided.results.store import check_folder as check_folder
from onesided.results.store import event_record as event_record
from onesided.results.store import load_result as load_result
from onesided.results.store import save as save
