"""Complementarity systems in motion [QT]: problem classes, methods, and cables with memory."""

from onesided.complementarity_systems.cables import CableLaw as CableLaw
from onesided.complementarity_systems.cables import CableStructure as CableStructure
from onesided.complementarity_systems.cables import Elastic as Elastic
from onesided.complementarity_systems.cables import PerfectlyPlastic as PerfectlyPlastic
from onesided.complementarity_systems.cables import WorkHardening as WorkHardening
from onesided.complementarity_systems.event_driven import EventDriven as EventDriven
from onesided.complementarity_systems.frozen import ByState as ByState
from onesided.complementarity_systems.frozen import Decider as Decider
from onesided.complementarity_systems.frozen import FrozenModes as FrozenModes
from onesided.complementarity_systems.frozen import GaussPrinciple as GaussPrinciple
from onesided.complementarity_systems.frozen import PrintedNetwork as PrintedNetwork
from onesided.complementarity_systems.frozen import RungeKutta as RungeKutta
from onesided.complementarity_systems.linear import LinearComplementaritySystem as LinearComplementaritySystem
from onesided.complementarity_systems.methods import iter_simulate as iter_simulate
from onesided.complementarity_systems.methods import simulate as simulate
from onesided.complementarity_systems.pieces import Smallest as Smallest
from onesided.complementarity_systems.pieces import Smoothed as Smoothed
from onesided.complementarity_systems.runs import Claim as Claim
from onesided.complementarity_systems.runs import MotionMethod as MotionMethod
from onesided.complementarity_systems.runs import Point as Point
from onesided.complementarity_systems.runs import Run as Run
from onesided.complementarity_systems.runs import Trail as Trail
from onesided.complementarity_systems.signals import Harmonic as Harmonic
from onesided.complementarity_systems.signals import Signal as Signal
from onesided.complementarity_systems.slackness import SlacknessSystem as SlacknessSystem
from onesided.complementarity_systems.stepping import TimeStepping as TimeStepping
