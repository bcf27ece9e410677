"""Settings that all tests share."""

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

from case_choice import leave_to_others

# Derandomised, so that a red run is a change's fault; no deadline, as machines are shared.
settings.register_profile("house", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("house")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave cases that take long to other targets, before pytest deselects by marks."""
    leave_to_others(items)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Look for garbage neither while tests are collected nor later among them: they are many, and live to the end."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
