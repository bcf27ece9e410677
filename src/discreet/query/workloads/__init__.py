"""Many questions in one plan: batches, hierarchies, and counts as days arrive."""
