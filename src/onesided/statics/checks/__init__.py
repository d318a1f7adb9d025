"""What was traced is checked from the model: audit, energy balance, tracing again."""
