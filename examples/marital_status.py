"""Which marital status is most common? The name of the largest count, without any of the counts.

One person adds one to one count, so all counts move the same way when somebody joins or leaves: `monotone`, which
halves the noise.
"""

from discreet.mechanisms import ExponentialMechanism, NoiseKind, PermuteAndFlip, ReportNoisyMax

COUNTS = {"single": 409, "married": 417, "divorced": 131, "widowed": 38, "separated": 12}
EPSILON = 0.5


def main() -> None:
    """Print how likely each answer is, under three mechanisms of the same ε, and one answer."""
    mechanisms: dict[str, ExponentialMechanism | PermuteAndFlip | ReportNoisyMax] = {
        "exponential mechanism": ExponentialMechanism(epsilon=EPSILON, monotone=True),
        "permute-and-flip": PermuteAndFlip(epsilon=EPSILON, monotone=True),
        "noisy max, Laplace": ReportNoisyMax(epsilon=EPSILON, monotone=True, noise=NoiseKind.LAPLACE),
    }
    counts = list(COUNTS.values())
    print(f"{'':24}" + "".join(f"{status:>11}" for status in COUNTS))
    for name, mechanism in mechanisms.items():
        print(f"{name:24}" + "".join(f"{chance:11.2%}" for chance in mechanism.probabilities(counts)))
    mechanism = mechanisms["permute-and-flip"]
    off = mechanism.error(0.95, candidates=len(counts))
    print()
    print(f"With 95 % confidence the answer's count is within {off:.1f} of the largest, whatever the counts.")
    print(f"The most common marital status, at ε = {EPSILON}: {list(COUNTS)[mechanism.choose(counts)]}.")


if __name__ == "__main__":
    main()
