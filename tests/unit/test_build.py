"""The package builds with a compiler and without one, and says which it was."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))
from hatch_build import compile_file


@pytest.fixture
def source(tmp_path):
    """Return a C file that has an older library beside it."""
    (tmp_path / "part.compiled").write_bytes(b"of an older text")
    path = tmp_path / "part.c"
    path.write_text("int one(void) { return 1; }")
    return path


@pytest.mark.parametrize(("compiler", "why"), [("/bin/false", "ended with 1"), ("no-such-compiler", "no C compiler")])
def test_a_compiler_that_fails_leaves_a_reason_and_nothing_old(compiler, why, source, monkeypatch):
    monkeypatch.setenv("CC", compiler)
    assert why in compile_file(source)
    assert not source.with_suffix(".compiled").exists()


def test_a_file_that_is_no_c_leaves_a_reason(source, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    source.write_text("this is no C")
    assert compile_file(source)
    assert not source.with_suffix(".compiled").exists()


def test_no_name_for_the_compiler_is_the_usual_one(source, monkeypatch):
    monkeypatch.setenv("CC", "")
    assert compile_file(source) in ("", "there is no C compiler")
