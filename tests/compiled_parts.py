"""Which parts are compiled, and how tests do without them."""

import os
from importlib import import_module

import pytest

#: The modules that have a C file beside them, and the name under which they know what was compiled of it.
PARTS = ("discreet.noise.compiled_draws", "discreet.learn.torch.gradient_noise", "discreet.learn.torch.rounding")
WAYS = ("compiled", "in Python")


def choose(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all parts be done one way; where nothing is compiled, skip, unless somebody said that it must be."""
    for name in PARTS:
        module = import_module(name)
        if way != "compiled":
            monkeypatch.setattr(module, "_library", lambda: None)
        elif module._library() is None:
            if os.environ.get("DISCREET_NEEDS_COMPILED"):
                pytest.fail(f"{name} has nothing compiled")
            pytest.skip(f"{name} has nothing compiled")
