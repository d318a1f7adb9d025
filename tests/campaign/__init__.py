"""Random systems whose event lists are known exactly, held against what the tracer finds."""
