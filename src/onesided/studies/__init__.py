"""Studies: one verb for many cases, on all cores or beyond, in a folder that grows and never loses."""
