"""Stores of ledger entries: SQLite, PostgreSQL, and the queues of group commit."""
