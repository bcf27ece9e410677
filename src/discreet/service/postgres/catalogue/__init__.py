"""The catalogue: what clients ask of `pg_catalog` and `information_schema`, answered from public facts."""
