"""Planted bugs of personal accounts in tables; see `mutants`."""

from mutants.mutant import Mutant

UNIT = "unit/test_contributions.py"
CONTRACT = "contracts/test_contributions.py"
BY_HAND = f"{CONTRACT}::test_everything_is_asked_of_those_who_take_part"
WINDOWS = f"{CONTRACT}::test_a_unit_with_a_window_has_a_name_for_each_stretch_of_time_in_all_relations"
BUNDLES = "unit/test_bundles.py"

CONTRIBUTION_MUTANTS = [
    Mutant(
        "whose bundles are left out counts all the same",
        "data/sql/contributions.py::Bundles.select_admitted",
        "        if stay.all():\n",
        "        if stay.any():\n",
        BUNDLES,
    ),
    Mutant(
        "squares of bundles wrap",
        "data/sql/contributions.py::Bundles._sum_by_unit",
        "squares = number if most**2 < NARROW else number.astype(object)",
        "squares = number",
        BUNDLES,
    ),
    Mutant(
        "sums of bundles wrap",
        "data/sql/contributions.py::sum_by_place",
        "dtype=np.int64 if most < NARROW else object",
        "dtype=np.int64",
        BUNDLES,
    ),
    Mutant(
        "bundles are taken that 64 bits may not hold",
        "data/sql/contributions.py::fits",
        "reading.most * limit.rows_per_group * len(reading.terms) < NARROW",
        "reading.most * len(reading.terms) < NARROW",
        BUNDLES,
    ),
    Mutant(
        "truths have the names of other texts where many units are asked",
        "algebra/contributions.py::_write_values",
        "    if set(map(type, values)) <= {int, str}:\n",
        "    if set(map(type, values)) <= {int, str, bool}:\n",
        BUNDLES,
    ),
    Mutant(
        "who is left out counts all the same",
        "data/duckdb/contributions.py::select_admitted",
        "    if admitted.all():\n",
        "    if admitted.any():\n",
        BY_HAND,
    ),
    Mutant(
        "who is left out counts in what looks at whole units",
        "data/duckdb/contributions.py::select_admitted",
        "left = batch.among(admitted)",
        "left = batch",
        BY_HAND,
    ),
    Mutant(
        "values of those who stay are read at the places of all rows",
        "data/duckdb/contributions.py::_select_valid",
        "return stay if valid is None else stay[valid]",
        "return stay if valid is None else stay[: np.count_nonzero(valid)]",
        BY_HAND,
    ),
    Mutant(
        "a group that only those have who are left out is told",
        "data/duckdb/table.py::AggregationPass._add",
        "            batch = self._asking.among(batch,",
        "            self._counts_in[batch.row_codes() if not self._public else []] = True\n            batch = "
        "self._asking.among(batch,",
        BY_HAND,
    ),
    Mutant(
        "loads of those who are left out are counted",
        "data/duckdb/bounding.py::BoundedRows.among",
        "loads[admitted] if len(loads) == len(admitted) else NONE",
        "loads if len(loads) == len(admitted) else NONE",
        BY_HAND,
    ),
    Mutant(
        "who is left out counts among those who lose rows",
        "data/duckdb/bounding.py::BoundedRows.among",
        "(counted < counts) & admitted",
        "counted < counts",
        BY_HAND,
    ),
    Mutant(
        "what a unit adds is rounded to the nearest float",
        "data/sql/contributions.py::floats_above",
        "np.where(nearest.astype(np.int64) < numbers, np.nextafter(nearest, np.inf), nearest)",
        "nearest",
        UNIT,
    ),
    Mutant(
        "squares of large numbers are added up as floats",
        "data/duckdb/contributions.py::_exact_type",
        "return np.float64 if most < EXACT else np.int64 if most < NARROW else object",
        "return np.float64",
        f"{CONTRACT}::test_wide_numbers_are_told_exactly_and_rounded_up",
    ),
    Mutant(
        "all accounts of all ledgers have the same names",
        "data/duckdb/connection.py::_read_names",
        '.join(["$key", *parts])',
        '.join(["$key[1:0]", *parts])',
        f"{CONTRACT}::test_the_same_person_has_the_same_name_in_all_tables_and_another_with_another_key",
    ),
    Mutant(
        "where a condition picks units, others pay",
        "data/duckdb/clustering.py::place_rows",
        "units.names[first:last][present], first + present)",
        "units.names[first:last][present], present)",
        f"{UNIT}::test_units_of_several_spans_are_asked_once_each",
    ),
    Mutant(
        "of a relation, the first units of its table pay",
        "data/duckdb/contributions.py::build_admission",
        "accounts if places is None else accounts[places]",
        "accounts if places is None else accounts[: len(places)]",
        f"{CONTRACT}::test_units_that_a_relation_has_no_rows_of_do_not_pay_for_others",
    ),
    Mutant(
        "rows that are two people's are charged to one",
        "algebra/contributions.py::need_accounts",
        "if aggregation.source is not None and not is_owned(aggregation.source):",
        "if aggregation.source is None and not aggregation.aggregates:",
        f"{CONTRACT}::test_an_engine_asks_units_of_relations_where_it_is_rarely_told",
    ),
    Mutant(
        "on a server, what a unit adds is told before limits",
        "data/sql/statement.py::StatementWriter.asking",
        "FROM counted GROUP BY {units}",
        "FROM kept GROUP BY {units}",
        f"{CONTRACT}::test_what_is_added_is_told_after_limits_group_by_group",
    ),
    Mutant(
        "on a server, who is left out in one month is left out in all",
        "data/sql/rows.py::stays",
        "for place, unit in enumerate(units[1:], 1)",
        "for place, unit in enumerate(units[2:], 2)",
        WINDOWS,
    ),
    Mutant(
        "on a server, every statement has a transaction of its own",
        "data/postgres/sessions.py::Together.ask",
        "        return _rows(self.connection, text)\n",
        "        return [_rows(self.connection, text), *map(self.connection.execute, ('ROLLBACK', BEGIN))][0]\n",
        f"{CONTRACT}::test_who_comes_between_the_asking_and_the_counting_does_not_count",
    ),
    Mutant(
        "on a server, others may come between the asking and the counting",
        "data/postgres/sessions.py",
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
        f"{CONTRACT}::test_who_comes_between_the_asking_and_the_counting_does_not_count",
    ),
]
