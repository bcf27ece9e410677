"""The package builds with a compiler and without one, and says which it was."""

import ctypes
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from discreet.core.compiled import library_path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))
import hatch_build  # noqa: E402
from hatch_build import MORE_FLAGS, arguments, compile_file, library_of, wheel_platform  # noqa: E402

SYSTEMS = ("linux", "darwin", "win32")


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Return a C file that has an older library beside it."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.delenv(MORE_FLAGS, raising=False)
    path = tmp_path / "part.c"
    path.write_text("EXPORT const char *made_of(void) { return MADE_OF; } int hidden(int unused) { return 1; }")
    library_of(path).write_bytes(b"of an older text")
    return path


@pytest.fixture
def mac(monkeypatch):
    """Build as on a Mac with an Apple processor."""
    monkeypatch.delenv("ARCHFLAGS", raising=False)
    monkeypatch.delenv("MACOSX_DEPLOYMENT_TARGET", raising=False)
    monkeypatch.setattr(hatch_build.platform, "machine", lambda: "arm64")
    return monkeypatch


@pytest.mark.parametrize(("compiler", "why"), [("/bin/false", "ended with 1"), ("no-such-compiler", "no C compiler")])
def test_a_compiler_that_fails_leaves_a_reason_and_nothing_old(compiler, why, source, monkeypatch):
    monkeypatch.setenv("CC", compiler)
    assert why in compile_file(source)
    assert not library_of(source).exists()


def test_a_file_that_is_no_c_leaves_a_reason(source):
    source.write_text("this is no C")
    assert compile_file(source)
    assert not library_of(source).exists()


def test_no_name_for_the_compiler_is_the_usual_one(source, monkeypatch):
    monkeypatch.setenv("CC", "")
    assert compile_file(source) in ("", "there is no C compiler")


def test_a_library_exports_what_is_marked_alone(source):
    if compile_file(source) == "there is no C compiler":
        pytest.skip("there is no C compiler")
    library = ctypes.CDLL(str(library_of(source)))
    assert library.made_of
    assert not hasattr(library, "hidden")
    assert sorted(path.name for path in source.parent.iterdir()) == sorted([source.name, library_of(source).name])


def test_a_warning_fails_where_that_is_asked_for_and_never_else(source, monkeypatch):
    if compile_file(source) == "there is no C compiler":
        pytest.skip("there is no C compiler")
    monkeypatch.setenv("CFLAGS", "-Wall -Wextra -Werror")
    assert compile_file(source) == ""
    monkeypatch.setenv(MORE_FLAGS, "-Wall -Wextra -Werror")
    assert "unused" in compile_file(source)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_library_is_loaded_by_the_name_that_it_is_built_with(system):
    """A name that Python would import in place of the module would break the module."""
    built = library_of(Path("src/discreet/noise/lookup.c"), system)
    assert built == library_path("src/discreet/noise/lookup.py", system)
    assert built.suffix == {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}[system]
    assert built.name not in {f"lookup{suffix}" for suffix in (*EXTENSION_SUFFIXES, ".pyd")}


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_system_lets_the_compiler_round_floats_otherwise(system, mac, monkeypatch):
    monkeypatch.setenv("CFLAGS", "-ffast-math")
    command = arguments(["compiler"], Path("part.c"), Path("made"), 'MADE_OF="hash"', system)
    assert command[0] == "compiler"
    assert ("/fp:precise" if system == "win32" else "-ffp-contract=off") in command
    assert not [flag for flag in command if "fast" in flag or "unsafe" in flag]


@pytest.mark.parametrize(
    ("flags", "target", "tag", "archs"),
    [
        ("", "", "macosx_11_0_arm64", ["arm64"]),
        ("-arch x86_64", "", "macosx_10_13_x86_64", ["x86_64"]),
        ("-arch x86_64", "10.15", "macosx_10_15_x86_64", ["x86_64"]),
        ("-arch arm64", "13.4", "macosx_13_0_arm64", ["arm64"]),
        ("-arch x86_64 -arch arm64", "11", "macosx_11_0_universal2", ["arm64", "x86_64"]),
    ],
)
def test_a_wheel_for_macos_is_tagged_with_what_it_is_compiled_for(flags, target, tag, archs, mac):
    if flags:
        mac.setenv("ARCHFLAGS", flags)
    if target:
        mac.setenv("MACOSX_DEPLOYMENT_TARGET", target)
    assert wheel_platform("darwin") == tag
    command = arguments(["cc"], Path("part.c"), Path("made"), 'MADE_OF="hash"', "darwin")
    assert [command[place + 1] for place, flag in enumerate(command) if flag == "-arch"] == archs
    version = tag.removeprefix("macosx_").rsplit("_", len(archs[-1].split("_")) if len(archs) == 1 else 1)[0]
    assert f"-mmacosx-version-min={version.replace('_', '.')}" in command
