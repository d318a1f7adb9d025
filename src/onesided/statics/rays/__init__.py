"""All directions that leave a point, and its name."""
