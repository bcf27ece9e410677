"""The local model on a hundred thousand devices, without a trusted server: browsers, hours, and words in no dictionary.

Each device perturbs its own answers and pays for them from its own purse. The server's estimates stand beside the
truth, which only this program knows, as it has made the people up.
"""

import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from discreet.accounting import epsilon
from discreet.core import Bounds, BudgetExceeded
from discreet.local import (
    NumberResponse,
    PrefixTree,
    Purse,
    best_encoder,
    encode_all,
    encode_texts,
    estimate,
    estimate_mean,
    find_texts,
    report_bits,
    shuffled_cost,
)

PEOPLE = 100_000
BROWSERS = ["Ember", "Lynx", "Mosaic", "Nautilus", "Otter", "Puffin", "Quill", "Raven"]
HELD = np.array([38_000, 24_000, 14_000, 9_000, 6_000, 4_500, 3_000, 1_500])
WORDS = {"brb": 22_000, "yolo": 15_000, "smol": 9_000}
PICTURE = Path("local-browsers.png")


def one_device() -> None:
    """Answer three questions from one purse, of which the third is one too many."""
    browser = best_encoder(domain=len(BROWSERS), epsilon=1)
    with tempfile.TemporaryDirectory() as folder:
        purse = Purse.create(Path(folder) / "purse", epsilon=2)
        first = purse.answer("browser", browser, 0)
        again = purse.answer("browser", browser, 0)
        print(f"One device reports {first}, and when it is asked again, {again}. It has ε = {purse.left} left.")
        purse.answer("operating system", best_encoder(domain=4, epsilon=1), 2)
        try:
            purse.answer("age", best_encoder(domain=9, epsilon=0.5), 3)
        except BudgetExceeded as error:
            print(f"A third question is refused: {error.problem}")


def browsers() -> None:
    """Count browsers, with bars that hold for all of them at once."""
    encoder = best_encoder(domain=len(BROWSERS), epsilon=1)
    found = estimate(encoder, encode_all(encoder, np.repeat(np.arange(len(BROWSERS)), HELD)))
    print(f"\n{type(encoder).__name__}, {report_bits(encoder)} bits a report:")
    for name, truth, count, error in zip(BROWSERS, HELD, found.counts, found.error, strict=True):
        print(f"  {name:9} {count:8,.0f} ± {error:5,.0f}   (in truth {truth:6,})")
    shuffled = epsilon(shuffled_cost(encoder, people=PEOPLE), 1e-9)
    print(f"  If a shuffler mixes the reports, each costs ε = {shuffled:.3f} in place of 1, at δ = 1e-9.")
    draw(found.counts, found.error)


def hours() -> None:
    """Estimate how long people sleep."""
    slept = np.clip(np.random.default_rng(1).normal(7.2, 1.1, PEOPLE), 0, 24)
    encoder = NumberResponse.hybrid(bounds=Bounds(0, 12), epsilon=1)
    made = estimate_mean(encoder, encode_all(encoder, slept))
    print(f"\nPeople sleep {made.mean[0]:.2f} ± {made.error:.2f} hours; in truth {slept.mean():.2f}.")


def words() -> None:
    """Find words that are on no list."""
    typed = [word for word, count in WORDS.items() for _ in range(count)]
    typed += [f"{number:05d}" for number in range(PEOPLE - len(typed))]
    tree = PrefixTree(length=5, epsilon=3)
    print("\nWords that many people type:")
    for each in find_texts(tree, encode_texts(tree, typed)).found:
        text = each.text.decode()
        print(f"  {text:6} {each.count:8,.0f} ± {each.error:6,.0f}   (in truth {WORDS.get(text, 0):6,})")


def draw(counts: np.ndarray, errors: np.ndarray) -> None:
    """Draw estimates beside the truth."""
    figure = Figure(figsize=(7.5, 3.2), layout="constrained")
    axes = figure.subplots()
    axes.bar(BROWSERS, HELD, color="#d5dbdb", label="truth, which nobody has")
    axes.errorbar(BROWSERS, counts, errors, fmt="o", color="#1f618d", capsize=3, label="estimate from reports")
    axes.set_ylabel("people")
    axes.legend(frameon=False)
    figure.savefig(PICTURE, dpi=120)
    print(f"  picture: {PICTURE}")


if __name__ == "__main__":
    one_device()
    browsers()
    hours()
    words()
