"""Planted bugs of plans and their error bars; see `mutants`."""

from mutant import Mutant

PLANS = "unit/test_query_plans.py"
PUBLICS = "unit/test_query_publics.py"

QUERY_MUTANTS = [
    Mutant(
        "a unit with several rows in a group counts as one",
        "data/aggregates.py",
        "return Sensitivity.box(l0=groups, linf=rows * most)",
        "return Sensitivity.box(l0=groups, linf=most)",
        f"{PLANS}::test_no_person_moves_the_noisy_parts_by_more_than_is_paid_for",
    ),
    Mutant(
        "a total limit is taken for one group",
        "data/aggregates.py",
        "return Sensitivity(l0=rows, linf=rows * most, l1=rows * most, l2_squared=(rows * most) ** 2)",
        "return Sensitivity.box(l0=1, linf=most)",
        f"{PLANS}::test_no_person_moves_the_noisy_parts_by_more_than_is_paid_for",
    ),
    Mutant(
        "a replaced unit moves answers no more than an added one",
        "data/aggregates.py",
        "if neighbours is Neighbours.ADD_REMOVE:\n        return added",
        "if True:\n        return added",
        f"{PLANS}::test_no_person_moves_the_noisy_parts_by_more_than_is_paid_for",
    ),
    Mutant(
        "squares around the middle weigh half of what they can",
        "data/aggregates.py",
        "return max(self.bounds.radius**2 - self.bounds.radius**2 // 2, 1)",
        "return max(self.bounds.radius**2 // 4, 1)",
        f"{PLANS}::test_no_person_moves_the_noisy_parts_by_more_than_is_paid_for",
    ),
    Mutant(
        "noise is calibrated to one row however many count",
        "query/pricing.py",
        "sensitivity_of(part.aggregate, self.limit or Limit(), self.neighbours)",
        "sensitivity_of(part.aggregate, Limit(), self.neighbours)",
        f"{PLANS}::test_no_person_moves_the_noisy_parts_by_more_than_is_paid_for",
    ),
    Mutant(
        "every part is given the whole price",
        "query/shares.py",
        "return tuple(spend.amount * part / FINEST for part in parts)",
        "return tuple(spend.amount for part in parts)",
        f"{PLANS}::test_a_plan_costs_what_was_offered_and_not_more",
    ),
    Mutant(
        "quantiles in several groups cost as in one",
        "query/pricing.py",
        "return once if self.touched == 1 else Repeated(once, self.touched)",
        "return once",
        f"{PLANS}::test_a_plan_costs_what_was_offered_and_not_more",
    ),
    Mutant(
        "the choice of limits is free",
        "query/plans.py",
        "if isinstance(self.limit, ChosenLimit):\n            losses +=",
        "if False:\n            losses +=",
        f"{PLANS}::test_a_plan_costs_what_was_offered_and_not_more",
    ),
    Mutant(
        "buying groups costs no delta",
        "query/pricing.py",
        "return self.selection(part, share).cost",
        "return Concentrated(share) if self.in_rho else Pure(share)",
        f"{PLANS}::test_a_plan_costs_what_was_offered_and_not_more",
    ),
    Mutant(
        "all private groups are shown",
        "query/plans.py",
        "answer if chosen is None or not by_group(part) else answer[chosen]",
        "answer",
        f"{PLANS}::test_a_person_alone_in_a_group_is_not_shown",
    ),
    Mutant(
        "error bars of several parts are those of one",
        "query/views.py",
        "together = max(len({part for measure in measures_in(term) for part in self._parts(measure)}), 1)",
        "together = 1",
        f"{PLANS}::test_the_parts_of_a_cell_share_its_risk",
    ),
    Mutant(
        "a ratio's interval forgets the error of its count",
        "query/estimates.py",
        "ratio = divide(total, Band(count.value, np.maximum(count.low, 0.0), count.high))",
        "ratio = divide(total, Band(count.value, count.value, count.value))",
        f"{PLANS}::test_the_interval_of_a_mean_holds_for_every_count_and_sum_within_theirs",
    ),
    Mutant(
        "simultaneous bars are those of single cells",
        "query/views.py",
        "size = self.statements if self.simultaneous else together",
        "size = together",
        f"{PLANS}::test_error_bars_cover_as_often_as_they_say",
    ),
    Mutant(
        "a mean of values around the middle forgets the middle",
        "query/estimates.py",
        "float(bounds.centre * bounds.step))",
        "0.0)",
        f"{PLANS}::test_averages_and_variances_are_those_of_the_clamped_values",
    ),
    Mutant(
        "the variance of a sample is that of all",
        "query/estimates.py",
        "if sample:",
        "if False:",
        f"{PLANS}::test_averages_and_variances_are_those_of_the_clamped_values",
    ),
    Mutant(
        "the condition is not in the canonical text",
        "query/plans.py",
        "fields = (self.schema.table, self.schema.unit, self.where,",
        "fields = (self.schema.table, self.schema.unit,",
        f"{PLANS}::test_what_decides_the_distribution_is_in_the_canonical_text",
    ),
    Mutant(
        "an interval forgets that a divisor may be zero",
        "query/intervals.py",
        "if right.low is None or right.high is None or right.low <= 0 <= right.high:",
        "if right.low is None or right.high is None or right.low == 0 or right.high == 0:",
        f"{PUBLICS}::test_no_row_lies_outside_of_an_expressions_interval",
    ),
    Mutant(
        "the product of two intervals is that of their lower and upper ends",
        "query/intervals.py",
        "corners = [one * other for one in (left.low, left.high) for other in (right.low, right.high)]",
        "corners = [left.low * right.low, left.high * right.high]",
        f"{PUBLICS}::test_no_row_lies_outside_of_an_expressions_interval",
    ),
    Mutant(
        "a column that may be NULL is taken to be always there",
        "query/publics.py",
        "        case _:\n            return False\n",
        "        case _:\n            return True\n",
        f"{PUBLICS}::test_a_value_that_is_always_there_is_known_to_be",
    ),
    Mutant(
        "accuracy first stops at the first price that it tries",
        "query/planning.py",
        "low, high = (low, middle) if reached(middle) else (middle, high)\n    return high",
        "break\n    return high",
        f"{PLANS}::test_accuracy_first_finds_the_least_price",
    ),
]
