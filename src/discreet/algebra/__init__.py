"""What may be asked, as public values: expressions, relations, aggregates, contribution bounds. Sees no row."""
