"""Complementarity systems in motion [QT]: problem classes, methods, and cables with memory."""

from onesided.complementarity_systems.cable_structures import CableLaw as CableLaw
from onesided.complementarity_systems.cable_structures import CableStructure as CableStructure
from onesided.complementarity_systems.cable_structures import Elastic as Elastic
from onesided.complementarity_systems.cable_structures import PerfectlyPlastic as PerfectlyPlastic
from onesided.complementarity_systems.cable_structures import WorkHardening as WorkHardening
from onesided.complementarity_systems.frozen import ByState as ByState
from onesided.complementarity_systems.frozen import Decider as Decider
from onesided.complementarity_systems.frozen import FrozenModes as FrozenModes
from onesided.complementarity_systems.frozen import GaussPrinciple as GaussPrinciple
from onesided.complementarity_systems.frozen import PrintedNetwork as PrintedNetwork
from onesided.complementarity_systems.frozen import RungeKutta as RungeKutta
from onesided.complementarity_systems.linear import LinearComplementaritySystem as LinearComplementaritySystem
from onesided.complementarity_systems.located_switches import LocatedSwitches as LocatedSwitches
from onesided.complementarity_systems.looked_at import Measure as Measure
from onesided.complementarity_systems.methods import iter_simulate as iter_simulate
from onesided.complementarity_systems.methods import simulate as simulate
from onesided.complementarity_systems.runs import Claim as Claim
from onesided.complementarity_systems.runs import LinearRun as LinearRun
from onesided.complementarity_systems.runs import MotionMethod as MotionMethod
from onesided.complementarity_systems.runs import RunPoint as RunPoint
from onesided.complementarity_systems.runs import RunTrail as RunTrail
from onesided.complementarity_systems.signals import Harmonic as Harmonic
from onesided.complementarity_systems.signals import Signal as Signal
from onesided.complementarity_systems.slackness import SlacknessSystem as SlacknessSystem
from onesided.complementarity_systems.smallest import Smallest as Smallest
from onesided.complementarity_systems.smallest import Smoothed as Smoothed
from onesided.complementarity_systems.time_stepping import TimeStepping as TimeStepping

EventDriven = LocatedSwitches  # its name before 0.2
