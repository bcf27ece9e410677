"""Compiles the C files of the package where there is a compiler; without one, what they do is done in Python.

Each `name.c` becomes `name.compiled` beside it, a library that `discreet.core.compiled` loads. It is made of plain C
and knows nothing of Python, so that one fits all versions of it.
"""

import hashlib
import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: Floats are rounded as they are written: nothing here lets the compiler change the order of additions.
FLAGS = ("-O3", "-std=c11", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off")


def compile_file(source: Path) -> str:
    """Compile a C file, and return why it could not be done, or nothing. An old one does not stay."""
    made, new = source.with_suffix(".compiled"), source.with_suffix(".compiling")
    made.unlink(missing_ok=True)
    command = shlex.split(os.environ.get("CC") or "cc")
    if os.name != "posix" or shutil.which(command[0]) is None:
        return "there is no C compiler"
    # What is loaded is known by what it was made of.
    made_of = f'-DMADE_OF="{hashlib.sha256(source.read_bytes()).hexdigest()}"'
    done = subprocess.run(  # noqa: S603 - the compiler that whoever builds has
        [*command, *FLAGS, made_of, "-o", str(new), str(source), "-lm"], check=False, capture_output=True, text=True
    )
    if done.returncode:
        return done.stderr or f"{command[0]} ended with {done.returncode}"
    new.replace(made)  # at once: who runs meanwhile has none or all of it
    return ""


class CompilingHook(BuildHookInterface):  # type: ignore[misc, type-arg] # hatchling is there when it builds
    """Compiles before files are gathered."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's own names
        """Compile, and name what was made; a wheel with compiled parts is for one kind of machine."""
        for source in sorted(Path(self.root).glob("src/**/*.c")):
            if why := compile_file(source):
                self.app.display_warning(f"{source.name} is not compiled; all works, slower: {why}")
                continue
            build_data["artifacts"].append(f"/{source.with_suffix('.compiled').relative_to(self.root)}")
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
