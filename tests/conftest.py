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
    """Collect tests without looking for garbage among them: there are many, and they live as long as the run."""
    gc.disable()
    yield
    gc.enable()
