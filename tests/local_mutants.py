"""Planted bugs in privacy at the source, and the tests that must catch each."""

from mutant import Mutant

COINS = "claims/test_local_coins.py"
ENCODERS = "claims/test_local_encoders.py"
APART = f"{ENCODERS}::test_no_report_tells_two_categories_apart_by_more_than_e_to_epsilon"
DRAWN = f"{ENCODERS}::test_the_stated_probabilities_are_those_that_are_drawn"
CROWD = "claims/test_local_crowd.py::test_a_crowd_reports_with_the_probabilities_of_one_device"
NUMBERS = f"{ENCODERS}::test_no_report_tells_two_numbers_apart_by_more_than_e_to_epsilon"
ESTIMATES = "claims/test_local_estimates.py"
PURSE = "unit/test_local_purse.py"
SUPPORTS = "unit/test_local_supports.py"
INPUT = "unit/test_local_input.py"

LOCAL_MUTANTS = [
    Mutant(
        "a toss that 64 bits leave open is lost",
        "noise/coins.py",
        "            if word != limit:\n",
        "            if True:\n",
        f"{COINS}::test_a_toss_that_64_bits_leave_open_is_decided_by_what_is_left_of_the_chance",
    ),
    Mutant(
        "coins side by side stay undecided after a 0",
        "noise/coins.py",
        "                undecided = zeros\n",
        "                undecided |= zeros\n",
        f"{COINS}::test_tosses_side_by_side_are_independent_and_exact",
    ),
    Mutant(
        "coins of a word that 16 bits leave open are tails",
        "noise/sliced.py",
        "        if head:\n",
        "        if head and False:\n",
        f"{COINS}::test_a_coin_of_a_word_is_1_exactly_if_its_random_number_is_below_the_chance",
    ),
    Mutant(
        "odds are rounded up",
        "local/odds.py",
        "(exact_below.numerator << bits) // exact_below.denominator,",
        "(exact_below.numerator << bits) // exact_below.denominator + 1,",
        APART,
    ),
    Mutant(
        "odds for a tiny epsilon are above e to it",
        "local/odds.py",
        "else 1 + epsilon / 2",
        "else 1 + epsilon * 2",
        f"{ENCODERS}::test_odds_are_above_one_and_at_most_e_to_epsilon",
    ),
    Mutant(
        "a lie may be the truth",
        "local/response.py",
        "return other + (other >= truth)",
        "return other + (other > truth)",
        DRAWN,
    ),
    Mutant(
        "optimal unary encoding lies as rarely as if only one bit told",
        "local/unary.py",
        "else 1 / (odds + 1)\n",
        "else 1 / (odds * odds + 1)\n",
        APART,
    ),
    Mutant(
        "a unary report shows which bit was tossed on its own",
        "local/unary.py",
        "tosses(self.others, self.domain) & ~own",
        "tosses(self.others, self.domain)",
        APART,
    ),
    Mutant(
        "subsets without the truth are one too small",
        "local/subset.py",
        "self.chosen - told, coins)",
        "self.chosen - 1, coins)",
        APART,
    ),
    Mutant(
        "Floyd's way forgets the last number",
        "local/subset.py",
        "if not found & drawn else 1 << last",
        "if not found & drawn else 0",
        DRAWN,
    ),
    Mutant(
        "the sign of a Hadamard report is not flipped",
        "local/hadamard.py",
        "(sign ^ (not coins.toss(self.kept)))",
        "(sign ^ (not coins.toss(self.kept) and False))",
        APART,
    ),
    Mutant(
        "products of a field of four are taken modulo four",
        "local/fields.py",
        "return FiniteField(size, _irreducible(size.bit_length() - 1))",
        "return FiniteField(size)",
        f"{ENCODERS}::test_a_report_supports_its_own_and_any_other_category_as_often_as_stated",
    ),
    Mutant(
        "a permanent answer costs as if two categories differed in one bit",
        "local/rappor.py",
        "flip = 1 / (root_below(odds_below(ever)) + 1)",
        "flip = 1 / (odds_below(ever) + 1)",
        f"{ENCODERS}::test_a_permanent_answer_costs_what_is_stated_for_ever",
    ),
    Mutant(
        "the near levels of a number are too likely",
        "local/numbers.py",
        "return self.near * self.odds / (self.near * self.odds + self.levels - self.near)",
        "return self.near * self.odds / (self.near * self.odds + self.levels - 2 * self.near)",
        NUMBERS,
    ),
    Mutant(
        "a level that is not near may be near",
        "local/numbers.py",
        "(self.near if other >= first else 0)",
        "(self.near if other > first else 0)",
        NUMBERS,
    ),
    Mutant(
        "each coordinate of a vector costs all of it",
        "local/vectors.py",
        "epsilon=target / told)",
        "epsilon=target)",
        f"{ENCODERS}::test_a_vector_pays_for_each_coordinate_that_it_tells",
    ),
    Mutant(
        "a short text is told by a short prefix",
        "local/prefixes.py",
        "which = need_coins(coins).below(self.length)",
        "which = min(need_coins(coins).below(self.length), len(data.rstrip(bytes(1))))",
        f"{ENCODERS}::test_no_report_tells_two_texts_apart_by_more_than_e_to_epsilon",
    ),
    Mutant(
        "only what a person has is told of in a survey",
        "local/surveys.py",
        "which = need_coins(coins).below(len(self.marginals))",
        "which = need_coins(coins).below(len(self.marginals)) if person else 0",
        f"{ENCODERS}::test_no_report_tells_two_people_apart_by_more_than_e_to_epsilon",
    ),
    Mutant(
        "a crowd's subsets are mended by the truth, too",
        "local/crowd.py",
        " & (drawn != own[wrong])",
        "",
        CROWD,
    ),
    Mutant(
        "a crowd's set keeps the coin of its own category",
        "local/crowd.py",
        "flat[word] | bit, flat[word] & ~bit)",
        "flat[word] | bit, flat[word])",
        CROWD,
    ),
    Mutant(
        "a crowd's hashes lie about the truth, too",
        "local/crowd.py",
        "    other += other >= own  # step over the truth\n",
        "",
        CROWD,
    ),
    Mutant(
        "a carry of three bits is lost",
        "local/packed.py",
        "carries.append(first & second | last & either)",
        "carries.append(first & second)",
        f"{SUPPORTS}::test_how_often_each_bit_is_set_is_counted_right",
    ),
    Mutant(
        "the transform adds buckets where it should take a product",
        "local/transforms.py",
        "plus[:, times[a, x]]]",
        "plus[:, plus[a, x]]]",
        f"{SUPPORTS}::test_supports_by_the_transform_are_those_of_every_report",
    ),
    Mutant(
        "what a prefix adds to a bucket is added again",
        "local/heavy_hitters.py",
        "minus = np.argmin(plus, axis=1)",
        "minus = np.arange(len(plus))",
        f"{ESTIMATES}::test_what_a_prefix_adds_is_taken_off_whatever_the_field",
    ),
    Mutant(
        "texts that nobody has are found",
        "local/heavy_hitters.py",
        "if estimates[each] > bound]",
        "if estimates[each] > 0]",
        f"{ESTIMATES}::test_where_nobody_agrees_no_text_is_found",
    ),
    Mutant(
        "a projection leaves out what should stay",
        "local/simplex.py",
        "np.flatnonzero(falling - shifts > 0)[-1]",
        "np.flatnonzero(falling - shifts > 0)[0]",
        f"{ESTIMATES}::test_the_projection_is_the_nearest_point_that_could_be_counts",
    ),
    Mutant(
        "shuffled reports are billed at a lower odds than they have",
        "local/costs.py",
        "return RandomisedResponse(encoder.kept, encoder.domain)",
        "return RandomisedResponse((encoder.kept + encoder.others) / 2, encoder.domain)",
        f"{ESTIMATES}::test_costs_are_stated_in_the_words_of_the_accountant",
    ),
    Mutant(
        "the same question is answered afresh",
        "local/purse.py",
        "            if entry not in self._kept:\n",
        "            if True:\n",
        f"{PURSE}::test_the_same_question_has_the_same_answer_and_is_paid_for_once",
    ),
    Mutant(
        "a purse pays after it has drawn",
        "local/purse.py",
        "                self._pay(entry, encoder.epsilon)\n",
        "                encoder.encode(value, coins)\n                self._pay(entry, encoder.epsilon)\n",
        f"{PURSE}::test_more_than_is_left_is_refused_and_nothing_is_drawn_or_paid",
    ),
    Mutant(
        "an answer is handed out before it is on the disk",
        "local/purse_file.py",
        "            os.fsync(self._handle)\n        except",
        "            pass\n        except",
        f"{PURSE}::test_the_payment_is_on_the_disk_before_the_value_is_looked_at",
    ),
    Mutant(
        "lines of a purse are not tied to those before",
        "local/purse_file.py",
        'f"{self._head} {text}".encode()',
        "text.encode()",
        f"{PURSE}::test_lines_that_were_taken_out_are_missed",
    ),
    Mutant(
        "two processes may spend the same purse at once",
        "local/purse_file.py",
        "            fcntl.flock(self._handle, fcntl.LOCK_EX)\n",
        "            fcntl.flock(self._handle, fcntl.LOCK_SH)\n            fcntl.flock(self._handle, fcntl.LOCK_UN)\n",
        f"{PURSE}::test_who_comes_second_waits_until_the_first_has_paid",
    ),
    Mutant(
        "a purse that exists is begun again",
        "local/purse_file.py",
        "os.O_CREAT | os.O_WRONLY",
        "os.O_CREAT | os.O_TRUNC | os.O_WRONLY",
        f"{PURSE}::test_a_purse_is_neither_begun_again_nor_made_by_opening_it",
    ),
    Mutant(
        "a set of all categories counts as one report",
        "local/supports.py",
        "sizes_of(reports) == encoder.chosen",
        "sizes_of(reports) >= encoder.chosen",
        f"{INPUT}::test_a_report_that_no_device_makes_is_refused_as_it_would_count_for_several",
    ),
    Mutant(
        "one coordinate may be told several times",
        "local/averages.py",
        "(np.diff(coordinates, axis=1) > 0)",
        "(np.diff(coordinates, axis=1) >= 0)",
        f"{INPUT}::test_a_report_that_no_device_makes_is_refused_as_it_would_count_for_several",
    ),
]
