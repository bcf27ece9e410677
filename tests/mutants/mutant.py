"""A planted bug: a piece of code in one definition of the package that is replaced by another."""

import ast
import builtins
import re
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeAlias

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class NoPlace(Exception):
    """The code that a bug replaces does not stand exactly once in its definition."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted bug.

    Attributes:
        bug: What is wrong with the package while it is planted.
        place: A file below the package and, after `::`, the qualified name of the definition, as in
            `noise/stream.py::Stream.words`. Without a name, the code stands outside of definitions.
        old: Code of the definition that stands there exactly once. Line breaks and indents between words may differ.
        new: The code in its place.
        tests: The tests that must fail, as for pytest, below `tests`.

    """

    bug: str
    place: str
    old: str
    new: str
    tests: str

    @property
    def file(self) -> str:
        """The file below the package."""
        return self.place.partition("::")[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the definitions around the code, the outermost first."""
        return tuple(name for name in self.place.partition("::")[2].split(".") if name)

    def plant(self, text: str) -> str:
        """Return the text of the file with the bug in it."""
        begin, end = find_span(text, self.names)
        matches = list(re.compile(_pattern(self.old)).finditer(text, begin, end))
        if len(matches) != 1:
            raise NoPlace(f"{self.bug}: the code to replace stands {len(matches)} times in {self.place}")
        return text[: matches[0].start()] + self.new + text[matches[0].end() :]


def find_definition(tree: ast.AST, names: Sequence[str]) -> ast.AST | None:
    """Return the definition with a qualified name; the tree itself without names, None where there is no such one."""
    for name in names:
        named = [node for node in definitions_in(tree) if node.name == name]
        if not named:
            return None
        tree = named[-1]  # those before it are overloads
    return tree


def definitions_in(node: ast.AST) -> Iterator[Definition]:
    """Yield the definitions directly inside a node, those under conditions among them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield child
        else:
            yield from definitions_in(child)


#: The last text is kept: many bugs are planted in one file.
parse = lru_cache(maxsize=1)(ast.parse)


@cache
def find_span(text: str, names: tuple[str, ...]) -> tuple[int, int]:
    """Return where a definition begins and ends in a text, its decorators included."""
    if not names:
        return 0, len(text)
    node = find_definition(parse(text), names)
    if not isinstance(node, Definition):
        raise NoPlace(f"there is no definition {'.'.join(names)}")
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: first - 1])), sum(map(len, lines[: node.end_lineno]))


def undefined_names(text: str) -> set[str]:
    """Return the names that a module uses and that nothing defines, neither it nor Python."""
    table = symtable.symtable(text, "", "exec")
    tables = [table]
    for inner in tables:
        tables += inner.get_children()
    used = {symbol.get_name() for inner in tables for symbol in inner.get_symbols() if symbol.is_global()}
    used |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    known = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    known |= {inner.get_name() for inner in table.get_children()}
    return used - known - set(dir(builtins)) - {"__file__", "__name__", "__doc__"}


def _pattern(code: str) -> str:
    """Return a regular expression for code whose words stand apart by any white space."""
    words = r"\s+".join(map(re.escape, code.split()))
    before, after = code[: len(code) - len(code.lstrip())], code[len(code.rstrip()) :]
    return f"{re.escape(before)}{words}{re.escape(after)}"
