"""Reads and shows privacy losses: how a loss is typed, what it promises, and the pictures of it."""
