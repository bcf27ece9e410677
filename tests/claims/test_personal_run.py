"""The accounts that a gate runs questions among decide as the plain model does, whose promise is checked elsewhere."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.algebra.aggregates import Rows
from discreet.algebra.contributions import Contribution
from discreet.core import Bounds, PrivacyUnit, bounded_sum
from discreet.gate import Budget, Policy
from discreet.gate.accounts.account_names import Directory
from discreet.gate.accounts.balances import Accounts
from discreet.gate.accounts.charges import Run
from discreet.gate.accounts.personal_terms import PersonalAccount
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.planning.charging import Charges, PassCost, noise_cost
from personal_model import Model, Part, Question

PEOPLE, MOST = 40, 6
#: What a charge may be more than the exact one: a quantum, and what a few roundings of floats are covered by.
SLACK = Fraction(1, 2**38)
BOUND = bounded_sum(Bounds(0, MOST, step=1))
LAPLACE, GAUSSIAN = Laplace.for_epsilon(Fraction(1, 5), BOUND), Gaussian.for_rho(Fraction(1, 150), BOUND)
PARTS = {
    "laplace": (noise_cost(LAPLACE, Rows()), Part("laplace", Fraction(1, 5), MOST)),
    "gaussian": (noise_cost(GAUSSIAN, Rows()), Part("gaussian", Fraction(1, 150), MOST**2)),
    "whole": (PassCost(LAPLACE.cost), Part("other", Fraction(1, 50))),
}


def terms_of(**budget):
    return PersonalAccount.create(Budget(**budget, per="person", unit=PrivacyUnit(column="person")), Policy.SHARED)


def contribution(rows):
    reach = np.array(rows, float)
    return Contribution(reach, reach**2)


@pytest.mark.parametrize("kind", PARTS)
def test_charges_are_those_of_the_model_and_never_less(kind):
    cost, part = PARTS[kind]
    terms = terms_of(rho=Fraction(1, 10)).terms
    model = Model(terms.limit, quantum=terms.quantum)
    rows = list(range(1, MOST + 1))
    found = Charges((Rows(),), (cost,)).of([contribution(rows)], MOST, in_rho=True, quantum=terms.quantum)
    for own, charged in zip(rows, found, strict=True):
        exact = model.charge(Question((part,)), "x" * own)[0]
        assert exact <= charged <= exact * (1 + SLACK) + 1


@pytest.mark.parametrize("budget", [{"rho": Fraction(1, 10)}, {"epsilon": 2, "delta": 1e-9}, {"epsilon": 2}])
def test_over_many_passes_the_same_people_take_part_and_leave(budget):
    """What the gate's run is told that a pass costs, the model is told too; so only admission is compared."""
    terms = terms_of(**budget)
    run = Run(Accounts(Directory()), terms, ())
    names = np.arange(PEOPLE).astype(np.uint64)
    numbers = run.accounts.directory.numbers(names, names.astype(np.uint32))
    usable = terms.terms.limit - terms.aside[0]  # but for the reserve for failures
    model, generator = Model(usable, range(PEOPLE)), np.random.default_rng(11)
    left_out = 0
    for _ in range(60):
        asked = generator.permutation(PEOPLE)[: int(generator.integers(1, PEOPLE))]
        charges = dict(
            zip(asked.tolist(), generator.integers(0, terms.terms.limit // 10, len(asked)).tolist(), strict=True)
        )
        model.charge = lambda _, person, charges=charges: (charges[person], 0)
        admitted, _ = model.ask(None, {person: person for person in charges})
        able = run.admit(numbers[asked], np.array(list(charges.values()), float), 0)
        assert set(asked[able].tolist()) == admitted
        left_out += len(asked) - len(admitted)
    assert left_out > PEOPLE


def test_the_exact_limit_is_admitted_and_a_quantum_more_is_not():
    terms = terms_of(rho=Fraction(1, 10))
    run = Run(Accounts(Directory()), terms, ())
    numbers = run.accounts.directory.numbers(np.array([7], np.uint64), np.array([7], np.uint32))
    limit = float(terms.terms.limit - terms.aside[0])
    assert not run.admit(numbers, np.array([limit + 1]), 0)
    assert run.admit(numbers, np.array([limit]), 0)
    assert not run.admit(numbers, np.array([1.0]), 0)


def test_what_an_earlier_run_took_is_credited_once_over_all_passes():
    terms = terms_of(rho=Fraction(1, 10))
    accounts = Accounts(Directory())
    numbers = accounts.directory.numbers(np.array([7], np.uint64), np.array([7], np.uint32))
    run = Run(accounts, terms, [(numbers, np.array([100], np.uint32), np.zeros(1, np.uint32))])
    for _ in range(3):
        assert run.admit(numbers, np.array([60.0]), 0)
    assert run.people().amounts.tolist() == [80]  # three times 60, but for the 100
