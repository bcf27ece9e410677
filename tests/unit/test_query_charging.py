"""What each person pays for a pass covers what the pass could tell about that person: by enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.accounting import Approximate, Concentrated, Pure, Renyi
from discreet.algebra.aggregates import Aggregation, Distinct, People, PeopleCut, Rows, sensitivity_of
from discreet.algebra.contributions import Contribution
from discreet.algebra.expressions import ColumnValue
from discreet.core import Limit, Neighbours, NotProved, Sensitivity
from discreet.core.limits import TotalLimit
from discreet.core.schema import Kind
from discreet.gate import ChargedTable
from discreet.mechanisms import Gaussian, Laplace
from discreet.query.planning.charging import Basis, Charges, PassCost, choose_aggregate, noise_cost

QUANTUM = Fraction(1, 2**20)
#: All that a unit can add to four groups, with a limit of six rows.
ADDED = [counts for counts in product(range(4), repeat=4) if 0 < sum(counts) <= 6]
CONTRIBUTION = Contribution(
    np.array([sum(counts) for counts in ADDED], float),
    np.array([sum(n * n for n in counts) for counts in ADDED], float),
)
#: Keys that stay: four groups are two by two; over all of them, over rows, over columns.
MARGINS = {
    "all": lambda a, b, c, d: (a, b, c, d),
    "rows": lambda a, b, c, d: (a + b, c + d),
    "columns": lambda a, b, c, d: (a + c, b + d),
    "total": lambda a, b, c, d: (a + b + c + d,),
}
BOUND = sensitivity_of(Rows(), TotalLimit(6), Neighbours.ADD_REMOVE)


def paid(cost, *, in_rho):
    charges = Charges((Rows(),), (cost,))
    return charges.of([CONTRIBUTION], len(ADDED), in_rho=in_rho, quantum=QUANTUM) * float(QUANTUM)


@pytest.mark.parametrize("name", MARGINS)
@pytest.mark.parametrize("in_rho", [True, False], ids=["rho", "epsilon"])
def test_laplace_noise_is_paid_by_how_far_one_moves_it(name, in_rho):
    noise = Laplace.for_epsilon(Fraction(1, 2), BOUND)
    found = paid(noise_cost(noise, Rows(), added_up=name != "all"), in_rho=in_rho)
    for counts, charge in zip(ADDED, found, strict=True):
        epsilon = sum(MARGINS[name](*counts)) / noise.scale
        true = epsilon**2 / 2 if in_rho else epsilon
        assert 0 <= charge - true <= 2 * QUANTUM


@pytest.mark.parametrize("name", MARGINS)
def test_gaussian_noise_is_paid_by_how_far_one_moves_it(name):
    noise = Gaussian.for_rho(Fraction(1, 3), BOUND)
    found = paid(noise_cost(noise, Rows(), added_up=name != "all"), in_rho=True)
    for counts, charge in zip(ADDED, found, strict=True):
        true = sum(n * n for n in MARGINS[name](*counts)) / (2 * noise.variance)
        assert true <= charge
        if name in ("all", "total"):
            assert charge - true <= 2 * QUANTUM


def test_nobody_pays_more_than_the_price():
    bound = sensitivity_of(People(), Limit(groups=2), Neighbours.ADD_REMOVE)
    many = Contribution(np.array([1.0, 2.0, 2.0000001]), np.array([1.0, 2.0, 2.0000001]))
    for noise, in_rho, price in (
        (Gaussian.for_rho(Fraction(1, 10), bound), True, 0.1),
        (Laplace.for_epsilon(Fraction(1, 10), bound), False, 0.1),
    ):
        charges = Charges((People(),), (noise_cost(noise, People()),))
        found = charges.of([many], 3, in_rho=in_rho, quantum=QUANTUM) * float(QUANTUM)
        assert found[1] == found[2] == pytest.approx(price, abs=3 * float(QUANTUM))
        assert found[0] == pytest.approx(price / 2, abs=3 * float(QUANTUM))


def test_what_is_more_than_a_number_is_paid_in_full():
    value = ColumnValue("x", Kind.INTEGER)
    for aggregate in (Distinct(value), PeopleCut()):
        noise = Gaussian.for_rho(Fraction(1, 10), Sensitivity.box(l0=1, linf=1))
        assert noise_cost(noise, aggregate).basis is Basis.WHOLE
    charges = Charges((PeopleCut(), Rows()), (PassCost(Concentrated(Fraction(1, 4))), PassCost(Pure(Fraction(1, 2)))))
    found = charges.of([None, CONTRIBUTION], len(ADDED), in_rho=True, quantum=QUANTUM) * float(QUANTUM)
    assert found == pytest.approx(np.full(len(ADDED), 0.25 + 0.125), abs=2 * float(QUANTUM))
    assert np.all(found >= 0.375)


def test_failures_are_paid_in_full_and_only_what_is_paid():
    costs = (
        PassCost(Approximate(Fraction(1, 2), Fraction(1, 10**9))),
        PassCost(Concentrated(Fraction(1, 4), Fraction(1, 10**8))),
    )
    assert Charges((), costs).failures(in_rho=True) == Fraction(11, 10**9)
    assert Charges((), (costs[0], costs[1].besides())).failures(in_rho=True) == Fraction(1, 10**9)


def test_what_must_be_left_is_not_paid():
    cost, other = PassCost(Concentrated(Fraction(1, 4))), PassCost(Concentrated(Fraction(1, 8)))
    charges = Charges((Rows(),), (cost, other.besides()))
    arguments = {"in_rho": True, "quantum": QUANTUM}
    assert charges.of([CONTRIBUTION], 1, **arguments) == pytest.approx(2**18, abs=2)
    assert charges.besides([CONTRIBUTION], 1, **arguments) == pytest.approx(2**17, abs=2)
    assert Charges((Rows(),), (cost,)).besides([CONTRIBUTION], 1, **arguments) is None


def test_a_cost_without_a_known_amount_is_refused():
    charges = Charges((), (PassCost(Renyi([(2, 1)])),))
    with pytest.raises(NotProved, match="not known in the currency"):
        charges.of([], 1, in_rho=True, quantum=QUANTUM)
    with pytest.raises(NotProved, match="not known in the currency"):
        Charges((), (PassCost(Concentrated(1)),)).of([], 1, in_rho=False, quantum=QUANTUM)


def test_a_pass_tells_its_costs_where_each_person_is_charged_and_nowhere_else():
    aggregation = Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=Limit(), salt=1)
    cost = PassCost(Concentrated(Fraction(1, 4)))

    class Told(ChargedTable):
        def __init__(self):
            pass

        def aggregate_for(self, aggregation, charge, /):
            return aggregation, charge

    class Plain:
        def aggregate(self, aggregation, /):
            return aggregation

    assert choose_aggregate(Told(), lambda: [cost])(aggregation) == (aggregation, Charges((Rows(),), (cost,)))
    assert choose_aggregate(Plain(), lambda: pytest.fail("nobody is charged"))(aggregation) is aggregation
