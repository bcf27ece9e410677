"""Planted bugs of shares and copies; see `mutants`."""

from mutants.mutant import Mutant

TESTS = "unit/test_gate_shares.py"
SERVICE, PROCESSES = "unit/test_service_shares.py", "contracts/test_service_shares.py"

SHARE_MUTANTS = [
    Mutant(
        "a copy charges nobody",
        "gate/ledger/state.py::LedgerState.after",
        "account=self.account.copy(cost, *charged)",
        "account=self.account",
        f"{TESTS}::test_ten_analysts_who_ask_the_same_charge_the_dataset_once",
    ),
    Mutant(
        "the dataset is charged again by each who asks the same",
        "gate/ledger/append.py::_choose_copy",
        "find_copied(event, reading, state) if isinstance(event, Payment) else None",
        "None",
        f"{TESTS}::test_ten_analysts_who_ask_the_same_charge_the_dataset_once",
    ),
    Mutant(
        "a team's share is not asked",
        "gate/accounts/dataset.py::DatasetAccount.charge",
        "        if team:\n",
        "        if False:\n",
        f"{TESTS}::test_a_team_is_charged_once_for_what_its_members_ask",
    ),
    Mutant(
        "a team is charged for every member",
        "gate/entries/events.py::Copied.charged",
        '"" if self.team_at else self.team',
        "self.team",
        f"{TESTS}::test_a_team_is_charged_once_for_what_its_members_ask",
    ),
    Mutant(
        "fresh noise is a copy",
        "gate/gate.py::Gate._pay",
        "once = not fresh and",
        "once =",
        f"{TESTS}::test_fresh_noise_is_paid_for_by_all_three",
    ),
    Mutant(
        "the price tells a member that others asked",
        "gate/gate.py::Gate._find_answered",
        "find(digest, self._analyst, self._team)",
        "find(digest)",
        f"{TESTS}::test_a_price_is_the_same_whatever_others_asked",
    ),
    Mutant(
        "the work for a price tells how many asked the same",
        "gate/ledger/sharing.py::Sharing.find",
        "answered = (payment for payment, _ in self._own.of(analyst, plan) if self._is_answered(payment))",
        "every = list_released_payments(self._reading, plan)\n"
        "            answered = (number for number in every if self._receipt(number).analyst == analyst)",
        f"{TESTS}::test_the_work_for_a_price_is_the_same_whatever_others_asked",
    ),
    Mutant(
        "a copy is there before a run could be",
        "gate/gate.py::Gate.release",
        "                    self._pace_copy(plan)\n",
        "                    pass\n",
        f"{TESTS}::test_a_copy_is_paced_as_a_run_of_its_own",
    ),
    Mutant(
        "a copy is handed out where a run would be refused",
        "gate/gate.py::Gate._prepare_plan",
        "if payment is None or self._ledger.release_of(payment, step) is None:",
        "if next(self._ledger.shares._reading.payments_of_plan(digest), None) is None:",
        f"{TESTS}::test_what_a_fresh_run_would_refuse_a_copy_refuses",
    ),
    Mutant(
        "a copy at another cost than was paid is taken for sound",
        "gate/ledger/verification.py::History._copy",
        'elif self.payments[payment] != hash((fields["plan"], fields["cost"])):',
        "elif False:",
        f"{TESTS}::test_a_copy_that_charges_less_than_it_should_is_found",
    ),
    Mutant(
        "a copy that charges nobody is taken for sound",
        "gate/ledger/verification.py::History._copy",
        'if before != [fields.get("analyst_at", 0), fields.get("team_at", 0)]:',
        "if False:",
        f"{TESTS}::test_a_copy_that_charges_less_than_it_should_is_found",
    ),
    Mutant(
        "with separate budgets what one analyst paid for is copied by another",
        "gate/accounts/dataset.py::DatasetAccount.has_share",
        "self.policy is Policy.SHARED and (analyst in self.limits or team in self.team_limits)",
        "analyst in self.limits or team in self.team_limits",
        f"{TESTS}::test_each_analyst_with_the_whole_budget_has_no_team_and_copies_nothing",
    ),
    Mutant(
        "a team's share of the total changes the limit of each person",
        "gate/accounts/personal_terms.py::PersonalAccount.resize",
        "if analyst is not None or team:",
        "if analyst is not None:",
        f"{TESTS}::test_with_personal_accounts_a_copy_charges_shares_of_the_total_and_no_person",
    ),
    Mutant(
        "an older release reads a checkpoint with shares, and forgets them",
        "gate/entries/shares.py::ShareState.to_text",
        "if self == ShareState() and not teams:",
        "if True:",
        f"{TESTS}::test_an_older_release_refuses_a_checkpoint_after_a_copy_or_a_team",
    ),
    Mutant(
        "a request for more is granted without a steward",
        "gate/ledger/state.py::_record_request",
        "        return replace(state, shares=state.shares.record_request(request))\n",
        "        state = replace(state, account=state.account.resize(event.limit, event.analyst))\n"
        "        return replace(state, shares=state.shares.record_request(request))\n",
        f"{TESTS}::test_a_request_that_is_granted_sets_the_share_and_who_decided_stays_on_record",
    ),
    Mutant(
        "a refusal tells how long the ledger looked",
        "service/runs.py::PacedRun._ask",
        'case "refused" if not began:',
        'case "refused" if False:',
        "unit/test_service_slots.py::"
        "test_what_is_refused_before_a_run_is_told_at_a_step_of_the_clock_however_long_the_ledger_looked",
    ),
    Mutant(
        "a worker charges no team",
        "service/runs.py::PacedRun._ask",
        "team=asked.team,",
        'team="",',
        f"{PROCESSES}::test_members_who_ask_the_same_at_once_charge_dataset_and_team_once",
    ),
    Mutant(
        "analysts read what others asked the steward for",
        "service/door.py::list_share_requests",
        "who.role in READING_ALL or one.request.analyst == who.name",
        "True",
        f"{SERVICE}::test_an_analyst_asks_for_more_and_the_steward_decides",
    ),
    Mutant(
        "whoever asks for more grants it",
        "service/door.py",
        "DECIDING = (Role.STEWARD,)",
        "DECIDING = (Role.STEWARD, Role.ANALYST)",
        f"{SERVICE}::test_nobody_but_the_steward_decides",
    ),
    Mutant(
        "the certificate of a copy is for whoever paid first",
        "service/door.py::certify",
        "receipt.analyst != who.name",
        "ledger.receipt(receipt.payment).analyst != who.name",
        f"{SERVICE}::test_a_certificate_of_a_copy_is_for_its_own_analyst",
    ),
    Mutant(
        "advice names an answer that others were given",
        "gate/ledger/sharing.py::Sharing.is_open_to",
        "and not account.has_share(analyst, team)",
        "",
        f"{SERVICE}::test_whatever_others_asked_a_preview_has_the_same_bytes",
    ),
    Mutant(
        "who may begin no run is given copies",
        "gate/ledger/append.py::_choose_copy",
        "    if event.runner:\n",
        "    if False:\n",
        f"{TESTS}::test_who_may_begin_no_run_is_refused_a_copy_in_the_same_words",
    ),
]
