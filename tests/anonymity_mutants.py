"""Planted bugs in anonymity, and the tests that must catch each."""

from mutant import Mutant

MAKING = "unit/test_anonymity_making.py::"
MEASURES = "unit/test_anonymity_measures.py::"
ROWS = "unit/test_anonymity_rows.py::"
ATTACKS = "unit/test_anonymity_attacks.py::"

ANONYMITY_MUTANTS = [
    Mutant(
        "a half of a box may be one row short of k",
        "anonymity/cutting.py",
        "(first >= rules.k) & (sizes - first >= rules.k)",
        "(first >= rules.k - 1) & (sizes - first >= rules.k)",
        f"{MAKING}test_a_box_stays_whole_where_a_cut_would_leave_one_row_too_few",
    ),
    Mutant(
        "only the nearer of two cuts is tried",
        "anonymity/cutting.py",
        "    yield np.where(nearer, after, before)\n",
        "",
        f"{MAKING}test_the_other_cut_is_tried_where_the_nearer_one_is_not_admitted",
    ),
    Mutant(
        "what is required of both halves is asked of one",
        "anonymity/cutting.py",
        "return admissible[0::2] & admissible[1::2]",
        "return admissible[0::2] | admissible[1::2]",
        f"{MAKING}test_every_class_of_mondrian_meets_what_is_required",
    ),
    Mutant(
        "boxes are compared by their width in the table's own units",
        "anonymity/mondrian.py",
        "    return (places - places[0]) / width if width else np.zeros_like(places)\n",
        "    return places - places[0] if width else np.zeros_like(places)\n",
        f"{MAKING}test_a_box_is_cut_where_it_is_widest_relative_to_the_table",
    ),
    Mutant(
        "values are cut in the order of their letters",
        "anonymity/mondrian.py",
        'np.argsort(-attribute.counts, kind="stable")',
        'np.argsort(attribute.values.astype(str), kind="stable")',
        f"{MAKING}test_common_values_are_parted_from_rare_ones_first",
    ),
    Mutant(
        "a set is published without its last value",
        "anonymity/regions.py",
        "return Sets(np.arange(classes.count), spread.codes, np.append(spread.starts, len(spread.codes)))",
        "return Sets(np.arange(classes.count), spread.codes, np.append(spread.starts, len(spread.codes) - 1))",
        f"{MAKING}test_sets_and_intervals_hold_what_occurs_and_nothing_else",
    ),
    Mutant(
        "a node that fails is taken to fail for what is above it, too",
        "anonymity/lattice.py",
        "(self.levels <= levels).all(axis=1)",
        "(self.levels >= levels).all(axis=1)",
        f"{MAKING}test_full_domain_search_finds_a_least_penalty_of_all_combinations",
    ),
    Mutant(
        "nodes are spared where nothing follows from one that fails",
        "anonymity/lattice.py",
        "return not self.most or all(isinstance(one, DistinctDiversity) for one in self.requirements)",
        "return True",
        f"{MAKING}test_full_domain_search_finds_a_least_penalty_of_all_combinations",
    ),
    Mutant(
        "the search ends at the first combination that will do",
        "anonymity/full_domain.py",
        "if lattice.bounds[place] > least + SAME:",
        "if best is not None:",
        f"{MAKING}test_full_domain_search_finds_a_least_penalty_of_all_combinations",
    ),
    Mutant(
        "rows of classes that fail are published",
        "anonymity/lattice.py",
        "return Classes.of(labels[self.holds]).without(bad)",
        "return Classes.of(labels[self.holds]).without(bad & False)",
        f"{MAKING}test_suppressed_rows_are_not_published",
    ),
    Mutant(
        "a hierarchy may part what it joined",
        "anonymity/hierarchies.py",
        "!= row[level + 1] for row in rows):",
        "is None for row in rows):",
        f"{MAKING}test_what_makes_no_sense_is_refused_with_a_fix",
    ),
    Mutant(
        "recursive diversity counts the l-th value among the commonest",
        "anonymity/requirements.py",
        "np.where(ranks >= rank - 1,",
        "np.where(ranks >= rank,",
        f"{MEASURES}test_the_commonest_value_is_compared_with_those_from_rank_l_on",
    ),
    Mutant(
        "the commonest value may be as common as the rest times c",
        "anonymity/requirements.py",
        "            return _less(most, c.denominator, tails, c.numerator)\n",
        "            return ~_less(tails, c.numerator, most, c.denominator)\n",
        f"{MEASURES}test_a_value_at_the_edge_of_a_requirement_meets_it_and_one_beyond_does_not",
    ),
    Mutant(
        "entropies that floats cannot tell apart are left to floats",
        "anonymity/requirements.py",
        "np.flatnonzero(np.abs(found - threshold) <= CLOSE * max(1.0, threshold))",
        "np.flatnonzero(found < 0)",
        f"{MEASURES}test_entropies_too_near_for_floats_are_compared_in_integers",
    ),
    Mutant(
        "before its first value a class is as the whole table",
        "anonymity/requirements.py",
        "return np.add.reduceat(lower + upper, starts) + first,",
        "return np.add.reduceat(lower + upper, starts),",
        f"{MEASURES}test_diversity_and_closeness_are_those_of_the_worst_class",
    ),
    Mutant(
        "classes are compared with themselves instead of the table",
        "anonymity/classes.py",
        "return Spread.of(classes.labels, classes.sizes, attribute.codes, attribute.counts)",
        "return Spread.of(classes.labels, classes.sizes, attribute.codes, np.ones_like(attribute.counts))",
        f"{MEASURES}test_diversity_and_closeness_are_those_of_the_worst_class",
    ),
    Mutant(
        "keys that do not fit 62 bits run into each other",
        "anonymity/classes.py",
        "        if size > WIDEST // max(domain, 1):\n",
        "        if size < 0:\n",
        f"{MEASURES}test_rows_are_of_one_class_exactly_if_they_agree_however_wide_the_codes",
    ),
    Mutant(
        "a journalist knows who is in the table",
        "anonymity/risk.py",
        'return _risk(here, there, need_share(limit, "limit"))',
        'return _risk(here, here, need_share(limit, "limit"))',
        f"{MEASURES}test_risk_of_people_known_to_be_in_the_population_counts_the_population",
    ),
    Mutant(
        "a table is written before the ledger is told",
        "anonymity/publishing.py",
        "    ledger.disclose(None, by=need_label(by",
        "    write_inside(published, place)\n    ledger.disclose(None, by=need_label(by",
        f"{ROWS}test_a_table_is_not_written_if_the_ledger_could_not_be_told",
    ),
    Mutant(
        "a published table keeps the order of its rows",
        "anonymity/publishing.py",
        "    return np.asarray(order[labels[order] >= 0])\n",
        "    return np.asarray(np.sort(order)[labels >= 0])\n",
        f"{ROWS}test_a_published_table_closes_the_ledger_first",
    ),
    Mutant(
        "what is published costs next to nothing",
        "anonymity/publishing.py",
        "    ledger.disclose(None, by",
        "    from discreet.accounting import Pure\n    ledger.disclose(Pure(1 / 1024), by",
        f"{ROWS}test_a_published_table_closes_the_ledger_first",
    ),
    Mutant(
        "rows are written in the order in which they came",
        "anonymity/deidentifying.py",
        " ORDER BY ALL",
        "",
        f"{ROWS}test_every_column_is_passed_on_as_it_was_treated_and_in_no_order_of_the_source",
    ),
    Mutant(
        "a column that nobody thought of is kept",
        "anonymity/deidentifying.py",
        "        _need_all(held, treatments)\n",
        "        from discreet.anonymity.treatments import Keep\n"
        "        for name in held.kinds:\n"
        "            treatments.setdefault(name, Keep())\n",
        f"{ROWS}test_a_column_that_nobody_thought_of_is_not_passed_on",
    ),
    Mutant(
        "pseudonyms are not keyed",
        "anonymity/treatments.py",
        "    inner, outer = key.pads\n",
        "    inner, outer = bytes(64), bytes(64)\n",
        f"{ROWS}test_pseudonyms_of_the_engine_are_those_of_rfc_2104",
    ),
    Mutant(
        "a short text passes its mask whole",
        "anonymity/treatments.py",
        "WHEN length({text}) > {first + last} THEN",
        "WHEN true THEN",
        f"{ROWS}test_a_mask_never_tells_a_text_whole",
    ),
    Mutant(
        "what is known not to be so is believed",
        "anonymity/attacks.py",
        "if count and value not in excluded}",
        "if count}",
        f"{ATTACKS}test_beliefs_are_the_shares_among_rows_that_a_reader_of_the_table_cannot_tell_apart",
    ),
]
