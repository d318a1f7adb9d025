"""What everything needs, without mechanics: status, errors, tolerances, arguments, files, signals."""
