"""The equations of motion of a system, compiled when they are first asked for."""

from functools import cached_property
from typing import TYPE_CHECKING

from onesided.evaluation.compiling import Compiled
from onesided.evaluation.motion_functions import MotionFunctions
from onesided.system.contact import ContactFunctions, Leaping
from onesided.system.point_checks import resting_force

if TYPE_CHECKING:
    from onesided.system.system import System


class MotionCompilers:
    """Equations of motion, made when they are first asked for and shared by systems that differ in parameters."""

    def __init__(self, system: "System") -> None:
        self._system = system

    @cached_property
    def motion(self) -> MotionFunctions:
        """Equations with joints; gaps are not looked at."""
        parts = self._system.structure
        return MotionFunctions(self._system) if parts is None else parts.motion_functions(self._system)

    @cached_property
    def resting_force(self) -> Compiled:
        """Compiled forces at zero velocity."""
        return resting_force(self._system)

    @cached_property
    def contact_motion(self) -> Leaping:
        """Equations with joints and contacts."""
        parts = self._system.structure
        return ContactFunctions(self._system) if parts is None else parts.contact_functions(self._system)
