"""Entries of a ledger: events, the hash chain that links them, and the budgets, costs and runs that they state."""
