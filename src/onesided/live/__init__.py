"""A live page on this machine: parameters are sliders, p is a handle, the mechanism follows and jumps."""
