"""Frozen values whose fields are checked at birth."""


def settle(value: object, **fields: object) -> None:
    """Set the fields of a frozen value in its `__init__`, and nowhere else."""
    for name, field in fields.items():
        object.__setattr__(value, name, field)
