"""What should an apple cost? The best price is fragile: noise on it would be useless, a choice by profit is not.

Three buyers would pay $1.00 for an apple and one would pay $4.01. Their bids are private. At $1.00 all four buy, at
$4.01 only one does, and both bring in about $4. But a cent more than either price loses most of the sale or all of it.
"""

from decimal import Decimal

from discreet.mechanisms import ExponentialMechanism

PRICES = [Decimal("1.00"), Decimal("1.01"), Decimal("4.01"), Decimal("4.02")]
BIDS = [Decimal("1.00")] * 3 + [Decimal("4.01")]


def profit(price: Decimal, bids: list[Decimal]) -> Decimal:
    """Return what the seller takes in: everyone who bids the price or more buys one apple."""
    return price * sum(bid >= price for bid in bids)


def mechanism() -> ExponentialMechanism:
    """Return the mechanism, at ε = 1.

    A buyer who joins or leaves moves every profit the same way, and none by more than the highest price.
    """
    return ExponentialMechanism(epsilon=1, sensitivity=max(PRICES), monotone=True)


def main() -> None:
    """Print the chances of each price, for four buyers and for four hundred, and choose one."""
    many = BIDS * 100
    few_profits, many_profits = ([profit(price, bids) for price in PRICES] for bids in (BIDS, many))
    few_chances, many_chances = mechanism().probabilities(few_profits), mechanism().probabilities(many_profits)
    print("        4 buyers          400 buyers")
    print("price   profit  chosen    profit   chosen")
    for row in zip(PRICES, few_profits, few_chances, many_profits, many_chances, strict=True):
        print("${}   ${}   {:5.1%}   ${:>6}    {:5.1%}".format(*row))
    print()
    print("The best price is $4.01. One cent of noise on it, and nobody buys.")
    print("Chosen by profit, $1.00 and $4.01 come out about equally often; the more buyers, the rarer the rest.")
    print(f"Today, with 400 buyers, an apple costs ${PRICES[mechanism().choose(many_profits)]}.")


if __name__ == "__main__":
    main()
