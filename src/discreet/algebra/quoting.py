"""Names and texts as SQL: in quotes, with quotes inside of them doubled. Nothing else escapes."""


def quoted(name: str) -> str:
    """Return a name."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text."""
    return "'" + text.replace("'", "''") + "'"
