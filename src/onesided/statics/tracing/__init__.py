"""From point to point along a path: steps, events within them, the tracer."""
