"""SQL that engines share: relations, contribution bounds and exact sums in one statement."""
