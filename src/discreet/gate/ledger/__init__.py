"""The ledger: its entries, their order, and the budget that follows from them."""
