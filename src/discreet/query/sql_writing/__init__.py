"""Questions as SQL: the one text that each question, relation and expression has."""
