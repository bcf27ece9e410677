"""Planted bugs in auctions, exact truthfulness and equilibria."""

from mutants.mutant import Mutant

AUCTIONS = "claims/test_market_auctions.py"
TRUTHFUL = "claims/test_market_truthful.py"
EQUILIBRIA = "claims/test_market_equilibria.py"
INPUT = "unit/test_market_input.py"
PLANS = "unit/test_market_plans.py"
CLI = "unit/test_market_cli.py"

MARKET_MUTANTS = [
    # Auctions.
    Mutant(
        "prices are scored as if the top were one step",
        "market/auctions.py::Auction.mechanism",
        "epsilon=self.epsilon, sensitivity=self.grid.steps, monotone=True",
        "epsilon=self.epsilon, sensitivity=1, monotone=True",
        f"{AUCTIONS}::test_no_replaced_bid_moves_the_price_by_more_than_epsilon",
    ),
    Mutant(
        "a bid is counted at its own price only",
        "market/grids.py::revenues",
        "reached = at_level[::-1].cumsum()[::-1][1:]",
        "reached = len(counted) * at_level[1:]",
        f"{AUCTIONS}::test_no_replaced_bid_moves_the_price_by_more_than_epsilon",
    ),
    Mutant(
        "bids above the top count for more than the top",
        "market/grids.py::PriceGrid.level",
        "return max(0, min(self.steps, math.floor(value * self.steps / self.top)))",
        "return max(0, math.floor(value * self.steps / self.top))",
        f"{PLANS}::test_bids_beyond_the_grid_count_as_its_ends_and_unknown_segments_not_at_all",
    ),
    Mutant(
        "bids in arrays that were typed as a price are left to floats",
        "market/grids.py::PriceGrid._levels_of_array",
        "near = np.abs(ratio - np.rint(ratio)) <= MARGIN * (1 + ratio)",
        "near = np.abs(ratio - np.rint(ratio)) < 0",
        f"{INPUT}::test_floats_mean_what_was_typed_alone_in_lists_and_in_arrays",
    ),
    Mutant(
        "the grid's own loss is forgotten in the revenue",
        "market/auctions.py::Auction.revenue",
        "            bound=self.grid.top * (self.grid.alpha * people + lost),\n            probability=1 - miss,",
        "            bound=self.grid.top * lost,\n            probability=1 - miss,",
        f"{AUCTIONS}::test_the_revenue_is_within_the_bound_of_the_best_price_as_often_as_stated",
    ),
    Mutant(
        "a lie is said to be worth half of what it is",
        "market/statements.py::most_gain",
        "return _tanh_up(size * epsilon / 4)",
        "return _tanh_up(size * epsilon / 8)",
        f"{EQUILIBRIA}::test_the_worst_pair_of_a_loss_gains_what_is_stated_and_no_other_more",
    ),
    Mutant(
        "those who lie together are counted as one",
        "market/statements.py::most_gain",
        '    size = whole(members, "members")\n',
        '    size = min(whole(members, "members"), 1)\n',
        f"{EQUILIBRIA}::test_groups_gain_by_their_own_law",
    ),
    Mutant(
        "segments that bidders report are scored as if verified",
        "market/attributes.py::AttributeAuction.mechanism",
        "sensitivity=self.grid.steps, monotone=self.verified)",
        "sensitivity=self.grid.steps, monotone=True)",
        f"{AUCTIONS}::test_no_bidder_moves_all_prices_of_all_segments_by_more_than_epsilon",
    ),
    Mutant(
        "verified segments are paid for where people are replaced",
        "market/attributes.py::AttributeAuction.cost",
        "return Parallel([self.mechanism.cost]) if self.verified else self.mechanism.cost",
        "return self.mechanism.cost",
        f"{PLANS}::test_verified_segments_are_not_paid_for_where_people_are_replaced",
    ),
    Mutant(
        "a posted price looks at its own round",
        "market/posted.py::PostedPrices.run_step",
        "self._scores(data[:step], ",
        "self._scores(data[: step + 1], ",
        f"{AUCTIONS}::test_a_price_does_not_depend_on_its_own_round",
    ),
    Mutant(
        "prices of all rounds are billed as one",
        "market/posted.py::PostedPrices.cost",
        "return Repeated(BoundedRange(self.epsilon), self.rounds - 1)",
        "return Repeated(BoundedRange(self.epsilon), 1)",
        f"{AUCTIONS}::test_no_bid_moves_the_prices_of_all_rounds_by_more_than_they_cost",
    ),
    Mutant(
        "an open quote swallows the bids of others",
        "market/auctions.py::BidFile._rows",
        'yield _cells(line.decode("utf-8-sig", "replace").rstrip("\\r\\n"))',
        "yield from csv.reader([line.decode(), *(other.decode() for other in file)])",
        f"{CLI}::test_no_cell_moves_the_bid_of_another_row",
    ),
    Mutant(
        "all bids of a person count",
        "market/auctions.py::BidFile.bids",
        'unit = str(number) if who is None else row[who] if who < len(row) else ""',
        "unit = str(number)",
        f"{CLI}::test_each_person_has_one_bid_where_the_ledger_protects_persons",
    ),
    # Exact truthfulness.
    Mutant(
        "utilities are rounded to whole numbers, and truth is best for the rounded ones",
        "market/commitments.py::_integers",
        'numbers.dtype.kind not in "iu"',
        'numbers.dtype.kind not in "iuf"',
        f"{TRUTHFUL}::test_utilities_that_would_be_rounded_and_scores_whose_sums_would_wrap_are_refused",
    ),
    Mutant(
        "lies are punished too seldom",
        "market/commitments.py::TruthfulChoice.__init__",
        "share = -(-(gain + least) / (tables.gap + gain) // MIX_STEP) * MIX_STEP",
        "share = -(-(gain + least) / (4 * (tables.gap + gain)) // MIX_STEP) * MIX_STEP",
        f"{TRUTHFUL}::test_without_the_punishment_some_lie_pays",
    ),
    Mutant(
        "the gap is that of the best lie to punish",
        "market/commitments.py::_gap",
        "    return min(Fraction(int(mean[t, r])",
        "    return max(Fraction(int(mean[t, r])",
        f"{TRUTHFUL}::test_gaps_that_the_docstrings_state",
    ),
    Mutant(
        "the margin is not paid for",
        "market/commitments.py::TruthfulChoice.__init__",
        "share = -(-(gain + least) /",
        "share = -(-(gain + 0 * least) /",
        f"{TRUTHFUL}::test_a_margin_that_was_asked_for_is_kept",
    ),
    Mutant(
        "facilities are scored as if nobody moved two scores against each other",
        "market/commitments.py::tables_of",
        "        width=max(moved, spread),\n",
        "        width=spread,\n",
        f"{TRUTHFUL}::test_no_report_moves_the_outcome_by_more_than_epsilon",
    ),
    Mutant(
        "punishing outcomes are those that no lie moves",
        "market/settings.py::FacilityLine.punishment",
        "return int(outcome[-1] == outcome[0] + 1 and",
        "return int(outcome[-1] == outcome[0] and",
        f"{TRUTHFUL}::test_gaps_that_the_docstrings_state",
    ),
    Mutant(
        "prices are values, and nobody minds a lie of one step",
        "market/settings.py::Sale.utility",
        "return 2 * (type_ - outcome) + 1 if report >= outcome else 0",
        "return 2 * (type_ - outcome) if report >= outcome else 0",
        f"{TRUTHFUL}::test_gaps_that_the_docstrings_state",
    ),
    Mutant(
        "treatments that nobody would choose are let in",
        "market/commitments.py::_need_utilities",
        "if (utilities > truthful[:, None, :]).any():",
        "if (utilities > truthful[:, None, :]).all():",
        f"{TRUTHFUL}::test_a_treatment_that_is_not_best_for_the_report_is_refused",
    ),
    Mutant(
        "the punishing branch is drawn half as often as computed",
        "market/commitments.py::TruthfulChoice.run",
        "if bernoulli(self.mixing, entropy=entropy):",
        "if bernoulli(self.mixing / 2, entropy=entropy):",
        f"{PLANS}::test_draws_are_as_likely_as_stated[line]",
    ),
    # Equilibria.
    Mutant(
        "a replaced player is billed as one who comes or goes",
        "market/equilibria.py::noise_of",
        "linf=SHARES, l1=2 * SHARES, l2_squared=2 * SHARES**2)",
        "linf=SHARES, l1=SHARES, l2_squared=SHARES**2)",
        f"{EQUILIBRIA}::test_one_player_moves_no_round_by_more_than_its_sensitivity",
    ),
    Mutant(
        "all rounds together are paid for as one",
        "market/equilibria.py::noise_of",
        "return Gaussian.for_rho(rho / rounds, moved)",
        "return Gaussian.for_rho(rho, moved)",
        f"{EQUILIBRIA}::test_all_rounds_together_cost_rho",
    ),
    Mutant(
        "exact counts are posted",
        "market/equilibria.py::Mediator.run",
        "posted.append(noise.perturb(people @ players.shares, entropy=entropy))",
        "posted.append(people @ players.shares)",
        f"{EQUILIBRIA}::test_the_counts_that_are_posted_have_the_noise_that_is_paid_for",
    ),
    Mutant(
        "floats that are none make a player count for nothing",
        "market/equilibria.py::round_mixtures",
        "safe = np.where(sound, np.clip(mixed, 0, 2), 1.0) + np.finfo(float).tiny",
        "safe = np.where(sound, np.maximum(mixed, 0), 1.0) + np.finfo(float).tiny",
        f"{EQUILIBRIA}::test_whatever_floats_come_in_a_strategy_is_whole_shares_of_the_same_sum",
    ),
    Mutant(
        "players learn from half of what is posted",
        "market/equilibria.py::Dynamics.learn",
        "estimated = self._base - self._crowding @ (posted / self._scale)",
        "estimated = self._base - self._crowding @ (posted / self._scale / 2)",
        f"{EQUILIBRIA}::test_whatever_is_posted_no_type_regrets_not_having_acted_otherwise_or_posed_as_another",
    ),
    Mutant(
        "posing as another type is forgotten",
        "market/equilibria.py::Dynamics.learn",
        "        self._gains[:, actions:] += estimated @ (self.shares / SHARES).T\n",
        "        self._gains[:, actions:] -= 1e9\n",
        f"{EQUILIBRIA}::test_without_types_as_experts_posing_as_another_would_pay",
    ),
    Mutant(
        "what a false report moves is left out of what it is worth",
        "market/equilibria.py::Mediator.incentives",
        "bound=self.regret(confidence).bound + miss + most_gain(self.cost)",
        "bound=self.regret(confidence).bound + miss",
        f"{EQUILIBRIA}::test_incentives_are_regret_and_what_a_report_moves",
    ),
]
