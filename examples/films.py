"""Which film should the club watch again? The best average rating, and the best three, without any rating.

Everyone in a club of 200 has rated every film from 1 to 5 stars, and the size of the club is public. If one member had
rated otherwise, an average would move by at most 4/200 stars: that is the sensitivity, exactly.
"""

from fractions import Fraction

from discreet.mechanisms import PermuteAndFlip, TopK

MEMBERS = 200
STARS = {
    "Metropolis": 861,
    "City Lights": 884,
    "The General": 872,
    "Nosferatu": 702,
    "Sunrise": 866,
    "Safety Last!": 655,
}


def main() -> None:
    """Print the averages, the chance of each film, a recommendation and a list of three."""
    averages = [Fraction(total, MEMBERS) for total in STARS.values()]
    best = PermuteAndFlip(epsilon=1, sensitivity=Fraction(4, MEMBERS))
    top = TopK(k=3, epsilon=3, sensitivity=Fraction(4, MEMBERS))
    titles = list(STARS)
    print("film           average   recommended with probability")
    for title, average, chance in zip(titles, averages, best.probabilities(averages), strict=True):
        print(f"{title:14} {float(average):7.3f}   {chance:.1%}")
    off = best.error(0.95, candidates=len(titles))
    print()
    print(f"With 95 % confidence the film recommended is within {off:.2f} stars of the best, whatever the ratings.")
    print(f"Recommended, at ε = 1: {titles[best.choose(averages)]}.")
    print(f"Three to watch, at ε = 3: {', '.join(titles[index] for index in top.choose(averages))}.")


if __name__ == "__main__":
    main()
