"""A market day: what a song should cost, where two wells should be dug, which way to drive.

Three decisions are made by what people say. In each of them it hardly pays to say anything but the truth, or does not
pay at all, because no one answer moves the decision by much. Each is paid for from one ledger.
"""

import tempfile
from pathlib import Path

from discreet.gate import Budget, Gate, Ledger
from discreet.market import (
    Auction,
    FacilityLine,
    Mediator,
    Outcome,
    PostedPrices,
    PriceGrid,
    TruthfulChoice,
    best_epsilon,
    routing_game,
)

LISTENERS = [2.5] * 420 + [4] * 260 + [9.99] * 120
WEEKS = [[2.5] * 40 + [6] * 30, [2.5] * 35 + [6] * 33, [3] * 50 + [6] * 28]
VILLAGE = [0] * 300 + [1] * 250 + [6] * 150 + [8] * 200 + [10] * 100
DRIVERS = ["harbour"] * 2000 + ["old town"] * 1700 + ["heights"] * 1300


def sell(ledger: Ledger) -> None:
    """Sell a song at one price."""
    auction = Auction.for_bidders(len(LISTENERS), epsilon=0.5, top=10)
    price = Gate(ledger, LISTENERS).release(auction).answer
    best = max(bid * sum(other >= bid for other in LISTENERS) for bid in LISTENERS)
    earned = sum(Outcome(price).pays(bid) for bid in LISTENERS)
    print(f"A song costs {float(price):.2f}, and earns {float(earned):.2f}; the best price earns {best:.2f}.")
    print(f"  {auction.revenue(len(LISTENERS))}")
    print(f"  {auction.truthfulness()}")
    print(f"  {auction.collusion(3)}")


def learn(ledger: Ledger) -> None:
    """Post a price every week, learned from the weeks before."""
    shop = PostedPrices(grid=PriceGrid(40, top=10), rounds=4, epsilon=0.2)
    prices = [Gate(ledger, WEEKS[:week]).advance(shop, week).answer for week in range(4)]
    print(f"Week by week a poster costs {', '.join(f'{float(price):.2f}' for price in prices)}.")


def dig(ledger: Ledger) -> None:
    """Dig two wells where ways are short, and where no one gains by lying about their home."""
    road = FacilityLine(11)
    choice = TruthfulChoice(road, epsilon=best_epsilon(road, len(VILLAGE)))
    wells = Gate(ledger, VILLAGE).release(choice).answer
    walked = -int(choice.scores(VILLAGE)[choice.tables.outcomes.index(wells)])
    print(f"Wells are dug at {wells[0]} and {wells[1]}; all ways together are {walked} steps.")
    print(f"  With probability {float(choice.mixing):.2f} they are dug to catch liars; {choice.truthfulness()}.")


def drive(ledger: Ledger) -> None:
    """Suggest a route to each driver."""
    mediator = Mediator(routing_game(len(DRIVERS)), rho=0.05, rounds=1024)
    board = mediator.billboard(Gate(ledger, DRIVERS).release(mediator).answer)
    for kind in mediator.game.types:
        shares = ", ".join(f"{share:.0%} {action}" for action, share in board.mean_play(kind).items() if share > 0.02)
        print(f"From the {kind}: {shares}.")
    print(f"  {mediator.regret()}")
    print(f"  The largest regret of anybody today: {max(board.regrets(DRIVERS).values()):.4f}")


def main() -> None:
    """Decide, and tell what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(Path(folder) / "day.ledger", Budget(epsilon=4, delta=1e-9), title="market", anchors=[])
        for decide in (sell, learn, dig, drive):
            decide(ledger)
            print()
        print(f"All of it together: ε = {float(ledger.budget.epsilon - ledger.left):.2f} of 4, at δ = 10⁻⁹.")
        ledger.close()


if __name__ == "__main__":
    main()
