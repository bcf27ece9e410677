"""Functions of one row as SQL writes them, and constants, read into expressions."""
