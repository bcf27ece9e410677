"""Results: from noisy integers to a table with estimates, error bars and notes."""
