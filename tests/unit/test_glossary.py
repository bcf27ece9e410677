"""The glossary names things of the code: a word whose class was renamed is found here."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
#: Rows of its tables: the word, its meaning, and the field's other words.
ROWS = [line.strip("|").split(" | ") for line in GLOSSARY.splitlines() if line.startswith("| ")]


def test_every_word_has_a_meaning_and_the_words_of_the_field():
    assert len(ROWS) > 90
    assert [row[0] for row in ROWS if len(row) != 3 or not all(cell.strip() for cell in row)] == []


def test_every_name_in_the_glossary_is_a_name_in_the_code():
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    known = set(re.findall(r"\w+", code))
    named = {
        name
        for word, meaning, *_ in ROWS
        for quoted in re.findall(r"`([^`]+)`", f"{word} {meaning}")
        for name in re.findall(r"[A-Za-z_]\w*", quoted)
    }
    assert len(named) > 40
    assert sorted(named - known) == []
