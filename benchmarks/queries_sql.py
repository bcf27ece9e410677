"""The same bounds on people in SQL, in several ways, of which the fastest on DuckDB counts.

All of them keep a person's groups by a hash of person and group, and the rows in each by a hash of the row, so that all
find the same answer: for each group its people, rows, and sum in steps of the grid. The optimiser's rule that replaces
`row_number() <= k` by lists is off, as most of them are slower with it.
"""

# ruff: noqa: S608 - the texts are put together from constants of this file
from queries_data import GROUPS, HIGH, LOW, ROWS_PER_GROUP

#: Values in steps of the grid that bounds from 0 to 60 have by default.
STEPS = f"cast(floor(least(greatest(value, {LOW}), {HIGH}) * 100000 + 0.5) as integer)"
GROUP_HASH = "hash(person, {key}, 7)"
ROW_HASH = "cast(hash(visits.rowid, 8) >> 32 as uinteger)"
SETTINGS = "set disabled_optimizers = 'top_n_window_elimination'"

PLAIN = "select {key}, count(*), sum(value), avg(value) from visits group by {key}"

TWO_WINDOWS = f"""
with ranked as (
  select {{key}}, {STEPS} as steps,
    dense_rank() over (partition by person order by {GROUP_HASH}, {{key}}) as place_in_person,
    row_number() over (partition by person, {{key}} order by {ROW_HASH}) as row_in_place
  from visits)
select {{key}}, count(*) filter (row_in_place = 1) as people, count(*) as rows, sum(steps) as total
from ranked where place_in_person <= {GROUPS} and row_in_place <= {ROWS_PER_GROUP} group by {{key}}"""

ONE_ORDER = f"""
with ranked as (
  select {{key}}, {STEPS} as steps,
    dense_rank() over (partition by person order by {GROUP_HASH}, {{key}}) as place_in_person,
    row_number() over (partition by person order by {GROUP_HASH}, {{key}}, {ROW_HASH})
      - rank() over (partition by person order by {GROUP_HASH}, {{key}}) as row_in_place
  from visits)
select {{key}}, count(*) filter (row_in_place = 0) as people, count(*) as rows, sum(steps) as total
from ranked where place_in_person <= {GROUPS} and row_in_place < {ROWS_PER_GROUP} group by {{key}}"""

#: It trusts 64 bits of hash not to meet twice in one person, and sorts the faster for it.
GROUPS_FIRST = f"""
with fewer as (
  select person, {{key}}, {STEPS} as steps, {ROW_HASH} as row_hash from visits
  qualify dense_rank() over (partition by person order by {GROUP_HASH}) <= {GROUPS}),
ranked as (
  select {{key}}, steps, row_number() over (partition by person, {{key}} order by row_hash) as row_in_place from fewer)
select {{key}}, count(*) filter (row_in_place = 1) as people, count(*) as rows, sum(steps) as total
from ranked where row_in_place <= {ROWS_PER_GROUP} group by {{key}}"""

ROWS_FIRST = f"""
with fewer as (
  select person, {{key}}, {STEPS} as steps from visits
  qualify row_number() over (partition by person, {{key}} order by {ROW_HASH}) <= {ROWS_PER_GROUP}),
pairs as (
  select person, {{key}}, count(*) as rows, sum(steps) as total from fewer group by person, {{key}}
  qualify row_number() over (partition by person order by {GROUP_HASH}, {{key}}) <= {GROUPS})
select {{key}}, count(*) as people, sum(rows) as rows, sum(total) as total from pairs group by {{key}}"""

#: Few people have more rows in a group than may count: only theirs are looked at one by one.
PAIRS_FIRST = f"""
with pairs as materialized (
  select person, {{key}}, count(*) as rows, sum({STEPS}) as total from visits group by person, {{key}}
  qualify row_number() over (partition by person order by {GROUP_HASH}, {{key}}) <= {GROUPS}),
crowded as (select person, {{key}} from pairs where rows > {ROWS_PER_GROUP}),
ranked as (
  select {{key}}, {STEPS} as steps, row_number() over (partition by person, {{key}} order by {ROW_HASH}) as row_in_place
  from visits semi join crowded using (person, {{key}})),
parts as (
  select {{key}}, count(*) as people, sum(rows) as rows, sum(total) as total
  from pairs where rows <= {ROWS_PER_GROUP} group by {{key}}
  union all
  select {{key}}, count(*) filter (row_in_place = 1), count(*), sum(steps)
  from ranked where row_in_place <= {ROWS_PER_GROUP} group by {{key}})
select {{key}}, sum(people) as people, sum(rows) as rows, sum(total) as total from parts group by {{key}}"""

LISTS = f"""
with pairs as (
  select person, {{key}}, arg_min({STEPS}, {ROW_HASH}, {ROWS_PER_GROUP}) as kept from visits group by person, {{key}}),
fewer as (
  select unnest(arg_min(
    {{{{'key': {{key}}, 'rows': len(kept), 'total': list_sum(kept)}}}}, {GROUP_HASH}, {GROUPS})) as pair
  from pairs group by person)
select pair.key, count(*) as people, sum(pair.rows) as rows, sum(pair.total) as total from fewer group by pair.key"""

#: Groups after a sort, rows by lists where there are too many of them.
SORT_AND_LISTS = f"""
with fewer as (
  select person, {{key}}, {STEPS} as steps, {ROW_HASH} as row_hash from visits
  qualify dense_rank() over (partition by person order by {GROUP_HASH}) <= {GROUPS}),
pairs as (
  select {{key}}, count(*) as rows, sum(steps) as total, arg_min(steps, row_hash, {ROWS_PER_GROUP}) as kept
  from fewer group by person, {{key}})
select {{key}}, count(*) as people, sum(least(rows, {ROWS_PER_GROUP})) as rows,
  sum(case when rows > {ROWS_PER_GROUP} then list_sum(kept) else total end) as total
from pairs group by {{key}}"""

#: Ways to bound people with window functions, and without.
WINDOWS = {
    "two windows at once": TWO_WINDOWS,
    "windows of one order": ONE_ORDER,
    "groups first, then rows": GROUPS_FIRST,
    "rows first, then groups": ROWS_FIRST,
    "pairs first, then crowded rows": PAIRS_FIRST,
    "groups by a window, rows by lists": SORT_AND_LISTS,
}
OTHERS = {"lists, no window": LISTS}


def bounded(key: str, way: str) -> str:
    """Return a way to bound people, grouped by a column."""
    return {**WINDOWS, **OTHERS}[way].format(key=key)


def plain(key: str) -> str:
    """Return the question as one asks it where nobody is protected."""
    return PLAIN.format(key=key)


def people_that_count(key: str) -> str:
    """Return how many pairs of a person and a group any right answer counts, whichever it keeps."""
    return f"""
select sum(least({GROUPS}, places)) from (select count(distinct {key}) as places from visits group by person)"""
