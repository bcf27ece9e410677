"""Compiles the C files of the package where there is a compiler; without one, Python does the same work, slower.

Each `name.c` becomes a shared library beside it (`libname.so`, `libname.dylib` or `name.dll`), which
`discreet.core.compiled` loads. It is plain C11 and uses nothing of Python, so that one wheel fits all versions of it.
"""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from itertools import pairwise
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Floats are rounded as they are written: no flag lets the compiler change the order of additions, or fuse operations.
UNIX_FLAGS = (
    *("-O3", "-std=c11", "-fPIC", "-shared", "-fvisibility=hidden"),
    *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"),
    '-DEXPORT=__attribute__((visibility("default")))',
)
MSVC_FLAGS = ("/nologo", "/O2", "/std:c11", "/fp:precise", "/LD", "/DEXPORT=__declspec(dllexport)")
#: Further flags for whoever tests the build: warnings as errors, sanitizers. Users' own CFLAGS are not read, as these
#: could let floats be rounded otherwise.
MORE_FLAGS = "DISCREET_CFLAGS"
#: The oldest macOS that a library is made for, by architecture, unless MACOSX_DEPLOYMENT_TARGET names another.
OLDEST_MACOS = {"arm64": "11.0", "x86_64": "10.13", "universal2": "10.13"}


def library_of(source: Path, system: str = sys.platform) -> Path:
    """Return the name of the shared library that is made of a C file; never one that Python would import."""
    if system == "win32":
        return source.with_suffix(".dll")
    return source.with_name(f"lib{source.stem}{'.dylib' if system == 'darwin' else '.so'}")


def compile_file(source: Path) -> str:
    """Compile a C file, and return an empty text or the reason for a failure. A failure leaves no old library."""
    made = library_of(source)
    made.unlink(missing_ok=True)
    compiler = shlex.split(os.environ.get("CC") or ("cl" if sys.platform == "win32" else "cc"))
    if shutil.which(compiler[0]) is None:
        return "there is no C compiler"
    new = made.with_suffix(".compiling")
    # The library carries the hash of its source, so that one made of another text is not loaded.
    made_of = f'MADE_OF="{hashlib.sha256(source.read_bytes()).hexdigest()}"'
    done = subprocess.run(  # noqa: S603 - the builder's own compiler
        arguments(compiler, source, new, made_of), check=False, capture_output=True, text=True, cwd=source.parent
    )
    if done.returncode:
        return done.stderr or done.stdout or f"{compiler[0]} ended with {done.returncode}"
    for rest in source.parent.glob(f"{source.stem}.*"):  # MSVC leaves these
        if rest.suffix in (".obj", ".exp", ".lib"):
            rest.unlink()
    new.replace(made)  # at once: processes that run meanwhile load none, or a whole one
    return ""


def arguments(compiler: list[str], source: Path, made: Path, made_of: str, system: str = sys.platform) -> list[str]:
    """Return the command that compiles a C file to a library."""
    more = shlex.split(os.environ.get(MORE_FLAGS, ""))
    if system == "win32":
        return [*compiler, *MSVC_FLAGS, *more, f"/D{made_of}", str(source), "/link", f"/OUT:{made}"]
    if system == "darwin":
        kinds = architectures()
        more += [part for kind in kinds for part in ("-arch", kind)] + [f"-mmacosx-version-min={oldest_macos(kinds)}"]
    return [*compiler, *UNIX_FLAGS, f"-D{made_of}", *more, "-o", str(made), str(source), "-lm"]


def wheel_platform(system: str = sys.platform) -> str:
    """Return the platform of a wheel's tag. On Linux `auditwheel` replaces it by one that other machines accept."""
    if system != "darwin":
        return sysconfig.get_platform().replace("-", "_").replace(".", "_")
    kinds = architectures()
    kind = "universal2" if len(kinds) > 1 else kinds[0]
    return f"macosx_{oldest_macos(kinds).replace('.', '_')}_{kind}"


def architectures() -> list[str]:
    """Return the architectures to compile for on macOS: those in ARCHFLAGS, as cibuildwheel sets it, or this one."""
    given = shlex.split(os.environ.get("ARCHFLAGS", ""))
    return sorted(kind for flag, kind in pairwise(given) if flag == "-arch") or [platform.machine()]


def oldest_macos(kinds: list[str]) -> str:
    """Return the oldest version of macOS to compile for, with two numbers, as tags have it."""
    default = OLDEST_MACOS["universal2" if len(kinds) > 1 else kinds[0]]
    major, _, minor = os.environ.get("MACOSX_DEPLOYMENT_TARGET", default).partition(".")
    return f"{major}.{0 if int(major) >= 11 else minor or 0}"  # from macOS 11 on, tags know the first number alone


class CompilingHook(BuildHookInterface):  # type: ignore[misc, type-arg] # hatchling is there when it builds
    """Compiles before files are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's own names
        """Compile, and list the libraries; a wheel with compiled parts is for one kind of machine."""
        for source in sorted(Path(self.root).glob("src/**/*.c")):
            if why := compile_file(source):
                self.app.display_warning(f"{source.name} is not compiled; all works, slower: {why}")
                continue
            build_data["artifacts"].append(f"/{library_of(source).relative_to(self.root).as_posix()}")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{wheel_platform()}"
