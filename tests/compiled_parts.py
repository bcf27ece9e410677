"""Which parts are compiled, and how tests do without them."""

import os
from importlib import import_module

import pytest

#: The modules that have a C file beside them.
DRAWS = "discreet.noise.lookup"
ADDING, ROUNDING = "discreet.learn.torch.dpsgd", "discreet.learn.torch.rounding"
WAYS = ("compiled", "in Python")


def choose(way: str, monkeypatch: pytest.MonkeyPatch, *parts: str) -> None:
    """Let parts be done one way; where one is not compiled, skip, unless somebody said that it must be."""
    for name in parts:
        module = import_module(name)
        if way != "compiled":
            monkeypatch.setattr(module, "_library", lambda: None)
        elif module._library() is None:
            if os.environ.get("DISCREET_NEEDS_COMPILED"):
                pytest.fail(f"{name} has nothing compiled")
            pytest.skip(f"{name} has nothing compiled")
    if DRAWS in parts:
        monkeypatch.setattr("discreet.noise.lookup.LEAST", 1)  # C for single draws, too
