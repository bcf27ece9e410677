"""Planted bugs of counters, of what is released in steps, and of streams; see `mutants`."""

from mutants.mutant import Mutant

COUNTERS = "unit/test_mechanisms_counters.py"
STEPS = "unit/test_gate_steps.py"
STREAMS = "unit/test_query_streams.py"

COUNTER_MUTANTS = [
    # The counters.
    Mutant(
        "a row is paid for in one node of the tree",
        "mechanisms/counters/tree.py::_sensitivity",
        "for h in heights for place in range(steps >> h)]",
        "for h in heights for place in range(steps >> h) if h == 0]",
        f"{COUNTERS}::test_no_two_neighbouring_streams_are_told_apart_by_more_than_the_cost",
    ),
    Mutant(
        "rows of one unit in a node are taken for rows of several nodes",
        "mechanisms/counters/readings.py::bound_sensitivity",
        "l2_squared = min(sides * sum(move**2 for move in worst), l1 * linf)",
        "l2_squared = max(l1, linf**2)",
        f"{COUNTERS}::test_no_two_neighbouring_streams_are_told_apart_by_more_than_the_cost",
    ),
    Mutant(
        "a replaced unit is paid for as one that is added",
        "mechanisms/counters/readings.py::bound_sensitivity",
        "sides = 1 if neighbours is Neighbours.ADD_REMOVE else 2",
        "sides = 1",
        f"{COUNTERS}::test_no_two_neighbouring_streams_are_told_apart_by_more_than_the_cost",
    ),
    Mutant(
        "of several steps of one unit one is paid for",
        "mechanisms/counters/readings.py::worst_stream",
        "            early = min(groups, steps)\n",
        "            early = 1\n",
        f"{COUNTERS}::test_the_first_steps_are_the_worst_of_all_subsets",
    ),
    Mutant(
        "the factor is measured by its diagonal",
        "mechanisms/counters/factorisation.py::_sensitivity",
        "        inside += c[step] - (c[step - early] if step >= early else 0)\n",
        "        inside = c[0] if step < early else 0\n",
        f"{COUNTERS}::test_no_two_neighbouring_streams_are_told_apart_by_more_than_the_cost",
    ),
    Mutant(
        "of the factor only what is released first is paid for",
        "mechanisms/counters/factorisation.py::_sensitivity",
        "    return bound_sensitivity(moves, steps, neighbours)\n",
        "    return bound_sensitivity([*moves[:1], *([0] * (steps - 1))], steps, neighbours)\n",
        f"{COUNTERS}::test_no_two_neighbouring_streams_are_told_apart_by_more_than_the_cost",
    ),
    Mutant(
        "one draw of noise serves all nodes of a step",
        "mechanisms/counters/tree.py::TreeCounter.measure",
        "        return [noise.perturb(node, entropy=entropy) for node in self.exact(step, counts)]\n",
        "        drawn = noise.perturb(0, entropy=entropy)\n"
        "        return [node + drawn for node in self.exact(step, counts)]\n",
        f"{COUNTERS}::test_noise_is_drawn_anew_for_every_measurement",
    ),
    Mutant(
        "a node is released at every step that it covers",
        "mechanisms/counters/tree.py::TreeCounter.exact",
        "for height in range(self.heights) if end % (1 << height) == 0]",
        "for height in range(self.heights) if end >= (1 << height)]",
        f"{COUNTERS}::test_a_node_is_released_once_when_it_is_over",
    ),
    Mutant(
        "a node is estimated by the wrong weight",
        "mechanisms/counters/tree.py::_from_below",
        "            own = weight * own + (1 - weight) * (below[::2] + below[1::2])\n",
        "            own = weight * own + weight * (below[::2] + below[1::2])\n",
        f"{COUNTERS}::test_without_noise_all_estimates_are_exact",
    ),
    Mutant(
        "errors forget that many counts are to hold together",
        "mechanisms/counters/readings.py::risk_each",
        "    return risk / len(spans) if together else risk\n",
        "    return risk\n",
        f"{COUNTERS}::test_the_error_at_all_steps_is_no_smaller_than_at_any {STREAMS}",
    ),
    Mutant(
        "the error of Gaussian sums is that of one of the two sides",
        "mechanisms/counters/readings.py::gaussian_factor",
        "            chance = risk / 2 * _NORMAL.cdf(lead)",
        "            chance = risk * _NORMAL.cdf(lead)",
        f"{COUNTERS}::test_gaussian_sums_are_bounded_by_what_they_are {COUNTERS}"
        "::test_gaussian_sums_are_bounded_by_little_more_than_a_normal_quantile",
    ),
    # Steps through the gate.
    Mutant(
        "a step that was answered meanwhile is drawn anew",
        "gate/ledger/append.py::_need_unanswered",
        "    if _find_release(reading, event.payment, event.step) is not None:\n",
        "    if False:\n",
        f"{STEPS}::test_a_step_that_was_answered_between_the_look_and_the_run_is_not_drawn_again",
    ),
    Mutant(
        "an index is believed that has lost a step",
        "gate/gate.py::Gate.advance",
        "            fresh = self._ledger.release_of(receipt.payment, step, surely=True) is None\n",
        "            fresh = self._ledger.release_of(receipt.payment, step) is None\n",
        f"{STEPS}::test_a_step_filed_under_another_is_found",
    ),
    Mutant(
        "steps go in any order",
        "gate/ledger/append.py::_find_existing",
        "            if release is None and reading.release_of(payment, step - 1) is None:\n",
        "            if False:\n",
        f"{STEPS}::test_the_ledger_takes_no_step_out_of_order",
    ),
    Mutant(
        "the store takes a second answer of one step",
        "gate/ledger/append.py::_find_existing",
        "            release = _find_release(reading, payment, step)\n",
        "            release = _find_release(reading, payment, step) and None\n",
        f"{STEPS}::test_a_rival_that_stored_the_step_meanwhile_wins",
    ),
    Mutant(
        "a later step may begin what nobody paid for",
        "gate/gate.py::Gate._stream",
        "        if known is None and payment is None and step:\n",
        "        if False:\n",
        f"{STEPS}::test_steps_go_in_order",
    ),
    Mutant(
        "a step is handed out for another",
        "gate/stores/protocol.py::find_release",
        '    expected: dict[str, object] = {"kind": "continuation", "step": step} if step else {"kind": "release"}\n',
        '    expected: dict[str, object] = {"kind": "continuation"} if step else {"kind": "release"}\n',
        f"{STEPS}::test_a_step_is_not_handed_out_for_another",
    ),
    Mutant(
        "threads that begin a stream at once both pay",
        "gate/gate.py::Gate.advance",
        "with running.of(digest), ",
        "with running.of(os.urandom(8).hex()), ",
        f"{STEPS}::test_a_thread_that_begins_while_another_looks_waits_for_its_payment",
    ),
    Mutant(
        "verifying does not follow steps",
        "gate/ledger/verification.py::History._continue",
        "        elif step != self.steps.get(payment, 0) + 1:\n",
        "        elif step < 0:\n",
        f"{STEPS}::test_a_step_that_does_not_follow_is_found_by_verifying",
    ),
    Mutant(
        "steps are taken for a question of the same text",
        "gate/plans.py::plan_digest",
        '    if not hasattr(plan, "run"):\n',
        "    if False:\n",
        f"{STEPS}::test_steps_are_never_taken_for_a_question_of_the_same_text",
    ),
    # Streams.
    Mutant(
        "a unit's rows are chosen before the condition",
        "query/workloads/streams.py::StreamPlan._rows",
        "        return First(counting, self.counter.limit.rows, ColumnValue(WHEN.name, WHEN.kind))\n",
        "        return First(Derived(scan, (Named(WHEN, self.period),), ends[1]), self.counter.limit.rows,"
        " ColumnValue(WHEN.name, WHEN.kind))\n",
        f"{STREAMS}::test_rows_that_do_not_pass_the_condition_take_nobodys_place",
    ),
    Mutant(
        "a unit has more rows than it pays for",
        "query/workloads/streams.py::StreamPlan._rows",
        "        return First(counting, self.counter.limit.rows, ColumnValue(WHEN.name, WHEN.kind))\n",
        "        return First(counting, self.counter.limit.rows + 1, ColumnValue(WHEN.name, WHEN.kind))\n",
        f"{STREAMS}::test_no_unit_is_told_by_more_than_the_cost",
    ),
    Mutant(
        "a stream forgets its condition in what it says",
        "query/workloads/streams.py::StreamPlan.canonical",
        "        fields = (self.schema.table, self.schema.unit, self.period, self.start, self.where, self.counter)\n",
        "        fields = (self.schema.table, self.schema.unit, self.period, self.start, self.counter)\n",
        f"{STREAMS}::test_a_stream_is_a_plan_in_steps_that_says_all_that_matters",
    ),
]
