"""SQL and data frames become plans.

Still empty. The passes that turn a question into an aggregate and a mechanism will live here.
"""

__all__: list[str] = []
