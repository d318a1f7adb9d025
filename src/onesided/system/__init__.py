"""The statement of a system: energy, constraints, contacts, parameters, sizes, checks; nothing of solvers."""
