"""Functions of time watched along a motion: interpolants that are cut until all zeros are known."""
