"""What everything needs and what knows no mechanics: status, errors, tolerances, arguments, files, signals."""
