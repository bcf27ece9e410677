"""Where entries of a ledger are kept: SQLite, PostgreSQL, and the queues of group commit."""
