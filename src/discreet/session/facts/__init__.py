"""Public facts of a dataset: all that reading, planning and pricing a question needs, and no private row."""
