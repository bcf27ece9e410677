"""Tests of a large package are skipped where it is missing, with a reason; where it is required, nothing runs."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "torch.md": ">>> import torch\n>>> 1\n1\n",
    "module.md": ">>> from discreet.learn.torch import Training\n>>> 1\n1\n",
    "pyspark.md": ">>> import pyspark\n>>> 1\n1\n",
    "plain.md": ">>> 1\n1\n",
}


@pytest.fixture
def rule():
    """Return the project's own conftest, loaded once more."""
    spec = importlib.util.spec_from_file_location("rule_under_test", ROOT / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def outcomes(rule, tmp_path, monkeypatch):
    """Return a function that collects the pages without some packages, and tells which are skipped."""
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text)

    class Collected:
        def pytest_collection_modifyitems(self, items):
            rule.pytest_collection_modifyitems(items)
            self.skipped = {item.path.name for item in items if item.get_closest_marker("skip")}

    def collect(*missing):
        monkeypatch.setattr(rule, "MISSING", list(missing))
        collected = Collected()
        options = ["--rootdir", str(tmp_path), "-c", "/dev/null", "--doctest-glob=*.md", "-p", "no:terminal"]
        assert pytest.main([*options, "--collect-only", str(tmp_path)], plugins=[collected]) == pytest.ExitCode.OK
        return collected.skipped

    return collect


def test_pages_that_import_a_missing_package_are_skipped(outcomes):
    assert outcomes() == set()
    assert outcomes("torch") == {"torch.md", "module.md"}
    assert outcomes("pyspark") == {"pyspark.md"}


def test_a_missing_package_that_is_required_stops_the_run(rule, monkeypatch):
    monkeypatch.setattr(rule, "MISSING", ["torch"])
    monkeypatch.delenv("DISCREET_NEEDS_TORCH", raising=False)
    rule.pytest_configure()
    monkeypatch.setenv("DISCREET_NEEDS_TORCH", "1")
    with pytest.raises(pytest.UsageError, match="run `make everything`"):
        rule.pytest_configure()
