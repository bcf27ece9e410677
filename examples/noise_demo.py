"""The mechanisms at work on a small table of people: exact answers beside private ones, with error bars."""

from pathlib import Path

import numpy as np
from noise_plot import draw_noise
from people import STATUSES, People, generate

from discreet import Bounds, counting_query, histogram
from discreet.accounting import Composed, PrivacyLoss, epsilon
from discreet.mechanisms import CentredTotal, ExponentialMechanism, Laplace, Mean

EPSILON = 0.5
PICTURE = Path("demo-noise.png")


def main() -> None:
    """Tell the story in four answers and a picture."""
    people = generate()
    print(f"{len(people.age)} people who do not exist. Every private answer below costs ε = {EPSILON}.\n")
    costs = [_count(people), _histogram(people), _mean(people), _favourite(people)]
    print(f"Together these cost ε = {epsilon(Composed(costs), 0):g}, by adding up.")
    draw_noise(PICTURE, EPSILON)
    print(f"A picture of the noise is in {PICTURE}.")


def _count(people: People) -> PrivacyLoss:
    exact = int((people.age >= 40).sum())
    mechanism = Laplace.for_epsilon(EPSILON, counting_query())
    print(f"How many are aged 40 and over?   exact {exact}")
    print(f"  one private answer: {mechanism.perturb(exact)} ± {mechanism.error(0.95)} (95 %)")
    others = ", ".join(str(value) for value in mechanism.perturb([exact] * 8))
    print(f"  asked again (on real data each would be paid for): {others}\n")
    return mechanism.cost


def _histogram(people: People) -> PrivacyLoss:
    exact = np.bincount(people.status, minlength=len(STATUSES))
    mechanism = Laplace.for_epsilon(EPSILON, histogram())
    error = mechanism.error(0.95, size=len(STATUSES))
    print(f"Marital status   (each ± {error}, all four at once with 95 %)")
    for name, true, private in zip(STATUSES, exact, mechanism.perturb(exact), strict=True):
        print(f"  {name:14} exact {true:4}   private {private:4}")
    print()
    return mechanism.cost


def _mean(people: People) -> PrivacyLoss:
    bounds = Bounds(0, 100)
    mechanism = Mean.for_epsilon(EPSILON, bounds)
    answer = mechanism.perturb(CentredTotal.of(people.age, bounds))
    print(f"Average age   exact {people.age.mean():.2f}   private {answer.value:.2f} ± {answer.error:.2f} (95 %)\n")
    return mechanism.cost


def _favourite(people: People) -> PrivacyLoss:
    scores = np.bincount(people.status, minlength=len(STATUSES))
    mechanism = ExponentialMechanism(epsilon=EPSILON, monotone=True)
    chosen = mechanism.choose(scores)
    print(f"Most common status   exact {STATUSES[int(scores.argmax())]}   private {STATUSES[chosen]}\n")
    return mechanism.cost


if __name__ == "__main__":
    main()
