"""The one door: Plan, Gate, Ledger, accounts, Release.

Still empty. Prices, pays, runs and releases. Never sees SQL text or what a plan computes.
"""

__all__: list[str] = []
