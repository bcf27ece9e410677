"""The terminal, over a session.

Still empty. Nothing here reaches below `session`.
"""

__all__: list[str] = []
