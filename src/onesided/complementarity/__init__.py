"""Complementarity problems, their methods, and all of their solutions."""

from onesided.complementarity.active_set import ActiveSet as ActiveSet
from onesided.complementarity.enumeration import Enumeration as Enumeration
from onesided.complementarity.gauss_seidel import GaussSeidel as GaussSeidel
from onesided.complementarity.hopfield import HopfieldNetwork as HopfieldNetwork
from onesided.complementarity.hopfield import PrintedHopfield as PrintedHopfield
from onesided.complementarity.lemke import Lemke as Lemke
from onesided.complementarity.method import Attempt as Attempt
from onesided.complementarity.method import Method as Method
from onesided.complementarity.mixed import Reduction as Reduction
from onesided.complementarity.mixed import eliminate as eliminate
from onesided.complementarity.mixed import split as split
from onesided.complementarity.newton import SemismoothNewton as SemismoothNewton
from onesided.complementarity.problems import LCP as LCP
from onesided.complementarity.problems import MLCP as MLCP
from onesided.complementarity.problems import NCP as NCP
from onesided.complementarity.problems import Problem as Problem
from onesided.complementarity.quadratic import QuadraticProgram as QuadraticProgram
from onesided.complementarity.solution_set import Face as Face
from onesided.complementarity.solution_set import SolutionSet as SolutionSet
from onesided.complementarity.solution_set import all_solutions as all_solutions
from onesided.complementarity.solving import solve as solve
