"""Which planted bugs a quick run plants: those that a change may have let loose, and a random share of the others.

A bug is planted if its file, a file of the tests that guard it or its own description has changed since the commit at
which all bugs were last planted. Of the others a share is drawn by the hash of the newest commit, so that every commit
draws others and a run can be repeated.
"""

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

from mutant import Mutant

ROOT = Path(__file__).resolve().parent.parent
#: Names the commit at which `make mutants` was last run; write the new one there after such a run.
BASE = ROOT / ".ci" / "mutants-base"
#: One in so many of the bugs that nothing has touched is planted all the same.
SHARE = 10


def choose(mutants: Sequence[Mutant], root: Path = ROOT, base: Path = BASE) -> tuple[list[Mutant], str]:
    """Return the planted bugs of a quick run, and why it is these, in words."""
    since = base.read_text().strip() if base.exists() else ""
    changed, head = _ask_git(root, "diff", "--name-only", since or "-"), _ask_git(root, "rev-parse", "HEAD")
    if not since or changed is None or head is None:
        return list(mutants), "all of them: git does not know the commit at which all were last caught"
    untracked = _ask_git(root, "ls-files", "--others", "--exclude-standard") or ""
    files = {*changed.splitlines(), *untracked.splitlines()}
    described = _descriptions(root, since)
    touched = [mutant for mutant in mutants if _files(mutant) & files or mutant.bug not in described]
    rest = [mutant for mutant in mutants if mutant not in touched]
    drawn = random.Random(head.strip()).sample(rest, -(-len(rest) // SHARE))
    words = (
        f"{len(touched)} near what changed since {since[:12]}, and {len(drawn)} of {len(rest)} others, drawn by commit"
    )
    return [*touched, *drawn], f"{words} {head.strip()[:12]}"


def _files(mutant: Mutant) -> set[str]:
    tests = {f"tests/{name.split('::')[0]}" for name in mutant.tests.split()}
    return {f"src/discreet/{mutant.file}", *tests}


def _descriptions(root: Path, since: str) -> str:
    """Return all texts in which bugs were described at a commit."""
    names = _ask_git(root, "ls-tree", "--name-only", since, "tests/") or ""
    wanted = [name for name in names.splitlines() if name.endswith("mutants.py")]
    return "\n".join(_ask_git(root, "show", f"{since}:{name}") or "" for name in wanted)


def _ask_git(root: Path, *words: str) -> str | None:
    try:
        return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
