"""Above paths: sensitivities and curves of events, states of multistable systems, design."""
