"""Motion with contacts: event-driven phases and time stepping."""
