"""Planted bugs of questions about several tables: reading, planning, writing; see `mutants`."""

from mutant import Mutant

CORPUS = "unit/test_sql_corpus.py"
REFUSALS = f"{CORPUS}::test_a_refusal_says_what_is_wrong_where_and_what_to_write"
TEXTS = f"{CORPUS}::test_a_question_becomes_its_one_text"
PLANS = "unit/test_query_relations.py"
READING = "unit/test_sql_relations.py"

SQL_RELATION_MUTANTS = [
    Mutant(
        "a join on any column is taken for one on the person",
        "query/sql_joins.py",
        "if len(on) < len(pairs):",
        "if pairs:",
        REFUSALS,
    ),
    Mutant(
        "a person who may be missing is counted as if never",
        "query/relation_schemas.py",
        "case UnitJoin(left=left, right=right, kind=JoinKind.INNER):",
        "case UnitJoin(left=left, right=right, kind=JoinKind.INNER | JoinKind.LEFT):",
        TEXTS,
    ),
    Mutant(
        "people joined with each other are limited like rows of a table",
        "query/planning.py",
        "        return TotalLimit(match.moved)\n",
        "        return facts.limit\n",
        f"{PLANS}::test_people_who_are_joined_with_each_other_move_as_many_rows_as_the_plan_says",
    ),
    Mutant(
        "every relation has one row for each person",
        "query/planning.py",
        "single = source is not None and most_rows(source) == 1",
        "single = source is not None",
        f"{PLANS}::test_where_a_person_may_have_several_rows_limits_are_chosen_and_paid_for",
    ),
    Mutant(
        "a plan does not say what its rows are made of",
        "query/plans.py",
        "source = () if self.source is None else (self.source,)",
        "source = ()",
        f"{PLANS}::test_what_a_plan_is_made_of_is_part_of_what_it_is",
    ),
    Mutant(
        "a choice of limits does not say what its rows are made of",
        "query/chosen_limits.py",
        "source = () if self.source is None else (self.source,)",
        "source = ()",
        f"{PLANS}::test_what_a_plan_is_made_of_is_part_of_what_it_is",
    ),
    Mutant(
        "quantiles are asked of people who are joined with each other",
        "query/matched_rows.py",
        "q.Deviation, q.HistogramOf)",
        "q.Deviation, q.HistogramOf, q.Quantile)",
        f"{PLANS}::test_a_plan_itself_refuses_what_needs_to_know_whose_a_row_is",
    ),
    Mutant(
        "private groups of people who are joined with each other",
        "query/matched_rows.py",
        "if public_values(group.expression, schema) is None:",
        "if group.expression is None:",
        f"{PLANS}::test_a_plan_itself_refuses_private_groups_where_people_are_joined_with_each_other",
    ),
    Mutant(
        "what is joined by hand is not checked by the planner",
        "query/planning.py",
        "        check_matched(question, facts.schema)\n",
        "        pass\n",
        f"{PLANS}::test_a_plan_itself_refuses_what_needs_to_know_whose_a_row_is",
    ),
    Mutant(
        "of two filters the lower one is lost",
        "query/relation_forms.py",
        "where = both(source.where, None if where is None else renamed(where, below))",
        "where = None if where is None else renamed(where, below)",
        f"{CORPUS}::test_the_one_text_asks_of_duckdb_what_the_question_asked",
    ),
    Mutant(
        "columns that nobody needs are read",
        "query/relation_forms.py",
        "kept = tuple(column for column in columns if column.name in needed)",
        "kept = tuple(columns)",
        f"{READING}::test_columns_that_nobody_needs_are_not_read "
        f"{PLANS}::test_bounds_of_a_column_that_nobody_asks_for_change_nothing",
    ),
    Mutant(
        "names that people gave are part of the plan",
        "query/relation_forms.py",
        "taken.append(unique(name_of(one.expression), taken))",
        "taken.append(unique(one.column.name.split(chr(1))[0] or 'value', taken))",
        TEXTS,
    ),
    Mutant(
        "a union clamps all parts to the bounds of all",
        "query/sql_unions.py",
        "bounds = None if own.bounds == common.bounds else own.bounds",
        "bounds = None",
        f"{PLANS}::test_a_union_clamps_each_part_to_its_own_bounds",
    ),
    Mutant(
        "any truncation is the period that is protected",
        "query/sql_folds.py",
        "return function is TRUNCATIONS[window.period] and _is_time(name, relation, window.time)",
        "return _is_time(name, relation, window.time)",
        f"{READING}::test_rows_of_several_months_are_not_put_together",
    ),
    Mutant(
        "a day that was shifted is still the day of the period",
        "query/sql_folds.py",
        "return source is not None and isinstance(expression, ColumnValue) and _is_time(expression.name, source, time)",
        "return source is not None and expression is not None",
        f"{READING}::test_a_month_that_was_shifted_is_not_the_month_that_is_protected",
    ),
    Mutant(
        "one row is made of a person's rows of all months",
        "query/sql_folds.py",
        "if window is not None and len(found) == len(self.own):",
        "if window is not None and not self.own:",
        f"{READING}::test_rows_of_several_months_are_not_put_together",
    ),
    Mutant(
        "private rows of several months meet in a join",
        "query/sql_joins.py",
        "if unit.window is not None:",
        "if unit.column is None:",
        f"{READING}::test_rows_of_several_months_are_not_put_together",
    ),
    Mutant(
        "NOT IN is read as IN",
        "query/sql_queries.py",
        "kind = JoinKind.ANTI if negated else JoinKind.SEMI",
        "kind = JoinKind.SEMI",
        TEXTS,
    ),
    Mutant(
        "an OUTER JOIN of no side is read as an inner one",
        "query/sql_joins.py",
        '("LEFT", ""), ("LEFT", "OUTER"))',
        '("LEFT", ""), ("LEFT", "OUTER"), ("", "OUTER"))',
        REFUSALS,
    ),
    Mutant(
        "rows that are protected by themselves are put together",
        "query/planning.py",
        "if facts.schema.unit.column is None and not _is_row_by_row(source):",
        "if facts.schema is None:",
        f"{PLANS}::test_a_row_that_is_protected_by_itself_is_never_made_several",
    ),
    Mutant(
        "a person's number and another's text are taken for the same",
        "query/relation_schemas.py",
        "if not alike or _kinds(other) != _kinds(first):",
        "if not alike:",
        f"{PLANS}::test_tables_that_protect_different_units_are_not_put_together",
    ),
    Mutant(
        "a subquery may list what stands in rows",
        "query/sql_folds.py",
        "        if not found:\n            raise self.known.refuse(node, problem, fix)\n",
        "        if found is None:\n            raise self.known.refuse(node, problem, fix)\n",
        REFUSALS,
    ),
    Mutant(
        "a step of a frame may close the parentheses around it",
        "query/frame_rows.py",
        "({_piece(frame, asked_sql(each, person))}) AS",
        "({asked_sql(each, person)}) AS",
        "unit/test_frames_relations.py::test_a_wrong_step_is_refused_with_what_to_write",
    ),
    Mutant(
        "a frame without some people is one of them alone",
        "query/frames.py",
        '_rows().among(self, other, "NOT IN")',
        '_rows().among(self, other, "IN")',
        "unit/test_frames_relations.py::test_a_frame_of_several_tables_asks_what_the_same_sql_asks",
    ),
]
