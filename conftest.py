"""The rule for large packages that may be missing: their tests are skipped, and the reason is printed once."""

import os
import re
from importlib.util import find_spec

import pytest

#: Packages that may be missing, most of them as only `make everything` installs them, and the variable that makes each
#: one required.
LARGE = {
    "torch": "DISCREET_NEEDS_TORCH",
    "pyspark": "DISCREET_NEEDS_SPARK",
    **dict.fromkeys(("starlette", "uvicorn", "httpx", "mcp", "schemathesis"), "DISCREET_NEEDS_SERVICE"),
}
MISSING = [name for name in LARGE if find_spec(name) is None]


def pytest_configure() -> None:
    """Stop where a package is missing that must be there, as in .ci/run."""
    for name in MISSING:
        if os.environ.get(LARGE[name]):
            raise pytest.UsageError(f"{LARGE[name]} is set, and {name} is not installed: run `make everything`")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the examples of pages that import a missing package; test modules call `pytest.importorskip`."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and (name := _missing_in(item)):
            item.add_marker(pytest.mark.skip(reason=f"{name} is not installed"))


def _missing_in(item: pytest.DoctestItem) -> str | None:
    sources = [example.source for example in item.dtest.examples] if item.dtest else []
    return next((name for name in MISSING if any(_imports(name, source) for source in sources)), None)


def _imports(name: str, source: str) -> bool:
    return re.match(rf"(?:import|from) (?:discreet\.learn\.)?{name}\b", source) is not None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out, and how to bring it in."""
    for name in MISSING:
        terminalreporter.write_line(f"{name} is not installed: its tests were skipped. `make everything` installs it.")
