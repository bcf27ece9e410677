"""Tables on a PostgreSQL server: contributions are bounded by SQL on the server."""
