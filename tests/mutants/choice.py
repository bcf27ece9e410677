"""Chooses the planted bugs of a quick run: those near a change, and a random share of the others.

A bug is near a change if the function that it breaks, a file of the tests that guard it or its own description has
changed since the commit at which all bugs were last planted. Moved files, imports and docstrings are not changes. Of
the other bugs a share is drawn by the hash of the newest commit, so that every commit draws others and a run can be
repeated.
"""

import ast
import random
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from mutants.mutant import Mutant, find_definition

ROOT = Path(__file__).resolve().parent.parent.parent
#: Names the commit at which `make mutants` was last run; write the new one there after such a run.
BASE = ROOT / ".ci" / "mutants-base"
#: One in so many of the bugs that nothing has touched is planted all the same.
SHARE = 10


def choose(mutants: Sequence[Mutant], root: Path = ROOT, base: Path = BASE) -> tuple[list[Mutant], str]:
    """Return the planted bugs of a quick run in the order in which to plant them, and the reason in words."""
    since = base.read_text().strip() if base.exists() else ""
    listed, head = ask_git(root, "diff", "--name-status", "-M", since or "-"), ask_git(root, "rev-parse", "HEAD")
    if not since or listed is None or head is None:
        return list(mutants), "all of them: git does not know the commit at which all were last caught"
    untracked = ask_git(root, "ls-files", "--others", "--exclude-standard") or ""
    changes = Changes(root, since, {**_earlier_names(listed), **dict.fromkeys(untracked.splitlines())})
    described = _descriptions(root, since)
    touched = [mutant for mutant in mutants if mutant.bug not in described or changes.touch(mutant)]
    near = set(touched)
    rest = [mutant for mutant in mutants if mutant not in near]
    generator = random.Random(head.strip())
    drawn = generator.sample(rest, -(-len(rest) // SHARE))
    generator.shuffle(touched)
    words = (
        f"{len(touched)} near what changed since {since[:12]}, and {len(drawn)} of {len(rest)} others, drawn by commit"
    )
    return [*drawn, *touched], f"{words} {head.strip()[:12]}"


class Changes:
    """The differences between the files of a commit and those of the working tree."""

    def __init__(self, root: Path, since: str, earlier: dict[str, str | None]) -> None:
        self._root, self._since, self._earlier = root, since, earlier
        self._same = cache(self._is_same)
        self._before = cache(self._read_before)

    def touch(self, mutant: Mutant) -> bool:
        """Tell whether the function that a bug breaks, or one of its tests' files, has changed."""
        tests = {f"tests/{name.split('::')[0]}" for name in mutant.tests.split()}
        return self._broken(mutant) or any(not self._same(name) for name in self._files(tests))

    def _files(self, tests: set[str]) -> Iterator[str]:
        """Yield files of tests; a folder stands for all changed files below it."""
        for name in tests:
            yield from (each for each in self._earlier if each == name or each.startswith(f"{name}/"))

    def _broken(self, mutant: Mutant) -> bool:
        name = f"src/discreet/{mutant.file}"
        if self._same(name):
            return False
        now, before = (self._root / name).read_text(), self._before(name)
        if before is None or not name.endswith(".py"):
            return True
        return _definition(now, mutant.names) != _definition(before, mutant.names)

    def _is_same(self, name: str) -> bool:
        if name not in self._earlier:
            return True
        before, path = self._before(name), self._root / name
        if before is None or not path.exists() or not name.endswith(".py"):
            return False
        return _definition(path.read_text(), ()) == _definition(before, ())

    def _read_before(self, name: str) -> str | None:
        earlier = self._earlier[name]
        return None if earlier is None else ask_git(self._root, "show", f"{self._since}:{earlier}")


def _earlier_names(listed: str) -> dict[str, str | None]:
    """Return changed files and the names that they had before, from what `git diff --name-status` says."""
    names = [line.split("\t") for line in listed.splitlines()]
    return {parts[-1]: None if parts[0] == "A" else parts[1] for parts in names}


def _definition(text: str, place: tuple[str, ...]) -> str | None:
    """Return the code of one definition, or of a module, without imports, docstrings and layout."""
    try:
        node = find_definition(ast.parse(text), place)
    except SyntaxError:
        return text
    return None if node is None else ast.unparse(_Plain().visit(node))


class _Plain(ast.NodeTransformer):
    """Takes imports and docstrings out of a tree."""

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else node


def _descriptions(root: Path, since: str) -> str:
    """Return all texts in which bugs were described at a commit."""
    names = ask_git(root, "ls-tree", "-r", "--name-only", since, "tests/") or ""
    wanted = [name for name in names.splitlines() if "mutants" in name and name.endswith(".py")]
    return "\n".join(ask_git(root, "show", f"{since}:{name}") or "" for name in wanted)


def ask_git(root: Path, *words: str) -> str | None:
    """Return what a command of git prints; None where it fails."""
    try:
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
