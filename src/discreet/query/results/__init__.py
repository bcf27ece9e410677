"""From noisy integers to a table: estimates, error bars, notes."""
