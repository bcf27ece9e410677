"""Planted bugs of tables in PostgreSQL, and of the SQL that engines share; see `mutants`. They need a server."""

from mutants.mutant import Mutant

OWN = "unit/test_data_postgres.py"
CONTRACT = "contracts/test_data_engines.py"

FORMS = f"{OWN}::test_each_form_of_the_statement_keeps_the_limits"

POSTGRES_MUTANTS = [
    # What the server could tell.
    Mutant(
        "PostgreSQL: all sums of a group are one value",
        "data/postgres/personal.py::packing_of.write_statement",
        'f"({size}) / {LINE}")',
        'f"({size}) * 0")',
        "attacks/test_personal_sums_of_large_groups.py",
    ),
    Mutant(
        "PostgreSQL: people of a group that has several lines count in its last",
        "data/postgres/personal.py::_unpack_lines",
        "place = groups.setdefault(tuple(line[:width]), len(groups))",
        "place = groups[tuple(line[:width])] = len(groups)",
        "attacks/test_personal_sums_of_large_groups.py",
    ),
    Mutant(
        "PostgreSQL: ids of those who leave are told as texts, which an error logs",
        "data/postgres/personal.py::LeaverTable.fill",
        "FROM STDIN BINARY",
        "FROM STDIN",
        "attacks/test_ids_in_the_servers_log.py",
    ),
    Mutant(
        "PostgreSQL: the table of those who leave is made as the role begins transactions",
        "data/postgres/personal.py::LeaverTable.creation",
        "BEGIN READ WRITE; ",
        "BEGIN; ",
        "attacks/test_ids_in_the_servers_log.py",
    ),
    Mutant(
        "PostgreSQL: ids of those who leave stand in a statement",
        "data/postgres/personal.py::LeaverTable.fill",
        "            for unit in leavers:\n                copy.write_row(unit)\n",
        "            pass\n        for unit in leavers:\n            connection.execute(\n"
        "                f\"INSERT INTO {self._name} VALUES ({', '.join(['%s'] * len(unit))})\", unit\n            )\n",
        "attacks/test_ids_in_the_servers_log.py",
    ),
    Mutant(
        "PostgreSQL: a statement tells that somebody leaves",
        "data/postgres/personal.py::answer_among",
        "    leaving.fill(transaction.connection, asking.leavers(transaction.ask(asking.text), admission))\n",
        "    gone = asking.leavers(transaction.ask(asking.text), admission)\n"
        "    if gone:\n        leaving.fill(transaction.connection, gone)\n",
        "attacks/test_ids_in_the_servers_log.py",
    ),
    Mutant(
        "PostgreSQL: what people are charged is a parameter of a statement",
        "gate/stores/postgres.py::PostgresStore._flush",
        "            self._copy(*PIECES, ((number, part, piece) for part, piece in pieces_of(people)))",
        '            self._insert("insert into pieces(number, part, piece) values(%s, %s, %b)", '
        "[(number, part, piece) for part, piece in pieces_of(people)])",
        "attacks/test_ids_in_the_servers_log.py",
    ),
    # Which rows count.
    Mutant(
        "PostgreSQL: a unit keeps one group too many",
        "data/sql/statement.py::StatementWriter._all_bundles",
        'chosen = f"({ranked}) AS h WHERE q <= {self._limit.groups}"',
        'chosen = f"({ranked}) AS h WHERE q <= {self._limit.groups + 1}"',
        FORMS,
    ),
    Mutant(
        "PostgreSQL: all rows of a unit with too many count",
        "data/sql/statement.py::StatementWriter._select_crowded",
        "AS h WHERE {self._stays}",
        "AS h WHERE p >= 0",
        FORMS,
    ),
    Mutant(
        "PostgreSQL: groups of NULL that are crowded are not found again",
        "data/sql/rows.py::PassedRows.is_among",
        'agreed.append(f"coalesce(k.{name}, {stands}) = coalesce(i.{name}, {stands})")',
        'agreed.append(f"k.{name} = i.{name}")',
        f"{OWN}::test_a_crowded_group_of_null_is_not_one_of_nothing",
    ),
    Mutant(
        "PostgreSQL: NULL and what it is taken for are one group",
        "data/sql/rows.py::PassedRows.is_among",
        'agreed.append(f"(k.{name} IS NULL) = (i.{name} IS NULL)")',
        "pass",
        f"{OWN}::test_a_crowded_group_of_null_is_not_one_of_nothing",
    ),
    Mutant(
        "PostgreSQL: bundles that are added up are counted as one person",
        "data/sql/statement.py::StatementWriter._add_bundles",
        'sums = {"n": dialect.wide_sum("n"), "v": "count(*)"}',
        'sums = {"n": dialect.wide_sum("n"), "v": "1"}',
        FORMS,
    ),
    Mutant(
        "PostgreSQL: other windows of a person with too many rows count twice",
        "data/sql/statement.py::StatementWriter._number_crowded",
        "AS i WHERE {self._rows.is_among(crowded, self._together)}",
        "AS i",
        f"{OWN}::test_a_window_makes_several_units_of_one_person",
    ),
    Mutant(
        "PostgreSQL: rows are numbered from one on",
        "data/sql/statement.py::StatementWriter._number_crowded",
        "{self._rows.ordering}) - 1",
        "{self._rows.ordering}) - 0",
        FORMS,
    ),
    Mutant(
        "PostgreSQL: rows have the marks of groups",
        "data/sql/rows.py::PassedRows.select_rows",
        "{(self.salt + 1) & MASK}",
        "{(self.salt + 0) & MASK}",
        FORMS,
    ),
    Mutant(
        "PostgreSQL: rows of nobody are somebody's",
        "data/sql/rows.py::build_passed_rows",
        'rows.add_condition(f"{rows.units[0].text} IS NOT NULL")',
        'rows.add_condition("1 = 1")',
        f"{OWN}::test_rows_of_nobody_do_not_count_where_the_person_is_a_key",
    ),
    Mutant(
        "PostgreSQL: a tie of public groups goes to the smaller value",
        "data/sql/rows.py::PassedRows.add_key",
        "values = key.values if public else tuple(",
        "values = tuple(",
        f"{CONTRACT}::test_a_tie_of_groups_goes_to_the_first",
    ),
    Mutant(
        "PostgreSQL: a declared order is forgotten",
        "data/postgres/catalogue.py::private_relation",
        "order = [*([] if first is None else [first]), *(",
        "order = [*(",
        f"{CONTRACT}::test_rows_keep_their_order_in_tables_of_many_blocks",
    ),
    Mutant(
        "PostgreSQL: a unit that is asked about keeps one group too many",
        "data/sql/statement.py::StatementWriter._select_bundles",
        'where = f" WHERE q <= {self._limit.groups}" if',
        'where = f" WHERE q <= {self._limit.groups + 1}" if',
        FORMS,
    ),
    Mutant(
        "PostgreSQL: a unit with several cells in a group is several people",
        "data/sql/statement.py::StatementWriter._groups",
        "if self._needs.people and self._needs.cells and self._rows.units:",
        "if self._needs.people and not self._rows.units:",
        FORMS,
    ),
    Mutant(
        "PostgreSQL: cells of a group count by themselves",
        "data/sql/statement.py::StatementWriter._counting",
        'in_group = together if self._needs.cells else "n"',
        'in_group = "n"',
        FORMS,
    ),
    Mutant(
        "PostgreSQL: the planner may compare one person's rows with all others",
        "data/postgres/sessions.py",
        '    "enable_nestloop": "off",\n',
        "",
        "attacks/test_planner_is_led_astray.py",
    ),
    # What they hold.
    Mutant(
        "PostgreSQL: large integers are summed in 32 bits",
        "data/sql/requirements.py",
        "SHORT, TINY = 2**31, 2**27\n",
        "SHORT, TINY = 2**54, 2**27\n",
        f"{OWN}::test_sums_are_exact_beyond_64_bits",
    ),
    Mutant(
        "PostgreSQL: 1.0 and 1.00 are two people",
        "data/postgres/column_types.py::_as_text",
        'f"trim_scale({own})"',
        "own",
        f"{OWN}::test_different_people_stay_different_and_equal_ones_equal",
    ),
    Mutant(
        "PostgreSQL: NaN is a number",
        "data/postgres/column_types.py::_finite",
        "WHEN abs({own}) < 'infinity'::float8",
        "WHEN abs({own}) > '-1'::float8",
        f"{OWN}::test_what_is_no_value_is_null",
    ),
    Mutant(
        "PostgreSQL: sums that are too large are left to the server",
        "data/postgres/numbers.py::add_pieces",
        "if a.most + b.most < SURELY_FINITE:",
        "if a.most + b.most > 0:",
        f"{OWN}::test_a_long_sum_is_not_written_out_twice_at_each_level",
    ),
    # What stands in the database.
    Mutant(
        "PostgreSQL: a view that a row makes fail is opened",
        "data/postgres/catalogue.py::private_relation",
        "    if not declaration.never_fails:\n",
        "    if declaration.never_fails:\n",
        "attacks/test_view_that_fails.py::test_a_view_that_may_fail_is_refused_whatever_its_rows_are",
    ),
    Mutant(
        "PostgreSQL: only the view itself is looked at, not what it reads",
        "data/postgres/catalogue.py::_reasons_against",
        '        waiting += [int(oid) for oid in RELATION.findall(definition or "") if int(oid)]\n',
        "",
        "attacks/test_view_that_fails.py::test_a_view_that_computes_is_refused",
    ),
    Mutant(
        "PostgreSQL: partitions are not looked at",
        "data/postgres/catalogue.py::_reasons_against",
        '        waiting += [int(oid) for oid in (parts or "").split()]\n',
        "",
        "attacks/test_view_that_fails.py::test_a_foreign_table_and_what_has_one_among_its_parts_are_refused",
    ),
    # The server.
    Mutant(
        "PostgreSQL: a question may write",
        "data/postgres/sessions.py",
        'BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"',
        'BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ"',
        f"{OWN}::test_nothing_can_be_written",
    ),
    Mutant(
        "PostgreSQL: the operator's log quotes rows",
        "data/postgres/sessions.py::_without_rows",
        "f\"{type(error).__name__}, {error.sqlstate or 'connection lost'}\"",
        'f"{error.sqlstate} {error}"',
        f"{OWN}::test_what_a_row_makes_the_server_say_is_told_to_nobody",
    ),
    Mutant(
        "PostgreSQL: a dropped connection fails the next question",
        "data/postgres/sessions.py::Sessions._open_transaction",
        "            except psycopg.Error:\n                _drop(idle)\n",
        "            except psycopg.Error:\n                _drop(idle)\n                raise\n",
        f"{OWN}::test_a_connection_that_the_server_dropped_is_replaced",
    ),
    Mutant(
        "PostgreSQL: functions of others are called",
        "data/postgres/sessions.py",
        '    "search_path": "pg_catalog",\n',
        "",
        f"{OWN}::test_names_of_others_are_not_found_first",
    ),
    Mutant(
        "PostgreSQL: a question has all the time in the world",
        "data/postgres/sessions.py::Sessions._begin",
        '"statement_timeout": f"{max(int(self._settings.seconds * 1000), 1)}ms"',
        '"statement_timeout": "20s"',
        f"{OWN}::test_a_question_that_takes_too_long_is_given_up",
    ),
    Mutant(
        "an index on some rows is a key",
        "data/postgres/catalogue.py",
        "AND i.indpred IS NULL AND i.indexprs IS NULL",
        "AND i.indexprs IS NULL",
        "unit/test_data_postgres.py::test_a_person_who_is_a_key_has_one_row_and_is_not_counted",
    ),
    Mutant(
        "a key of a table is one of its children",
        "data/postgres/catalogue.py",
        "WHERE h.inhparent = {table}::oid)",
        "WHERE h.inhparent = 0::oid)",
        "unit/test_data_postgres.py::test_a_person_who_is_a_key_has_one_row_and_is_not_counted",
    ),
]
