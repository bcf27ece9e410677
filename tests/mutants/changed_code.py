"""Makes bugs at random where code has changed, to find claims that no test guards.

A planted bug breaks a claim that somebody thought of. A bug made at random shows changed code that no test of its file
looks at. Such a bug may change nothing that can be observed, so that survivors are listed for a reader and do not fail
the run.
"""

import ast
import random
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mutants.choice import BASE, ROOT, ask_git
from mutants.mutant import Mutant

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
FUNCTIONS = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
#: Code in these has no effect on answers: messages, annotations, and declarations of types.
SILENT = (ast.Raise, ast.JoinedStr, ast.arguments, ast.Import, ast.ImportFrom, ast.Assert)
#: At most so many files of tests are run against one bug.
MOST_TESTS = 4


@dataclass(frozen=True, slots=True)
class RandomBug(Mutant):
    """A bug that was made at random: `old` stands at one place, by its first line and byte."""

    line: int
    column: int

    def plant(self, text: str) -> str:
        """Return the text of the file with the bug in it."""
        lines = text.encode().splitlines(keepends=True)
        begin = sum(map(len, lines[: self.line - 1])) + self.column
        whole, old = b"".join(lines), self.old.encode()
        assert whole[begin : begin + len(old)] == old
        return (whole[:begin] + self.new.encode() + whole[begin + len(old) :]).decode()


def make_bugs(planted: Sequence[Mutant], count: int, root: Path = ROOT, base: Path = BASE) -> tuple[list[Mutant], str]:
    """Return bugs on lines that changed since the last run of all planted ones, and the commit that drew them."""
    since, head = base.read_text().strip(), (ask_git(root, "rev-parse", "HEAD") or "").strip()
    difference = ask_git(root, "diff", "-U0", "-M", since, "--", "src/discreet") or ""
    candidates = []
    for name, lines in _changed_lines(difference).items():
        path = root / name
        if name.endswith(".py") and path.exists():
            file = name.removeprefix("src/discreet/")
            tests = " ".join(_find_tests(file, planted, root))
            candidates += list(_bugs_in(file, path.read_text(), tests, lines)) if tests else []
    drawn = random.Random(head).sample(candidates, min(count, len(candidates)))
    return list(drawn), f"{len(drawn)} of {len(candidates)} bugs at random in code that changed, drawn by {head[:12]}"


def _changed_lines(difference: str) -> dict[str, set[int]]:
    """Return the new line numbers of each file in what `git diff -U0` says."""
    lines: dict[str, set[int]] = {}
    name = ""
    for line in difference.splitlines():
        if line.startswith("+++ b/"):
            name = line.removeprefix("+++ b/")
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            begin, length = int(match[1]), int(match[2] or 1)
            lines.setdefault(name, set()).update(range(begin, begin + length))
    return lines


def _find_tests(file: str, planted: Sequence[Mutant], root: Path) -> list[str]:
    """Return the files of tests that guard a module: those of its planted bugs, then those that import it."""
    guards = [test.split("::")[0] for bug in planted if bug.file == file for test in bug.tests.split()]
    module = ".".join(("discreet", *Path(file).with_suffix("").parts)).removesuffix(".__init__")
    named = re.compile(rf"^\s*(from|import) {re.escape(module)}\b", re.MULTILINE)
    guards += [name for name, text in _read_tests(root / "tests").items() if named.search(text)]
    return list(dict.fromkeys(guards))[:MOST_TESTS]


@cache
def _read_tests(tests: Path) -> dict[str, str]:
    return {str(path.relative_to(tests)): path.read_text() for path in sorted(tests.glob("*/test_*.py"))}


def _bugs_in(file: str, text: str, tests: str, lines: Container[int]) -> Iterator[RandomBug]:
    """Yield the bugs that can be made of code on one of some lines."""
    code = text.encode().splitlines()
    for node, new in _mutate(ast.parse(text)):
        if node.lineno not in lines or node.end_lineno != node.lineno:
            continue
        old = code[node.lineno - 1][node.col_offset : node.end_col_offset].decode()
        bug = f"{file}:{node.lineno}: {old} becomes {new}"
        yield RandomBug(bug, file, old, new, tests, node.lineno, node.col_offset)


def _mutate(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yield expressions and statements of a tree, each with the code of a wrong one in its place."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "bases", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, SILENT):
                yield from _mutate(child)
    if isinstance(node, ast.expr | ast.stmt):
        for wrong in _wrong_forms(node):
            yield node, ast.unparse(wrong)


def _wrong_forms(node: ast.expr | ast.stmt) -> Iterator[ast.AST]:
    match node:
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield ast.Constant(value + 1)
        case ast.Name(id=name) if name in FUNCTIONS:
            yield ast.Name(FUNCTIONS[name])
        case ast.Attribute(value=value, attr=name) if name in FUNCTIONS:
            yield ast.Attribute(value, FUNCTIONS[name])
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.expr():
            # In brackets, so that what stands around it binds no tighter.
            yield from (ast.Name(f"({ast.unparse(wrong)})") for wrong in _wrong_operations(node))


def _wrong_operations(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left=left, ops=[operator], comparators=values) if type(operator) in COMPARISONS:
            yield ast.Compare(left, [COMPARISONS[type(operator)]()], values)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in ARITHMETIC:
            yield ast.BinOp(left, ARITHMETIC[type(operator)](), right)
        case ast.BoolOp(op=operator, values=values):
            yield ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            yield ast.IfExp(test, otherwise, body)
