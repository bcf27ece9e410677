"""`discreet.toml`: the file that declares tables, their privacy unit and their ledger."""
