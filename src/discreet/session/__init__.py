"""A Gate with a friendly face.

Still empty. `discreet.open(...)` will make one.
"""

__all__: list[str] = []
