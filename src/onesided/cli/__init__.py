"""The command line: one command per verb."""
