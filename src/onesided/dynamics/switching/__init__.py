"""Complementarity systems in motion [QT]: pairs 0 ≤ s ⊥ w ≥ 0 that switch, such as cables that go slack and yield."""

from onesided.dynamics.switching import simulate_switching as simulate_switching  # `simulate` learns of these systems
