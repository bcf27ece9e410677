"""Planted bugs of texts: how long they are, how they are matched, and how much work a row makes; see `mutants`."""

from mutants.mutant import Mutant

ORACLE = "attacks/test_like_oracle.py"
GROWTH = "attacks/test_text_growth.py"
PERSON_WORK = "unit/test_person_work.py"
PRODUCT = "attacks/test_rows_times_work.py"
CONTRACT = "contracts/test_texts.py"
PATTERNS = "unit/test_patterns.py"
WORK = "unit/test_work.py"

OWN_LIKE = (
    "return Sql(f\"({as_kind(expression.value, Kind.TEXT, scope).text} {'ILIKE' if expression.folded else 'LIKE'} \""
    ' + f"CAST({scope.constant(expression.pattern)} AS VARCHAR))", Kind.BOOLEAN)'
)

TEXT_MUTANTS = [
    Mutant(
        "DuckDB matches patterns by its own LIKE",
        "data/duckdb/expressions.py::_compile_sql",
        "            return _like(expression, scope)",
        f"            {OWN_LIKE}",
        f"{ORACLE}::test_neither_does_it_of_a_short_note[duckdb-False]",
    ),
    Mutant(
        "a new line is no letter to a pattern",
        "data/duckdb/expressions.py",
        "regexp_full_match({}, {}, 's')",
        "regexp_full_match({}, {})",
        f"{CONTRACT}::test_drawn_patterns_match_what_they_mean",
    ),
    Mutant(
        "a pattern may be found anywhere in a text on Spark",
        "algebra/like_patterns.py::java_parts",
        '(False, "" if ends_open else r"\\z")',
        '(False, "")',
        f"{PATTERNS}::test_regular_expressions_match_what_patterns_mean",
    ),
    Mutant(
        "what a segment has found is given up again on Spark",
        "algebra/like_patterns.py::java_parts",
        '"(?>.*?"',
        '"(?:.*?"',
        f"{PATTERNS}::test_nothing_is_tried_twice_where_an_engine_backtracks",
    ),
    Mutant(
        "letters between two literals are not counted",
        "algebra/like_patterns.py::Pattern.of",
        'Gap(wild.group().count("_"), "%" in wild.group())',
        'Gap(int("_" in wild.group()), "%" in wild.group())',
        f"{PATTERNS}::test_a_pattern_is_literals_with_gaps_between_them",
    ),
    Mutant(
        "a pattern may have any length",
        "algebra/expressions.py::Like.__post_init__",
        "if len(self.pattern) > LONGEST_PATTERN:",
        "if len(self.pattern) > 2 * LONGEST_PATTERN:",
        f"{PATTERNS}::test_a_pattern_is_not_too_long",
    ),
    Mutant(
        "texts of any length are imported",
        "data/reading/column_types.py::casting",
        'Casting(Kind.TEXT, _not_too_long(f"CAST({own} AS VARCHAR)"))',
        'Casting(Kind.TEXT, f"CAST({own} AS VARCHAR)")',
        f"{CONTRACT}::test_a_text_that_is_too_long_is_null[duckdb]",
    ),
    Mutant(
        "a text that is too long is cut as it is imported, and two people's ids become one",
        "data/reading/column_types.py::_not_too_long",
        'THEN {text} END"',
        'THEN {text} ELSE left({text}, {LONGEST_TEXT}) END"',
        f"{CONTRACT}::test_people_are_not_made_one_by_the_length_of_their_ids[duckdb]",
    ),
    Mutant(
        "texts of any length are read on PostgreSQL",
        "data/postgres/column_types.py::casting",
        "_not_too_long(text) if kind in LONG else text",
        "text",
        f"{CONTRACT}::test_a_text_that_is_too_long_is_null[postgres]",
    ),
    Mutant(
        "texts grow as long as they like",
        "algebra/work_bounds.py::can_grow",
        "return letters * (1 if call.function is F.CONCAT else CASED) > LONGEST_TEXT",
        "return letters < 0",
        f"{CONTRACT}::test_what_is_made_of_texts_is_cut[duckdb]",
    ),
    Mutant(
        "what is put into a text may make it as long as it likes",
        "algebra/work_bounds.py::_replaced",
        "return text + text // max(old, 1) * max(new - old, 0)",
        "return text",
        f"{CONTRACT}::test_what_is_made_of_texts_is_cut[duckdb]",
    ),
    Mutant(
        "what is put into a text may be any number of times as long as what is taken out",
        "algebra/expressions.py::texts_of",
        "len(texts[1]) > MOST_GROWTH * len(texts[0])",
        "len(texts[1]) < 0",
        f"{WORK}::test_what_is_looked_for_is_a_constant_and_what_is_put_in_is_not_much_longer",
    ),
    Mutant(
        "looking for a long text takes no longer than for a short one",
        "algebra/work_bounds.py::_searching",
        "return SEARCHED * below[0].letters * below[1].letters",
        "return SEARCHED * below[0].letters",
        f"{WORK}::test_what_is_looked_for_and_what_is_put_in_counts",
    ),
    Mutant(
        "capitals make a text longer",
        "algebra/work_bounds.py",
        "CASED = 3",
        "CASED = 1",
        f"{WORK}::test_the_longest_text_that_an_expression_can_be_is_known",
    ),
    Mutant(
        "a column of a subquery counts once however it is made",
        "algebra/work_bounds.py::_Work.costs",
        "return {item.column.name: self._measure_column(item.expression, below[0]) for item in columns}",
        "return {item.column.name: table_column(item.column.kind) for item in columns}",
        f"{WORK}::test_a_column_counts_with_all_that_it_is_made_of_whatever_stands_between",
    ),
    Mutant(
        "a question's parts are not counted before it is paid",
        "query/planning/planning.py::_check_work_limit",
        "    check_work(question.source, [*expressions_of(question), *joint, *joint, *joint], facts.measure_sql)",
        "    expressions_of(question)",
        f"{GROWTH}::test_a_bomb_is_refused_before_payment_in_full_words_at_once[many-long-scans]",
    ),
    Mutant(
        "an expression may have any number of parts",
        "algebra/expressions.py::_count_parts",
        "if parts > MOST_PARTS:",
        "if parts > 2**70:",
        f"{GROWTH}::test_an_expression_of_a_frame_is_refused_where_it_grows",
    ),
    Mutant(
        "columns that SQL names several times count once",
        "algebra/work_bounds.py::_count_hidden",
        "sum(times * columns[name].written",
        "sum(columns[name].written",
        f"{WORK}::test_a_column_counts_as_often_as_sql_names_it",
    ),
    Mutant(
        "DuckDB is asked for SQL of any length",
        "data/duckdb/table.py::DuckTable.check",
        "        check_aggregation_length(asked, write_sql)\n",
        "",
        f"{WORK}::test_an_engine_refuses_sql_that_is_too_long_before_it_is_paid_for",
    ),
    Mutant(
        "sessions do not know how long the SQL of a question is",
        "session/context.py::QuestionContext.facts",
        "measure_sql=measure_sql",
        "measure_sql=None",
        f"{WORK}::test_a_preview_refuses_what_every_engine_would_write_at_length",
    ),
    Mutant(
        "a row may make any amount of work",
        "algebra/work_bounds.py::check_work",
        "if work.steps > MOST_WORK:",
        "if work.steps < 0:",
        f"{WORK}::test_the_most_work_is_allowed_and_more_is_not",
    ),
    Mutant(
        "one person's rows may take any time of DuckDB",
        "data/duckdb/table.py::DuckTable.check",
        "check_unit_work(asked, self.schemas, self._settings.seconds, memory_of(self._tables.connection))",
        "memory_of(self._tables.connection)",
        f"{PRODUCT}::test_rows_with_much_work_are_refused_before_payment_whoever_is_there[on_duckdb-public-rows]",
    ),
    Mutant(
        "one person's rows may take any time of PostgreSQL",
        "data/postgres/table.py::PostgresTables.check",
        "        check_unit_work(asked, self.schemas, self._sessions.seconds)\n",
        "",
        f"{PRODUCT}::test_rows_with_much_work_are_refused_before_payment_whoever_is_there[on_postgres-public-rows]",
    ),
    Mutant(
        "the work of one row is that of one person",
        "data/unit_work.py::UnitWork.compute",
        "self.steps += source.most * sum(",
        "self.steps += sum(",
        f"{PERSON_WORK}::test_a_condition_counts_for_all_rows_that_one_person_can_have",
    ),
    Mutant(
        "a union computes no more rows than it keeps",
        "data/unit_work.py::UnitWork._count_union",
        "max(rows, *(part.most for part in parts))",
        "min(rows, self.cap)",
        f"{PERSON_WORK}::test_a_condition_counts_for_all_rows_that_one_person_can_have",
    ),
    Mutant(
        "rows below are not counted above a step that leaves a few",
        "data/unit_work.py::UnitWork.relation",
        "return UnitRows(source.columns, min(rows, source.rows), source.most)",
        "return UnitRows(source.columns, min(rows, source.rows), min(rows, source.rows))",
        f"{PERSON_WORK}::test_a_condition_counts_for_all_rows_that_one_person_can_have",
    ),
    Mutant(
        "texts that are kept take no memory",
        "data/unit_work.py::Allowance.covers",
        "all(used <= most for used, most in self.bytes(work))",
        "True",
        f"{PRODUCT}::test_texts_that_do_not_fit_the_memory_are_refused_before_payment_whoever_is_there",
    ),
    Mutant(
        "an engine has no folder to spill to",
        "data/reading/connecting.py::connect_spilling",
        "read_only=read_only, spill=folder)",
        "read_only=read_only)",
        f"{PERSON_WORK}::test_an_engine_spills_to_a_folder_of_its_owner_which_goes_with_it",
    ),
]
