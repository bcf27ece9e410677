"""Noise and accounting together: an exact answer in, a private answer out, with its cost stated."""

__all__: list[str] = []
