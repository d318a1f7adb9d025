"""What a mechanical system is: functions of (q, p), constraints, parameters; nothing of solvers."""
