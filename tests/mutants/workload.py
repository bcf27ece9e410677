"""Planted bugs of hierarchies, batches, and of what makes their tables agree; see `mutants`."""

from mutants.mutant import Mutant

AGREE = "unit/test_mechanisms_consistency.py"
LEVELS = "unit/test_query_hierarchies.py"
BATCH = "unit/test_query_batches.py"

WORKLOAD_MUTANTS = [
    Mutant(
        "batches about two tables have one text",
        "query/workloads/batches.py::plan_batch",
        "plan.schema.table != facts.schema.table",
        "False",
        "unit/test_query_batches.py::test_what_makes_no_batch_is_refused_with_a_fix",
    ),
    # Least squares on trees and cubes.
    Mutant(
        "a node's own count and its children's sum are weighed the wrong way round",
        "mechanisms/consistency.py::consistent",
        "own, rest = 1 / (1 + spreads[level] / together[level]), 1 / (1 + together[level] / spreads[level])",
        "rest, own = 1 / (1 + spreads[level] / together[level]), 1 / (1 + together[level] / spreads[level])",
        f"{AGREE}::test_estimates_and_variances_of_a_tree_are_those_of_least_squares",
    ),
    Mutant(
        "a child's variance forgets that its parent is not known exactly",
        "mechanisms/consistency.py::consistent",
        "below * (1 - share) + share**2 * spreads[level][parents]",
        "below * (1 - share)",
        f"{AGREE}::test_estimates_and_variances_of_a_tree_are_those_of_least_squares",
    ),
    Mutant(
        "children share alike in what their parent corrects",
        "mechanisms/consistency.py::consistent",
        "share = below / together[level][parents]",
        "share = 1 / np.bincount(parents)[parents]",
        f"{AGREE}::test_estimates_and_variances_of_a_tree_are_those_of_least_squares",
    ),
    Mutant(
        "negative counts stay negative",
        "mechanisms/consistency.py::_nearest",
        "np.maximum(around - level[parents], 0.0)",
        "np.maximum(around - level[parents], -1e9)",
        f"{AGREE}::test_children_are_moved_to_the_nearest_point_and_rounded_by_at_most_one",
    ),
    Mutant(
        "the smallest remainders are rounded up",
        "mechanisms/consistency.py::_whole",
        "_places(parents, nearest - down, len(totals))",
        "_places(parents, down - nearest, len(totals))",
        f"{AGREE}::test_the_largest_remainders_are_rounded_up_and_of_equal_ones_the_first",
    ),
    Mutant(
        "margins are weighed as if all had as many cells behind them",
        "mechanisms/marginals.py::agreeing",
        "weights = {axes: behind[axes] / variances[axes] for axes in noisy}",
        "weights = {axes: 1 / variances[axes] for axes in noisy}",
        f"{AGREE}::test_margins_of_a_cube_agree_and_are_those_of_least_squares",
    ),
    Mutant(
        "an effect is given a direction too many",
        "mechanisms/marginals.py::agreeing",
        "prod(sizes[axis] - 1 for axis in part)",
        "prod(sizes[axis] for axis in part)",
        f"{AGREE}::test_margins_of_a_cube_agree_and_are_those_of_least_squares",
    ),
    # Error bars of sums.
    Mutant(
        "a mixture's tail is cut off where it bends",
        "mechanisms/combinations.py::_mixture_tail",
        "(math.erfc(math.sqrt(1.5)) + 2 * slope)",
        "math.erfc(math.sqrt(1.5))",
        f"{AGREE}::test_a_sum_of_noises_is_beyond_its_radius_at_most_as_often_as_said",
    ),
    Mutant(
        "Laplace noise is taken for narrower than it is",
        "mechanisms/combinations.py::noise_variance",
        "else 2 * float(noise.scale) ** 2",
        "else float(noise.scale) ** 2",
        f"{AGREE}::test_a_sum_of_noises_is_beyond_its_radius_at_most_as_often_as_said",
    ),
    Mutant(
        "many bars share no risk",
        "mechanisms/combinations.py::_risk",
        'risk = float(1 - probability(confidence, "confidence")) / size',
        'risk = float(1 - probability(confidence, "confidence"))',
        f"{AGREE}::test_a_radius_for_many_sums_holds_for_all_of_them_together",
    ),
    # Hierarchies.
    Mutant(
        "a person's leaves are taken to be in different nodes above them",
        "query/workloads/hierarchies.py::level_sensitivity",
        "return sensitivity_of(Rows(), TotalLimit(most), schema.unit.neighbours)",
        "return sensitivity_of(Rows(), limit, schema.unit.neighbours)",
        f"{LEVELS}::test_no_person_moves_all_levels_together_by_more_than_is_paid_for",
    ),
    Mutant(
        "people are counted in several leaves",
        "query/workloads/hierarchies.py::_need_limit",
        "if isinstance(counts, People) and limit.groups != 1:",
        "if isinstance(counts, People) and limit.groups < 1:",
        f"{LEVELS}::test_what_cannot_be_counted_is_refused_with_a_fix",
    ),
    Mutant(
        "the top of a hierarchy is not paid for",
        "query/workloads/hierarchies.py::HierarchyPlan.cost",
        "map(self.noise, range(len(self.shares)))",
        "map(self.noise, range(1, len(self.shares)))",
        f"{LEVELS}::test_a_hierarchy_costs_what_was_offered",
    ),
    Mutant(
        "nothing stands between the values of a path",
        "query/workloads/hierarchies.py::path_key",
        "between = [part for text in texts for part in (Literal.of(BETWEEN), text)]",
        'between = [part for text in texts for part in (Literal.of(""), text)]',
        f"{LEVELS}::test_counts_are_those_of_the_rows_on_the_paths_at_every_level",
    ),
    Mutant(
        "a path may contain what stands between its values",
        "query/workloads/hierarchies.py::_check_paths",
        "if any(BETWEEN in value for",
        "if any(BETWEEN == value for",
        f"{LEVELS}::test_no_row_is_taken_for_one_on_another_path",
    ),
    # Batches.
    Mutant(
        "what is added up over keys moves as little as one group",
        "query/workloads/batch_passes.py::BatchPass.pricing",
        "limit = self.limit if axes == self.all_axes else TotalLimit(self.limit.rows)",
        "limit = self.limit",
        f"{BATCH}::test_no_person_moves_the_batch_by_more_than_is_paid_for",
    ),
    Mutant(
        "people are added up over groups",
        "query/planning/measurements.py::is_additive",
        "return isinstance(part, Noisy) and isinstance(part.aggregate, Rows | Present | Total)",
        "return isinstance(part, Noisy)",
        f"{BATCH}::test_people_and_different_values_are_not_added_up",
    ),
    Mutant(
        "the total that others are told from is of shown groups only",
        "query/workloads/batch_passes.py::BatchPass.run.perturb_measured",
        "counts = self.sum_other_axes(counts, measured.axes)",
        "counts = self.sum_other_axes(counts if chosen is None else counts[chosen], measured.axes)",
        f"{BATCH}::test_what_is_not_shown_is_the_total_less_what_is",
    ),
    Mutant(
        "only the first pass of a batch is paid for",
        "query/workloads/batches.py::BatchPlan.cost",
        "losses = [loss for batch_pass in self.passes for loss in batch_pass.losses]",
        "losses = [loss for batch_pass in self.passes[:1] for loss in batch_pass.losses]",
        f"{BATCH}::test_a_batch_costs_what_was_offered",
    ),
    Mutant(
        "the noise of shown groups is forgotten in what is not shown",
        "query/workloads/batch_views.py::_build_other_row",
        "noise_variance(noises[0]) + groups.size * noise_variance(batch_pass.noise(shown))",
        "noise_variance(noises[0])",
        f"{BATCH}::test_the_bar_of_what_is_not_shown_holds_as_often_as_it_says",
    ),
    Mutant(
        "keys in another order get each other's cells",
        "query/workloads/batch_views.py::_reorder",
        "return np.transpose(values, [sorted_axes.index(axis) for axis in axes]).ravel()",
        "return np.asarray(values).ravel()",
        f"{BATCH}::test_keys_in_another_order_are_the_same_cells",
    ),
    Mutant(
        "error bars of tables that agree are made of half of the variance",
        "query/workloads/batch_views.py::_build_table",
        "partial(_radius, batch_pass, part, fit.variances[axes], confidence)",
        "partial(_radius, batch_pass, part, fit.variances[axes] / 2, confidence)",
        f"{BATCH}::test_error_bars_of_agreeing_tables_hold_and_are_narrower",
    ),
    Mutant(
        "what agreeing gains is not asked of a question alone",
        "query/workloads/forecasts.py::_price_alone",
        "share = _share(batch_pass, pricing, part, measured.axes) if part in batch_pass.families else measured.share",
        "share = measured.share",
        f"{BATCH}::test_asking_one_by_one_would_be_as_accurate_as_the_batch_and_not_more",
    ),
]
