"""Complementarity systems in motion [QT]: problem classes, methods, and cables with memory."""

from onesided.dynamics.switching.cable_structures import CableLaw as CableLaw
from onesided.dynamics.switching.cable_structures import CableStructure as CableStructure
from onesided.dynamics.switching.cable_structures import Elastic as Elastic
from onesided.dynamics.switching.cable_structures import PerfectlyPlastic as PerfectlyPlastic
from onesided.dynamics.switching.cable_structures import WorkHardening as WorkHardening
from onesided.dynamics.switching.frozen import ByState as ByState
from onesided.dynamics.switching.frozen import Decider as Decider
from onesided.dynamics.switching.frozen import FrozenModes as FrozenModes
from onesided.dynamics.switching.frozen import GaussPrinciple as GaussPrinciple
from onesided.dynamics.switching.frozen import PrintedNetwork as PrintedNetwork
from onesided.dynamics.switching.frozen import RungeKutta as RungeKutta
from onesided.dynamics.switching.linear import LinearComplementaritySystem as LinearComplementaritySystem
from onesided.dynamics.switching.located_switches import LocatedSwitches as LocatedSwitches
from onesided.dynamics.switching.looked_at import Measure as Measure
from onesided.dynamics.switching.runs import Claim as Claim
from onesided.dynamics.switching.runs import LinearRun as LinearRun
from onesided.dynamics.switching.runs import RunPoint as RunPoint
from onesided.dynamics.switching.runs import RunTrail as RunTrail
from onesided.dynamics.switching.signals import Harmonic as Harmonic
from onesided.dynamics.switching.signals import Signal as Signal
from onesided.dynamics.switching.simulate_switching import iter_simulate as iter_simulate
from onesided.dynamics.switching.simulate_switching import simulate as simulate
from onesided.dynamics.switching.slackness import SlacknessSystem as SlacknessSystem
from onesided.dynamics.switching.smallest import Smallest as Smallest
from onesided.dynamics.switching.smallest import Smoothed as Smoothed
from onesided.dynamics.switching.switching_motion import SwitchingMethod as SwitchingMethod
from onesided.dynamics.switching.time_stepping import TimeStepping as TimeStepping

EventDriven = LocatedSwitches  # its name before 0.2
MotionMethod = SwitchingMethod  # the name of the base class of methods until 0.2
