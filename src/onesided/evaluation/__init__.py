"""Everything compiled: derivatives, and loops of many steps in one call."""
