"""Planted bugs of keys that lead to the person; see `mutants`."""

from mutants.mutant import Mutant

CONTRACT = "contracts/test_person_keys.py"
UNIT = "unit/test_person_keys.py"
SAME = f"{CONTRACT}::test_a_key_leads_rows_to_the_same_people_on_all_engines"
MOVED = f"{CONTRACT}::test_one_person_moves_what_a_key_leads_to_no_farther_than_declared_if_others_have_the_same_keys"

PERSON_KEY_MUTANTS = [
    Mutant(
        "a kept import does not know what its tables were called",
        "data/reading/table_sources.py::Entering.stamp",
        'made_of = f"{self.declaration.table.casefold()} {made_of}"',
        "pass",
        f"{UNIT}::test_a_kept_import_is_made_anew_if_a_key_leads_to_another_table",
    ),
    Mutant(
        "a key that people share belongs to nobody",
        "data/duckdb/importing.py::_keep_owners",
        'f"WHERE {person} IS NOT NULL"',
        'f"WHERE {person} IS NOT NULL QUALIFY count(DISTINCT {person}) OVER (PARTITION BY '
        "{', '.join(item.split()[0] for item in items)}) = 1\"",
        MOVED,
    ),
    Mutant(
        "a row is a person's as often as its key is",
        "data/duckdb/importing.py::_keep_owners",
        "SELECT DISTINCT {', '.join(items)}",
        "SELECT {', '.join(items)}",
        f"{SAME}[duckdb]",
    ),
    Mutant(
        "one column of a key is enough to lead to the person",
        "data/duckdb/importing.py::_add_person",
        '" AND ".join(f"s.c{numbers[own.name]} = o.k{place}" for place, (own, _) in enumerate(pairs))',
        'f"s.c{numbers[pairs[0][0].name]} = o.k0"',
        f"{SAME}[duckdb]",
    ),
    Mutant(
        "rows are led to people in another order than they came",
        "data/duckdb/importing.py::_add_person",
        "ORDER BY s.rowid, o.person",
        "ORDER BY s.rowid DESC, o.person",
        f"{SAME}[duckdb]",
    ),
    Mutant(
        "on a server, a row is a person's as often as its key is",
        "data/postgres/catalogue.py::_add_person",
        "SELECT DISTINCT {', '.join(keys)}",
        "SELECT {', '.join(keys)}",
        f"{SAME}[postgres]",
    ),
    Mutant(
        "a kept import is used again though a key leads elsewhere",
        "data/reading/table_sources.py::Entering.stamp",
        'made_of = f"{made_of} {self.declaration.via}"',
        "pass",
        f"{CONTRACT}::test_a_kept_import_is_made_anew_if_a_key_leads_elsewhere",
    ),
    Mutant(
        "a row of one period hangs on one of another",
        "data/reading/foreign_keys.py::_parent_place",
        "if declaration.unit.window is not None:",
        "if declaration.unit.window is not None and via.column == '':",
        f"{CONTRACT}::test_a_key_that_leads_to_rows_of_another_period_is_refused",
    ),
    Mutant(
        "a ledger does not hold a table to its key",
        "session/ledger_notes.py::_list_columns",
        "return columns if key is None else [*columns, str(key).casefold()]",
        "return columns",
        f"{UNIT}::test_a_ledger_holds_a_table_to_its_key",
    ),
    Mutant(
        "a part of a key is taken for the key",
        "query/relations/person_keys.py::compares_keys",
        "set(zip(key.held_in, other_key.held_in, strict=True)) <= columns",
        "set(zip(key.held_in, other_key.held_in, strict=True)) & columns",
        f"{UNIT}::test_other_comparisons_join_people_with_each_other_and_are_refused",
    ),
    Mutant(
        "halves of a key are taken from different rows",
        "query/relations/person_keys.py::find_origin",
        "find_origin(name, right, (*path, 1))",
        "find_origin(name, right, (*path, 0))",
        f"{UNIT}::test_halves_of_a_key_from_different_rows_are_no_key",
    ),
]
