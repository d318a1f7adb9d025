"""Motion of systems with joints: consistent starts, steppers, monitors, modes."""
