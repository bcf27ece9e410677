"""Planted bugs of tables on Spark; see `mutants`. Few: each starts a Spark."""

from mutant import Mutant

CONTRACT = "contracts/test_data_spark.py"
UNIT = "unit/test_data_spark.py"

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
        "AS h WHERE r <= {most}",
        "AS h WHERE r <= {most} + 1",
        f"{CONTRACT}::test_rows_keep_their_order_in_several_partitions",
    ),
    Mutant(
        "views stay behind on Spark",
        "data/spark_table.py",
        "frame.frame.sparkSession.catalog.dropTempView(names[table])",
        "frame.frame.sparkSession.catalog.dropTempView(table)",
        f"{UNIT}::test_a_question_leaves_no_view_and_no_setting_behind",
    ),
]
