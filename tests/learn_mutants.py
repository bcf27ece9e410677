"""Planted bugs in private training, and the tests that must catch each."""

from mutant import Mutant

LAYERS = "contracts/test_learn_layers.py"
LOOP = f"{LAYERS}::test_float_sums_are_those_of_a_loop_over_examples"
WITHIN = f"{LAYERS}::test_what_one_example_adds_is_within_the_bound_and_sums_are_exactly_of_these"
TRAINING = "unit/test_learn_training.py"
SELECTION = "claims/test_learn_selection.py"
AUDIT = "claims/test_learn_audit.py"

LEARN_MUTANTS = [
    Mutant(
        "a loss with another setting is taken for the same",
        "learn/torch/identities.py",
        'return f"{model_text(function)} {[_settings(one) for one in function.modules()]}"',
        "return repr(function)",
        f"{TRAINING}::test_a_setting_that_a_loss_does_not_show_makes_another_training",
    ),
    Mutant(
        "activations of a pass are held for ever",
        "learn/torch/passes.py",
        "            tape.entries = []\n",
        "            pass\n",
        "contracts/test_learn_layers.py::test_nothing_of_a_pass_is_held_once_its_sums_are_there",
    ),
    # Clipping.
    Mutant(
        "an example's gradient is not clipped",
        "learn/torch/sums.py",
        "return (float(self.bound) / norms).clamp(max=1)",
        "return (float(self.bound) / norms).clamp(min=1, max=1)",
        LOOP,
    ),
    Mutant(
        "the norm of integers is not checked",
        "learn/torch/sums.py",
        "for each in integers]) <= bound * bound",
        "for each in integers]) >= 0",
        f"{LAYERS}::test_adversarial_gradients_stay_within_the_bound",
    ),
    Mutant(
        "the norm of an outer product forgets one of its factors",
        "learn/torch/grid.py",
        "return integer_squares(self.gradient) * integer_squares(self.inputs)",
        "return integer_squares(self.gradient)",
        f"{LAYERS}::test_adversarial_gradients_stay_within_the_bound",
    ),
    Mutant(
        "integers that are too long are kept as they are",
        "learn/torch/grid.py",
        "        self.gradient[~kept] = 0\n",
        "        self.gradient[~kept] += 0\n",
        f"{LAYERS}::test_adversarial_gradients_stay_within_the_bound {WITHIN}",
    ),
    Mutant(
        "products of integers are summed in 32 bits whatever their size",
        "learn/torch/grid.py",
        "if is_exact() and most <= EXACT_32:",
        "if is_exact():",
        f"{LAYERS}::test_sums_that_32_bits_cannot_hold_are_exact",
    ),
    Mutant(
        "squared norms are taken in 32 bits whatever their size",
        "learn/torch/grid.py",
        "if (narrow < EXACT_32).all():",
        "if (narrow >= 0).all():",
        f"{LAYERS}::test_squared_norms_that_32_bits_cannot_hold_are_exact",
    ),
    Mutant(
        "products of integers are done in 16 bits where autocast is on",
        "learn/torch/clipping.py",
        'with torch.no_grad(), torch.autocast("cpu", enabled=False):',
        "with torch.no_grad():",
        f"{LAYERS}::test_activations_of_fewer_bits_leave_the_sums_exact",
    ),
    Mutant(
        "a setting for fewer bits is not noticed",
        "learn/torch/grid.py",
        "levels = backends.mkldnn.matmul.fp32_precision, backends.mkldnn.fp32_precision, backends.fp32_precision",
        "levels = (backends.fp32_precision,)",
        f"{LAYERS}::test_a_setting_that_multiplies_in_fewer_bits_does_not_reach_the_sums",
    ),
    Mutant(
        "a bias that is used at several steps is counted once",
        "learn/torch/gradients.py",
        "KnownGradients(torch.stack(biases).sum(0) if len(biases) > 1 else biases[0])",
        "KnownGradients(biases[0])",
        LOOP,
    ),
    Mutant(
        "the bias is forgotten in the norm of a convolution",
        "learn/torch/convolution.py",
        "return gradient.flatten(2).sum(2)",
        "return gradient.flatten(2)[:, :, 0]",
        LOOP,
    ),
    Mutant(
        "a word that an example repeats counts as several",
        "learn/torch/embedding.py",
        "places, which = self._places(inputs, weight).unique(return_inverse=True)",
        "places = self._places(inputs, weight); which = torch.arange(len(places))",
        LOOP,
    ),
    Mutant(
        "only the first use of a shared weight is clipped",
        "learn/torch/gradients.py",
        "for use in self.uses[1:]:\n            total = total + use.each(some)",
        "for use in self.uses[1:1]:\n            total = total + use.each(some)",
        LOOP,
    ),
    Mutant(
        "uses without a rule are lost",
        "learn/torch/passes.py",
        "if grad is not None or id(parameter) in strange)",
        "if id(parameter) in strange)",
        LOOP,
    ),
    Mutant(
        "positions are taken for examples",
        "learn/torch/passes.py",
        "if grad is not None or id(parameter) in strange)",
        "if grad is not None)",
        LOOP,
    ),
    Mutant(
        "gradients on the way to a parameter are dropped",
        "learn/torch/tape.py",
        "of_weight and not tape.knows(weight), of_bias and not tape.knows(bias)",
        "False, False",
        LOOP,
    ),
    Mutant(
        "an example that only fills up a batch is summed",
        "learn/torch/sums.py",
        "kept = within & counted",
        "kept = within",
        f"{WITHIN} {LAYERS}::test_an_example_that_is_not_counted_adds_nothing",
    ),
    Mutant(
        "a gradient that is not a number is summed",
        "learn/torch/sums.py",
        "if not torch.isfinite(norms).all():",
        "if norms.isnan().all():",
        f"{LAYERS}::test_what_is_not_finite_gets_one_sentence_whatever_it_was",
    ),
    # What mixes examples.
    Mutant(
        "models that mix examples are not probed",
        "learn/torch/passes.py",
        "if form not in self.probed and examples > 1:",
        "if form not in self.probed and examples > 10**9:",
        f"{LAYERS}::test_models_that_mix_examples_unseen_are_found_by_the_probe",
    ),
    Mutant(
        "a pass of another form is not probed again",
        "learn/torch/passes.py",
        "if not self.careful and (odd or form not in self.probed):",
        "if not self.careful and odd:",
        f"{LAYERS}::test_a_form_of_pass_that_was_never_probed_is_probed_when_it_comes",
    ),
    Mutant(
        "batch norm is let in while it learns its statistics",
        "learn/torch/refusals.py",
        "if module.training or module.running_mean is None:",
        "if module.running_mean is None:",
        f"{LAYERS}::test_layers_that_mix_examples_are_refused_with_the_replacement",
    ),
    Mutant(
        "running state carries private data past the noise",
        "learn/torch/refusals.py",
        "if buffer is not other or version != later:",
        "if buffer is not other:",
        f"{LAYERS}::test_models_that_mix_examples_unseen_are_found_by_the_probe",
    ),
    Mutant(
        "inputs that are mixed before the first layer go unseen",
        "learn/torch/apart.py",
        "moved = thue_morse(examples)",
        "moved = thue_morse(examples) & False",
        f"{TRAINING}::test_inputs_that_are_mixed_before_the_first_layer_are_found_by_exchanging_examples",
    ),
    # Noise.
    Mutant(
        "noise is scaled to the bound, and not to sigma times the bound",
        "learn/torch/private_steps.py",
        "add_rounded_gaussian(flat, noise * ratio * terms.steps, entropy)",
        "add_rounded_gaussian(flat, ratio * terms.steps, entropy)",
        f"{TRAINING}::test_the_noise_on_an_empty_lot_is_sigma_times_the_bound",
    ),
    Mutant(
        "half the noise",
        "learn/torch/private_steps.py",
        "add_rounded_gaussian(flat, noise * ratio * terms.steps, entropy)",
        "add_rounded_gaussian(flat, noise * ratio * terms.steps / 2, entropy)",
        f"{AUDIT}::test_what_canaries_see_is_below_the_claim",
    ),
    Mutant(
        "every proposal is kept: the noise is wider than it is said to be, and not a rounded normal",
        "learn/torch/gradient_noise.py",
        "if not len(lost):",
        "if len(lost) < 10**9:",
        f"{TRAINING}::test_rounded_noise_has_exactly_the_law_of_a_rounded_normal",
    ),
    Mutant(
        "several groups of parameters get the noise of one",
        "learn/torch/pricing.py",
        "return tuple(weight * scale for weight in weights)",
        "return tuple(weight / weight for weight in weights)",
        f"{TRAINING}::test_the_noise_of_all_groups_together_costs_what_one_would",
    ),
    Mutant(
        "who was within the bound is told for nothing",
        "learn/torch/adaptive.py",
        "left = 1 / noise**2 - groups / self.counts_sigma(lot) ** 2",
        "left = 1 / noise**2",
        f"{TRAINING}::test_counting_who_is_within_is_paid_from_the_same_noise",
    ),
    # Lots and prices.
    Mutant(
        "lots are blocks of neighbours, and not coins of each example",
        "learn/torch/lots.py",
        "return np.flatnonzero(bernoulli(rate, count, entropy=entropy))",
        "return np.arange(count)[: int(count * rate)]",
        f"{TRAINING}::test_every_example_is_in_a_lot_by_a_coin_of_its_own",
    ),
    Mutant(
        "the last batch of a lot counts those that fill it up",
        "learn/torch/lots.py",
        "counted[: len(part)] = True",
        "counted[:] = True",
        f"{TRAINING}::test_batches_have_one_shape_and_count_every_place_once",
    ),
    Mutant(
        "stretches of equal noise are billed once",
        "learn/torch/pricing.py",
        "counts[noise] += lots",
        "counts[noise] = lots",
        f"{TRAINING}::test_the_price_is_that_of_the_lots_that_are_drawn",
    ),
    Mutant(
        "training on persons' ledgers does not ask how many examples one has",
        "learn/torch/training.py",
        '        need_rows(gate.ledger, one_row_each=flag(self.one_row_each, "one_row_each"))\n',
        "",
        f"{TRAINING}::test_a_ledger_that_protects_persons_asks_for_one_example_each",
    ),
    Mutant(
        "a stored state forgets what the optimiser remembers",
        "learn/torch/states.py",
        'optimiser.load_state_dict(_unpacked(state["optimiser"]))',
        '_unpacked(state["optimiser"])',
        f"{TRAINING}::test_a_state_holds_all_that_the_optimiser_and_the_rates_remember",
    ),
    # Selection among runs.
    Mutant(
        "the best of many runs is billed as one",
        "learn/private_selection.py",
        "_coarse(value + beside + runs / (order - 1))",
        "_coarse(value)",
        f"{SELECTION}::test_no_order_of_answers_tells_neighbours_apart_by_more_than_the_curve",
    ),
    Mutant(
        "there are twice as many runs as were paid for",
        "learn/private_selection.py",
        "while not bernoulli(self.stop, entropy=entropy):",
        "while not bernoulli(self.stop / 2, entropy=entropy):",
        f"{SELECTION}::test_runs_are_as_many_as_a_geometric_number_with_the_mean_that_is_paid_for",
    ),
    Mutant(
        "candidates are priced as the cheapest of them",
        "learn/private_selection.py",
        "once = [(order, max(values))",
        "once = [(order, min(values))",
        f"{SELECTION}::test_candidates_are_priced_as_the_worst_of_them",
    ),
    Mutant(
        "the best of runs in Poisson lots is sold where rows are replaced",
        "learn/private_selection.py",
        "return Parallel([curve])",
        "return curve",
        f"{SELECTION}::test_the_best_of_runs_in_poisson_lots_is_refused_where_rows_are_replaced",
    ),
]
