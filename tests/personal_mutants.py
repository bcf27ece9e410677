"""Planted bugs of personal accounts: who is admitted, what is charged, stored and told; see `mutants`."""

from mutant import Mutant

TERMS = "unit/test_gate_personal.py"
RUNS = "unit/test_gate_personal_runs.py"
PEOPLE = "unit/test_gate_personal_people.py"

PERSONAL_MUTANTS = [
    Mutant(
        "a price in quanta is rounded down",
        "accounting/personal.py",
        "    return -(-amount // quantum)\n",
        "    return amount // quantum\n",
        f"{TERMS}::test_a_price_is_never_below_the_cost",
    ),
    Mutant(
        "an (ε, δ) gives all of δ to ρ, and failures a tenth besides",
        "accounting/personal.py",
        "largest_rho(epsilon, delta - kept), kept",
        "largest_rho(epsilon, delta), kept",
        f"{TERMS}::test_what_a_person_may_be_charged_implies_the_promised_epsilon_and_nearly_all_of_it",
    ),
    Mutant(
        "a lowered limit lowers the promise to those who had spent more",
        "gate/personal_account.py",
        "return self.terms.at_least(*self.reached).promise",
        "return self.terms.promise",
        f"{TERMS}::test_nobody_can_have_lost_more_than_is_promised",
    ),
    Mutant(
        "what became known elsewhere is not charged to persons",
        "gate/takings.py",
        "limit - self.terms.base[place] - (spent[numbers] + now)",
        "limit - (spent[numbers] + now)",
        f"{RUNS}::test_what_became_known_elsewhere_is_charged_to_those_who_come_later_too",
    ),
    Mutant(
        "a second pass forgets what the first took",
        "gate/takings.py",
        "limit - self.terms.base[place] - (spent[numbers] + now)",
        "limit - self.terms.base[place] - spent[numbers]",
        f"{RUNS}::test_passes_of_one_run_add_up_before_they_are_stored",
    ),
    Mutant(
        "who is left out is charged all the same",
        "gate/takings.py",
        "taken[numbers] += np.where(able, charge, 0)",
        "taken[numbers] += charge",
        f"{RUNS}::test_who_is_left_out_is_charged_nothing_and_may_take_part_in_what_costs_less",
    ),
    Mutant(
        "failure masses are charged and never looked at",
        "gate/takings.py",
        "            if place and not failures:\n",
        "            if place:\n",
        f"{RUNS}::test_failure_masses_have_an_account_of_their_own",
    ),
    Mutant(
        "a run after a crash charges everybody again",
        "gate/people_desk.py",
        "for number in self._reading.charges_of(payment):",
        "for number in []:",
        f"{RUNS}::test_what_was_charged_and_not_answered_is_charged_once",
    ),
    Mutant(
        "a run after a crash is free to those who add more than before",
        "gate/takings.py",
        "np.maximum(taken - self._paid[place][numbers], 0)",
        "np.where(self._paid[place][numbers] > 0, 0, taken)",
        f"{RUNS}::test_a_second_run_charges_each_person_the_greater_of_both",
    ),
    Mutant(
        "a dead run of several passes is credited",
        "gate/people_desk.py",
        "paid = [*paid, charges] if people.lone else []",
        "paid = [*paid, charges]",
        f"{RUNS}::test_a_dead_run_of_several_passes_is_paid_for_as_if_it_had_been_seen",
    ),
    Mutant(
        "an answer is stored though another run of it was charged since",
        "gate/clerk.py",
        "if charged_for(reading, payment) != charge:",
        "if charged_for(reading, payment) is None:",
        f"{RUNS}::test_an_answer_is_not_stored_when_another_run_of_its_payment_was_charged_since",
    ),
    Mutant(
        "charges on old balances are written",
        "gate/books.py",
        "    if (event.after, settled) != (account.charged, account.settled):\n",
        "    if settled != account.settled:\n",
        f"{RUNS}::test_charges_follow_the_last_ones_belong_to_a_payment_and_come_before_its_answer",
    ),
    Mutant(
        "charges on old terms are written",
        "gate/books.py",
        "    if (event.after, settled) != (account.charged, account.settled):\n",
        "    if event.after != account.charged:\n",
        f"{RUNS}::test_charges_follow_the_last_ones_belong_to_a_payment_and_come_before_its_answer",
    ),
    Mutant(
        "an answer is stored though nobody was charged",
        "gate/clerk.py",
        "        case Released(charge=0):\n",
        "        case Released(charge=-1):\n",
        f"{RUNS}::test_an_answer_for_which_nobody_was_charged_is_not_stored",
    ),
    Mutant(
        "what is stored of persons has a hash that can be guessed",
        "gate/people_blobs.py",
        "            os.urandom(SALT),\n",
        "            bytes(SALT),\n",
        f"{PEOPLE}::test_the_same_people_are_never_stored_as_the_same_bytes",
    ),
    Mutant(
        "who shares the first half of a name shares an account",
        "gate/people.py",
        "            hit = self._low[place] == second[waiting]\n",
        "            hit = self._high[place] == sought[waiting]\n",
        f"{PEOPLE}::test_a_name_has_one_number_for_good_also_among_those_whose_first_half_is_alike",
    ),
    Mutant(
        "any snapshot is believed",
        "gate/personal_accounts.py",
        "if isinstance(event, Snapshot) and not self.number and number <= self._vouched:",
        "if isinstance(event, Snapshot) and not self.number:",
        f"{RUNS}::test_a_snapshot_that_nobody_vouches_for_is_counted_again_and_refused_if_it_is_false",
    ),
    Mutant(
        "verifying does not look at limits of persons",
        "gate/people_audit.py",
        "        if isinstance(event, Charged) and self._over(people):\n",
        "        if isinstance(event, Charged) and not people:\n",
        f"{RUNS}::test_verifying_finds_a_charge_beyond_the_limit_an_answer_without_charges_and_one_too_late",
    ),
    Mutant(
        "exports hold persons",
        "gate/events.py",
        "Answered = Released | Continued\n",
        "Answered = Released | Continued | Charged\n",
        f"{RUNS}::test_exports_and_certificates_have_no_persons_and_prove_what_they_did",
    ),
]
