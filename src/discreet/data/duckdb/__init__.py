"""The embedded engine: rows are imported into a locked DuckDB, and contributions are bounded in this process."""
