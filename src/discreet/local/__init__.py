"""Privacy at the source: the client encodes, the server estimates.

Still empty. Each device has its own purse; there is no ledger on the server.
"""

__all__: list[str] = []
