"""Design: derivatives of events, curves of events in two parameters, and what is built on them."""
