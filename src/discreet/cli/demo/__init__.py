"""The demo: a hospital that does not exist, and the story that is told about it."""
