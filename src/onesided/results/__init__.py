"""What verbs return: plain frozen data, independent of the solvers that made it."""

from onesided.results.solution import Solution as Solution
