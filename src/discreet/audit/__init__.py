"""Attacks on our own claims, from outside.

Still empty. Uses the public face of the other rooms and never their internals.
"""

__all__: list[str] = []
