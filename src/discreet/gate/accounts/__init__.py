"""Who pays: the dataset's account, or each person's, with balances and charges."""
