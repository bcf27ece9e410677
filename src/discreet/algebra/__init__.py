"""The query algebra, as public values: expressions, relations, aggregates, contribution bounds. Sees no row."""
