"""Planted bugs in what a table may be asked, and how far one unit moves it."""

from mutants.mutant import Mutant

SAME = "contracts/test_data_engines.py::test_an_engine_says_what_the_plain_engine_says"
FARTHER = "contracts/test_data_engines.py::test_an_attacker_moves_no_aggregate_farther_than_declared"

DATA_REFERENCE_MUTANTS = [
    # Sensitivities.
    Mutant(
        "one unit touches one group, whatever the limit",
        "algebra/aggregates.py::_of_one",
        "return Sensitivity.box(l0=limit.groups, linf=1)",
        "return Sensitivity.box(l0=1, linf=1)",
        "unit/test_plain_engine.py",
    ),
    Mutant(
        "a total moves by one for each row",
        "algebra/aggregates.py::_of_one",
        "return _of_rows(limit, aggregate.most)",
        "return _of_rows(limit, 1)",
        "unit/test_plain_engine.py",
    ),
    Mutant(
        "half of an odd square is rounded against people",
        "algebra/aggregates.py::Total.most",
        "max(self.bounds.radius**2 - self.bounds.radius**2 // 2, 1)",
        "max(self.bounds.radius**2 // 2, 1)",
        "unit/test_plain_engine.py",
    ),
    Mutant(
        "a sum around the centre moves by the largest value instead",
        "algebra/aggregates.py::Total.most",
        "return self.bounds.radius if self.centred else self.bounds.largest",
        "return self.bounds.largest if self.centred else self.bounds.radius",
        "unit/test_plain_engine.py",
    ),
    Mutant(
        "rows in one group count once in the second norm",
        "algebra/aggregates.py::_of_rows",
        "l1=rows * most, l2_squared=(rows * most) ** 2)",
        "l1=rows * most, l2_squared=max(rows * most**2, (rows * most) ** 2 // 2))",
        "unit/test_plain_engine.py",
    ),
    Mutant(
        "cells of a group move one at a time",
        "algebra/aggregates.py::_of_cells",
        "return Sensitivity(l0=groups * rows, linf=rows, l1=groups * rows, l2_squared=groups * rows**2)",
        "return Sensitivity.box(l0=groups * rows, linf=1)",
        "unit/test_plain_engine.py",
    ),
    Mutant(
        "a replaced unit only leaves",
        "algebra/aggregates.py::_of_neighbours",
        "    if neighbours is Neighbours.ADD_REMOVE:\n        return added\n",
        "    if neighbours in Neighbours:\n        return added\n",
        "unit/test_plain_engine.py",
    ),
    # Marks.
    Mutant(
        "marks are not mixed enough",
        "algebra/row_hashes.py::mix",
        "    return ((word ^ (word >> SHIFTS[1])) * SECOND) & MASK\n",
        "    return (word * SECOND) & MASK\n",
        "unit/test_plain_engine.py",
    ),
    Mutant(
        "a group's name does not say which key has which value",
        "algebra/row_hashes.py::name_of",
        "name = (name * KEYS + word_of(value)) & MASK",
        "name = (name + word_of(value)) & MASK",
        "unit/test_plain_engine.py",
    ),
    Mutant(
        "texts are sorted by code points of another encoding",
        "algebra/row_hashes.py::group_order",
        "value.encode() if isinstance(value, str)",
        'value.encode("utf-16-be") if isinstance(value, str)',
        "unit/test_plain_engine.py",
    ),
    # The embedded engine, compared with the plain one.
    Mutant(
        "a unit keeps one group more than it may",
        "data/duckdb/bounding.py::Bounding._bound_in_groups",
        "staying = np.minimum(counts, min(self.limit.groups, MOST))",
        "staying = np.minimum(counts, min(self.limit.groups + 1, MOST))",
        "unit/test_data_pieces.py::test_a_few_groups_of_many_are_those_of_the_plain_engine",
    ),
    Mutant(
        "a unit keeps one row more than it may",
        "data/contribution_bounding.py::choose_rows",
        "return np.flatnonzero(number < most)",
        "return np.flatnonzero(number <= most)",
        SAME,
    ),
    Mutant(
        "units are told apart by their rank, which others change",
        "data/contribution_bounding.py::unit_words",
        "return names * np.uint32(UNITS) + np.uint32(salt & MASK)",
        "return np.arange(len(names), dtype=np.uint32) * np.uint32(UNITS) + np.uint32(salt & MASK)",
        FARTHER,
    ),
    Mutant(
        "rows and groups are chosen under one salt",
        "data/contribution_bounding.py::choose_rows",
        "mix_words(unit_words(salt + 1, names)",
        "mix_words(unit_words(salt, names)",
        SAME,
    ),
    Mutant(
        "integers beyond their bounds are added up as they are",
        "data/duckdb/batch.py::grid_points",
        "np.asarray(np.clip(data, bounds.low_steps, bounds.high_steps))",
        "np.asarray(data)",
        FARTHER,
    ),
    Mutant(
        "halves of a step go to the even neighbour",
        "data/duckdb/batch.py::grid_points",
        "    points += 0.5\n    np.floor(points, out=points)\n",
        "    np.rint(points, out=points)\n",
        SAME,
    ),
    Mutant(
        "a remainder has the sign of the divisor",
        "data/duckdb/expressions.py::_of_two",
        'f"({a.text} % {divisor})"',
        'f"fmod({a.text}, {divisor})"',
        "contracts/test_data_engines.py",
    ),
    Mutant(
        "a real may be infinite",
        "data/duckdb/expressions.py::_guard_number",
        '"(CASE WHEN isfinite({}) THEN {} END)"',
        '"(CASE WHEN NOT isnan({}) THEN {} END)"',
        "contracts/test_data_engines.py",
    ),
    Mutant(
        "two groups with one mark become one",
        "data/duckdb/bounding.py::_sort_runs",
        "    if len(codes) > PIECE or mixed:\n",
        "    if len(codes) > PIECE:\n",
        "contracts/test_data_engines.py::test_a_tie_of_groups_goes_to_the_first",
    ),
]
