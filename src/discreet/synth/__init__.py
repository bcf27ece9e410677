"""Synthetic tables become plans.

Still empty. Measured marginals in, rows of nobody out.
"""

__all__: list[str] = []
