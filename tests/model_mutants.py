"""Planted bugs of linear models and finite classes; see `mutants`."""

from mutant import Mutant

PLANS = "unit/test_learn_plans.py"
MODELS = "unit/test_learn_models.py"
FINITE = "claims/test_finite_classes.py"

MODEL_MUTANTS = [
    Mutant(
        "gradients of linear models are not clipped",
        "learn/descent.py",
        "clipped = shortened(residuals(margins, labels), room)",
        "clipped = residuals(margins, labels)",
        f"{PLANS}::test_one_row_moves_a_gradient_by_at_most_the_clip",
    ),
    Mutant(
        "rows that are still too long after rounding are kept",
        "learn/features.py",
        "np.trunc(rows * factor[:, None])",
        "np.rint(rows * factor[:, None] * 1.001)",
        f"{PLANS}::test_long_rows_are_shortened_to_the_norm_and_short_ones_stay",
    ),
    Mutant(
        "each step of descent is paid as if it were the only one",
        "learn/descent.py",
        "return noise_for(self.most**2, share / self.steps)",
        "return noise_for(self.most**2, share)",
        f"{PLANS}::test_the_parts_of_a_plan_cost_together_what_was_to_be_spent",
    ),
    Mutant(
        "the gradient's noise is half of what is paid for",
        "learn/descent.py",
        "return self.gradient.perturb(exact, entropy=entropy).astype(np.float64) / (STEPS * CHANCES)",
        "noisy = self.gradient.perturb(exact, entropy=entropy)\n"
        "        return (exact + (noisy - exact) / 2).astype(np.float64) / (STEPS * CHANCES)",
        f"{PLANS}::test_a_gradient_really_has_the_noise_that_is_paid_for",
    ),
    Mutant(
        "second moments forget the products of a row's own values",
        "learn/moments.py",
        "return noise_for((twice + 1) // 2, self.rho)",
        "return noise_for((twice + 1) // 4, self.rho)",
        f"{PLANS}::test_one_row_moves_the_sums_within_the_sensitivity_that_is_paid_for",
    ),
    Mutant(
        "the squares of a group's columns are not counted in its sensitivity",
        "learn/moments.py",
        "noise_for((2 * self.features.columns + 1) * STEPS**2, self.rho)",
        "noise_for((self.features.columns + 1) * STEPS**2, self.rho)",
        f"{PLANS}::test_one_row_moves_the_sums_within_the_sensitivity_that_is_paid_for",
    ),
    Mutant(
        "a cluster's size is not counted in its sensitivity",
        "learn/clusters.py",
        "noise_for((self.features.columns + 1) * STEPS**2, self.rho / self.steps)",
        "noise_for(self.features.columns * STEPS**2, self.rho / self.steps)",
        f"{PLANS}::test_one_row_moves_the_sums_within_the_sensitivity_that_is_paid_for",
    ),
    Mutant(
        "values beyond their bounds are not clamped",
        "learn/features.py",
        "return np.clip(filled, low, high)",
        "return filled",
        f"{PLANS}::test_a_missing_value_is_the_middle_of_its_bounds_and_others_are_clamped {MODELS}",
    ),
    Mutant(
        "margins are added up in floats that round",
        "learn/features.py",
        "return np.asarray(rows @ np.clip(np.rint(weights), -room, room)).astype(np.int64)",
        "return np.asarray(rows @ (np.clip(weights, -room, room) + 1e9 / 3 * len(rows))).astype(np.int64)",
        f"{PLANS}::test_a_row_becomes_the_same_numbers_alone_and_among_others",
    ),
    Mutant(
        "the determinants of a perturbed objective are free",
        "learn/objective.py",
        "return log_up(1 + self.norm**2 / (4 * self.penalty)) + SLACK",
        "return SLACK",
        f"{PLANS}::test_what_a_perturbed_objective_pays_is_what_was_asked",
    ),
    Mutant(
        "the noise of a perturbed objective forgets how long rows are",
        "learn/objective.py",
        "most = int((self.norm * STEPS) ** 2)",
        "most = int((2 * self.norm * STEPS) ** 2)",
        f"{PLANS}::test_rows_of_a_perturbed_objective_are_no_longer_than_it_was_priced_for",
    ),
    Mutant(
        "approximate minima are paid for as if the tables' were one",
        "learn/objective.py",
        "math.ceil((2 * apart) ** 2 * (1 + 1e-9))",
        "math.ceil(apart**2 * (1 + 1e-9))",
        f"{PLANS}::test_what_a_perturbed_objective_pays_is_what_was_asked",
    ),
    Mutant(
        "a minimum is taken for found too early",
        "learn/objective.py",
        "+ self.error(here) <= enough:",
        "+ self.error(here) <= 1e6 * enough:",
        f"{PLANS}::test_minima_are_as_close_as_the_plan_says",
    ),
    Mutant(
        "a model's ledger of replaced units is taken",
        "learn/payment.py",
        "        _need_rows(opened)\n",
        "",
        f"{MODELS}::test_a_ledger_of_units_that_are_replaced_is_refused",
    ),
    Mutant(
        "a second fit is handed what the first one found",
        "learn/payment.py",
        "release(plan, request=request, fresh=True)",
        "release(plan, request=request)",
        f"{MODELS}::test_two_fits_are_two_payments_and_a_path_will_do",
    ),
    Mutant(
        "labels that are no class are taken for the first",
        "learn/features.py",
        "np.where(same.any(axis=1), same.argmax(axis=1), -1)",
        "same.argmax(axis=1)",
        f"{MODELS}::test_a_label_that_is_no_class_is_left_out {FINITE}",
    ),
    Mutant(
        "a hypothesis is chosen at twice the rate",
        "learn/finite.py",
        "ExponentialMechanism(epsilon=self.epsilon, sensitivity=1, monotone=True)",
        "ExponentialMechanism(epsilon=self.epsilon, sensitivity=Fraction(1, 2), monotone=True)",
        f"{FINITE}::test_on_small_worlds_the_loss_is_epsilon_exactly_and_never_more",
    ),
    Mutant(
        "a conjunction's mistakes forget the rows it misses",
        "learn/hypotheses.py",
        "return np.asarray(table.ravel() + count[1].sum())",
        "return np.asarray(table.ravel())",
        f"{FINITE}::test_mistakes_are_those_that_a_plain_loop_counts",
    ),
    Mutant(
        "the sample size forgets how many hypotheses there are",
        "learn/finite.py",
        "math.log(size / chance) / each",
        "math.log(1 / chance) / each",
        f"{FINITE}::test_the_realisable_bound_is_met_to_a_constant_where_all_others_err_alike {FINITE}",
    ),
]
