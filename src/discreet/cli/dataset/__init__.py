"""Reads and shows datasets: what is declared about tables, how they are opened, and how answers are shown."""
