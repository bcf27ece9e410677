"""From a text to a checked tree: tokens, spellings of other databases, grammar."""
