"""Methods for motion without contacts."""
