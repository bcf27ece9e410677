"""The question to a peer, in a process of the peer's own environment: `python queries_peers.py PEER FILE`.

Each is asked as its documentation would have it, with the rows in memory in the form that it reads; loading them is not
counted. Where a peer cannot be asked just this, it gets the nearest question that is no harder.
"""

import sys
import warnings

from queries_clock import run
from queries_data import DELTA, EPSILON, GROUPS, HIGH, LOW, ROWS_PER_GROUP

COLUMNS = ["person", "place", "value"]
#: What a steward would say publicly: there are no more groups than this.
MOST_GROUPS = 10_000


def load_opendp(file: str):
    import polars as pl

    return pl.read_parquet(file, columns=COLUMNS)


def ask_opendp(frame, _round: int) -> dict:
    """OpenDP's context on Polars.

    Groups are kept by their order, not by chance: in 0.16.0, `keep="sample"` for groups ends in an error of Polars
    (two fields of one name). It keeps the first two groups where three may be kept, and adds noise for three.
    """
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=frame.lazy(),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person")),
        privacy_loss=dp.loss_of(epsilon=float(EPSILON), delta=DELTA),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["place"], max_length=len(frame), max_groups=MOST_GROUPS)],
    )
    value, bounds = pl.col("value").fill_null(0.0).fill_nan(0.0), (float(LOW), float(HIGH))
    found = (
        context.query()
        .truncate_per_group(ROWS_PER_GROUP, by=["place"])
        .truncate_num_groups(GROUPS, by=["place"], keep="first")
        .group_by("place")
        .agg(dp.len(signed=True), value.dp.sum(bounds), value.dp.mean(bounds).alias("mean"))
        .release()
        .collect()
    )
    return {"groups": len(found)}


def load_pipelinedp(file: str):
    from pyarrow import parquet

    table = parquet.read_table(file, columns=COLUMNS)
    return list(zip(*(table[name].to_pylist() for name in COLUMNS), strict=True))


def ask_pipelinedp(rows, _round: int) -> dict:
    """PipelineDP on its local backend."""
    import pipeline_dp

    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
    metrics = pipeline_dp.Metrics
    found = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend()).aggregate(
        rows,
        pipeline_dp.AggregateParams(
            metrics=[metrics.COUNT, metrics.SUM, metrics.MEAN],
            max_partitions_contributed=GROUPS,
            max_contributions_per_partition=ROWS_PER_GROUP,
            min_value=LOW,
            max_value=HIGH,
        ),
        pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: row[2],
        ),
    )
    accountant.compute_budgets()
    return {"groups": len(list(found))}


def load_smartnoise(file: str):
    """Load rows into SmartNoise's own SQLite."""
    import pandas as pd
    import snsql

    frame = pd.read_parquet(file, columns=COLUMNS)
    about = {
        "max_ids": GROUPS * ROWS_PER_GROUP,
        "sample_max_ids": True,
        "censor_dims": True,
        "rows": len(frame),
        "person": {"type": "int", "private_id": True},
        "place": {"type": "int"},
        "value": {"type": "float", "lower": float(LOW), "upper": float(HIGH)},
    }
    # It pays ε for each of the four columns that it adds noise to.
    privacy = snsql.Privacy(epsilon=EPSILON / 4, delta=DELTA)
    return snsql.from_df(frame, privacy=privacy, metadata={"": {"": {"visits": about}}})


def ask_smartnoise(reader, _round: int) -> dict:
    """SmartNoise SQL: it knows no limit of groups, but one of rows in all."""
    asked = "SELECT place, COUNT(*) AS n, SUM(value) AS total, AVG(value) AS mean FROM visits GROUP BY place"
    found = reader.execute(asked)
    return {"groups": len(found) - 1}


PEERS = {
    "opendp": (load_opendp, ask_opendp),
    "pipelinedp": (load_pipelinedp, ask_pipelinedp),
    "smartnoise": (load_smartnoise, ask_smartnoise),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run(*PEERS[sys.argv[1]], sys.argv[2])
