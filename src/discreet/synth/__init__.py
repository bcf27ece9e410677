"""Synthetic tables become plans.

Still empty. Measured marginals in, invented rows out.
"""

__all__: list[str] = []
