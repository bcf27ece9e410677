"""Accounts: one privacy budget for the dataset, or one for each person, with balances and charges."""
