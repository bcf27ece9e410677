"""The ledger: what is written, in which order, and what follows from it for the budget."""
