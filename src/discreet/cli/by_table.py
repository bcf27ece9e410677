"""What is typed about columns, sorted by the tables that they are in: stay of one table, visits.stay of several."""

import csv
from collections.abc import Sequence

from discreet.core import InvalidInput
from discreet.gate.releases import one_line


def sorted_by_table(typed: Sequence[str] | None, names: Sequence[str], option: str, shape: str) -> dict[str, list[str]]:
    """Return what was typed for each table, without its name: all of it, if there is only one table."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for text in typed or ():
        if len(names) == 1:
            found[names[0]].append(text)
            continue
        table = _table_before(text, names, ".")
        if table is None:
            raise InvalidInput(
                f"{option} does not say which table it is about, and there are several.",
                fix=f"write the table before the column: {option} {one_line(names[0])}.{shape}",
            )
        found[table].append(text.strip()[len(table) + 1 :])
    return found


def words_of(typed: str | None) -> list[str]:
    """Return words with commas between them; one with a comma in it stands in quotes."""
    return [] if typed is None else next(csv.reader([typed], skipinitialspace=True), [])


def one_for_each(typed: Sequence[str] | None, names: Sequence[str], option: str, shape: str) -> dict[str, str]:
    """Return one word for each table: said once for all of them, or as TABLE=WORD; tables may be left out."""
    texts = list(typed or ())
    if len(names) == 1:
        if len(texts) > 1:
            raise InvalidInput(f"{option} is said twice.", fix="leave one out")
        return dict(zip(names, texts, strict=False))
    found: dict[str, str] = {}
    for text in texts:
        table = _table_before(text, names, "=")
        if table is None and len(texts) > 1:
            raise InvalidInput(
                f"{option} is said several times, and not of which table.",
                fix=f"write {option} {one_line(names[0])}={shape}, once for each table",
            )
        if table is None:
            return dict.fromkeys(names, text)
        if table in found:
            raise InvalidInput(f"{option} is said twice for {one_line(table)}.", fix="leave one out")
        found[table] = text.strip()[len(table) + 1 :]
    return found


def _table_before(text: str, names: Sequence[str], sign: str) -> str | None:
    """Return the table whose name a text begins with; the longest, as names may have signs in them."""
    typed = text.strip()
    fits = [name for name in names if typed[: len(name) + 1].casefold() == f"{name}{sign}".casefold()]
    return max(fits, key=len, default=None)


def told_of_publics(
    typed: Sequence[str] | None, names: Sequence[str], publics: Sequence[str]
) -> tuple[list[str], dict[str, list[str]]]:
    """Return what is typed of columns of private tables, and of public ones: these always have their table's name."""
    private, public = list[str](), dict[str, list[str]]()
    for text in typed or ():
        table = _table_before(text, [*names, *publics], ".")
        if table is None or table not in publics:
            private.append(text)
        else:
            public.setdefault(table, []).append(text.strip()[len(table) + 1 :])
    return private, public


def without_nobodys(typed: Sequence[str] | None, publics: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what is typed of persons, and the public tables of which it is said that nobody is in them: wards=-."""
    marks = {f"{name}=-".casefold(): name for name in publics}
    texts = [text.strip() for text in typed or ()]
    nobodys = [marks[text.casefold()] for text in texts if text.casefold() in marks]
    return [text for text in texts if text.casefold() not in marks], nobodys
