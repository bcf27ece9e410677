"""Planted bugs of tables on Spark; see `mutants`. Few: each starts a Spark."""

from mutant import Mutant

CONTRACT = "contracts/test_data_spark.py"
UNIT = "unit/test_data_spark.py"
TRAPS = "unit/test_spark_traps.py"
DEADLINES = "unit/test_spark_deadlines.py"
LOST = "unit/test_spark_lost.py"

SPARK_MUTANTS = [
    Mutant(
        "Spark's weeks begin at zero",
        "data/spark_calls.py",
        'F.WEEKDAY: "(weekday({}) + 1)"',
        'F.WEEKDAY: "weekday({})"',
        f"{CONTRACT}::test_functions_mean_the_same_on_all_values_at_once",
    ),
    Mutant(
        "NULL becomes the lower bound on Spark",
        "data/spark_expressions.py",
        "greatest(coalesce({number}, {NAN}), {low})",
        "greatest({number}, {low})",
        f"{CONTRACT}::test_functions_mean_the_same_on_all_values_at_once",
    ),
    Mutant(
        "moments without a zone are taken for local time on Spark",
        "data/spark_canonical.py",
        "_moment(_without_zone(own))",
        '_moment(f"unix_micros(CAST({own} AS TIMESTAMP))")',
        f"{UNIT}::test_the_time_zone_of_a_session_changes_nothing",
    ),
    Mutant(
        "a unit keeps one row too many on Spark",
        "data/spark_bounded.py",
        "% c) % c < {most}",
        "% c) % c <= {most}",
        f"{CONTRACT}::test_rows_keep_their_order_in_several_partitions",
    ),
    Mutant(
        "marks in the upper half are sorted first on Spark",
        "data/spark_bounded.py",
        "shiftleft({self._mark('z')} - {1 << 31}L, 32)",
        "shiftleft({self._mark('z')}, 32)",
        f"{CONTRACT}::test_places_of_several_public_keys_come_back_as_they_went",
    ),
    Mutant(
        "places of several keys come back as others on Spark",
        "data/spark_bounded.py",
        "            below *= many\n",
        "            below += many\n",
        f"{CONTRACT}::test_places_of_several_public_keys_come_back_as_they_went",
    ),
    Mutant(
        "a unit keeps one group too many on Spark",
        "data/spark_bounded.py",
        "AS e WHERE q <= {self._limit.groups}",
        "AS e WHERE q <= {self._limit.groups + 1}",
        f"{CONTRACT}::test_places_of_several_public_keys_come_back_as_they_went",
    ),
    Mutant(
        "groups of one mark are ranked backwards on Spark",
        "data/spark_bounded.py",
        'place = f"({place} * {len(key.values or ())}L + {key.name})"',
        'place = f"({place} * {len(key.values or ())}L + {len(key.values or ()) - 1} - {key.name})"',
        f"{CONTRACT}::test_groups_of_one_mark_are_ranked_by_their_places",
    ),
    Mutant(
        "rows of several groups compete on Spark without an order",
        "data/spark_bounded.py",
        "        listed = self._listed if self._by_groups else set[str]()\n",
        "        listed = self._listed\n",
        f"{CONTRACT}::test_without_a_column_of_order_rows_of_several_groups_are_ordered_by_what_they_hold",
    ),
    Mutant(
        "under a limit of all rows people count in one group alone on Spark",
        "data/spark_bounded.py",
        "        first_tells = self._by_groups or not needs.people\n",
        "        first_tells = True\n",
        f"{CONTRACT}::test_under_a_limit_of_all_people_count_in_each_group",
    ),
    Mutant(
        "a public table without a row is no table on Spark Connect",
        "data/spark_publics.py",
        "    if rows.num_rows:\n",
        "    if rows.num_columns:\n",
        "contracts/test_spark_connect.py::test_a_public_table_without_a_row_is_put_there_too",
    ),
    Mutant(
        "views stay behind on Spark",
        "data/spark_views.py",
        "frame.frame.sparkSession.catalog.dropTempView(names[table])",
        "frame.frame.sparkSession.catalog.dropTempView(table)",
        f"{UNIT}::test_a_question_leaves_no_view_and_no_setting_behind",
    ),
    Mutant(
        "rows on Spark are made anew after units were asked",
        "data/spark_personal.py",
        "self._session.sql(text).localCheckpoint(eager=True)",
        "self._session.sql(text)",
        f"{UNIT}::test_rows_count_as_they_were_when_units_were_asked",
    ),
    Mutant(
        "who is left out counts all the same on Spark",
        "data/spark_personal.py",
        "        if leaving.any():\n",
        "        if leaving.all():\n",
        f"{UNIT}::test_rows_count_as_they_were_when_units_were_asked",
    ),
    Mutant(
        "wide numbers on Spark are told as the nearest",
        "data/spark_personal.py",
        "STEP, BEFORE = 2.0**-51, 8",
        "STEP, BEFORE = 0.0, 8",
        f"{UNIT}::test_numbers_that_no_decimal_holds_are_told_a_little_above",
    ),
    Mutant(
        "squares are told on Spark as decimals that do not hold them",
        "data/spark_personal.py",
        "        fits = in_group * in_all < FULL\n",
        "        fits = in_all < FULL\n",
        f"{UNIT}::test_numbers_that_no_decimal_holds_are_told_a_little_above",
    ),
    Mutant(
        "rows that were kept on Spark stay behind",
        "data/spark_personal.py",
        "kept._jdf.queryExecution().analyzed().rdd().unpersist(False)",
        "kept.unpersist()",
        f"{UNIT}::test_nothing_of_those_who_were_asked_stays_behind",
    ),
    Mutant(
        "a statement on Spark is told to end only once",
        "data/spark_deadlines.py",
        "            if wait([made], AGAIN).done:\n",
        "            if wait([made], AGAIN) is not None:\n",
        f"{DEADLINES}::test_a_question_without_an_end_is_ended",
    ),
    Mutant(
        "jobs on Spark go on when their time is over",
        "data/spark_deadlines.py",
        "        session.sparkContext.addJobTag(tag)\n",
        '        session.sparkContext.addJobTag("discreet")\n',
        f"{DEADLINES}::test_a_question_without_an_end_is_ended",
    ),
    Mutant(
        "ending one question on Spark ends all of them",
        "data/spark_deadlines.py",
        'tag = f"discreet_{uuid.uuid4().hex}"',
        'tag = "discreet"',
        f"{DEADLINES}::test_one_question_that_is_ended_ends_no_other",
    ),
    Mutant(
        "a question on Spark that is interrupted goes on",
        "data/spark_deadlines.py",
        "    except BaseException:\n        _end(session, tag, made)\n        raise\n",
        "    except BaseException:\n        raise\n",
        f"{DEADLINES}::test_a_question_that_is_interrupted_is_ended",
    ),
    Mutant(
        "a question on Spark leaves the group of whoever asks",
        "data/spark_deadlines.py",
        "inheritable_thread_target(session)(local)",
        "local",
        f"{DEADLINES}::test_a_question_runs_in_the_group_of_whoever_asks_and_leaves_its_thread_as_it_was",
    ),
    Mutant(
        "a session of Spark that was stopped is asked",
        "data/spark_table.py",
        "        need_running(session)\n\n",
        "\n",
        f"{LOST}::test_a_table_of_a_session_that_was_stopped_says_what_to_do",
    ),
    Mutant(
        "PySpark on Spark's errors writes rows to the console",
        "data/spark_table.py",
        "            with hushed(), views(used, names):\n",
        "            with views(used, names):\n",
        f"{UNIT}::test_loggers_of_pyspark_are_quiet_while_a_question_is_asked",
    ),
    Mutant(
        "a session of Spark that runs is set anew from another thread",
        "data/spark_sessions.py",
        "found = sessions.active()",
        "found = sessions.getActiveSession()",
        f"{LOST}::test_a_session_that_runs_is_taken_in_every_thread_as_it_is",
    ),
    Mutant(
        "Spark's integers are divided towards zero",
        "data/spark_calls.py",
        'return _rounded("floor", Sql(f"({a.text} / {divisor})", Kind.REAL))',
        'return _guarded(f"CAST({a.text} / {divisor} AS BIGINT)", call.kind, math.inf)',
        f"{TRAPS}::test_integer_division",
    ),
]
