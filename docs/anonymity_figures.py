"""Draws the figures of the pages on anonymity: `python docs/anonymity_figures.py`."""  # noqa: INP001 (a script)

from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from discreet.anonymity import Microdata, beliefs, homogeneous, mondrian, reconstruct

STATIC = Path(__file__).parent / "_static"
RED, BLUE, OCHRE = "#b03a2e", "#1f618d", "#b7950b"


def draw_boxes(path: Path) -> None:
    """Draw what Mondrian publishes of 300 people who do not exist: a box for each class, with its people inside."""
    generator = np.random.default_rng(2)  # noqa: TID251 - people who do not exist
    age = np.clip(generator.normal(47, 17, 300), 18, 90).astype(int)
    pay = np.clip(20 + 0.5 * age + generator.gamma(2.0, 9.0, 300), 15, 110).astype(int)
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    for axes, k in zip(figure.subplots(1, 2, sharey=True), (5, 20), strict=True):
        made = mondrian(Microdata.of({"age": age, "pay": pay}), ["age", "pay"], k=k)
        for box in range(made.classes.count):
            inside = made.classes.labels == box
            low, high = (age[inside].min(), pay[inside].min()), (age[inside].max(), pay[inside].max())
            size = (high[0] - low[0] + 0.8, high[1] - low[1] + 0.8)
            axes.add_patch(Rectangle((low[0] - 0.4, low[1] - 0.4), *size, fill=False, ec=RED, lw=0.8))
        axes.plot(age, pay, ".", color=BLUE, ms=2.5)
        axes.set_title(f"k = {k}: {made.classes.count} classes", fontsize=9)
        axes.set_xlabel("age")
    figure.axes[0].set_ylabel("pay in thousands")
    figure.savefig(path, metadata={"Date": None})


def draw_told(path: Path) -> None:
    """Draw of how many people a k-anonymous table tells the illness, by k and by what else is known."""
    generator = np.random.default_rng(5)  # noqa: TID251 - people who do not exist
    people, illnesses = 2_000, np.array(["asthma", "cancer", "diabetes", "flu", "HIV"])
    age = generator.integers(18, 90, people)
    shares = np.array([[0.5, 0.02, 0.03, 0.43, 0.02], [0.1, 0.15, 0.6, 0.14, 0.01]])
    ill = [int(generator.choice(5, p=shares[int(old)])) for old in age > 50]
    columns = {"age": age, "postcode": generator.integers(0, 40, people), "illness": illnesses[ill]}
    known = [{"age": int(one), "postcode": int(two)} for one, two in zip(age, columns["postcode"], strict=True)]
    sizes = (2, 3, 5, 8, 12, 20)
    curves: dict[str, list[float]] = {"nothing else": [], "they have no flu": [], "neither flu nor diabetes": []}
    for k in sizes:
        made = mondrian(Microdata.of(columns), ["age", "postcode"], k=k)
        curves["nothing else"].append(100 * float(homogeneous(made, "illness")))
        for label, excluded in zip([*curves][1:], ({"flu"}, {"flu", "diabetes"}), strict=True):
            asked = [person for person in range(people) if illnesses[ill[person]] not in excluded]
            told = sum(len(beliefs(made, known[person], "illness", excluded=excluded)) == 1 for person in asked)
            curves[label].append(100 * told / len(asked))
    figure = Figure(figsize=(7.5, 3), layout="constrained")
    axes = figure.subplots()
    for (label, curve), colour in zip(curves.items(), (BLUE, OCHRE, RED), strict=True):
        axes.plot(sizes, curve, color=colour, marker="o", ms=3, lw=1, label=f"known beside age and postcode: {label}")
    axes.set_xlabel("k")
    axes.set_ylabel("% whose illness is told")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def draw_reconstruction(path: Path) -> None:
    """Draw how many of 100 secrets are told by counts about random groups: exact ones, and rounded ones."""
    generator = np.random.default_rng(9)  # noqa: TID251 - people who do not exist
    secret = generator.random(100) < 1 / 2
    asked = generator.random((600, 100)) < 1 / 2
    truth = asked @ secret.astype(int)
    figure = Figure(figsize=(7.5, 3), layout="constrained")
    axes = figure.subplots()
    numbers = range(10, 601, 10)
    for width, colour in ((1, RED), (5, OCHRE), (10, BLUE)):
        answers = np.round(truth / width) * width
        right = [100 * float(np.mean(reconstruct(asked[:number], answers[:number]) == secret)) for number in numbers]
        axes.plot(numbers, right, color=colour, lw=1, label="exact" if width == 1 else f"rounded to {width}s")
    axes.set_xlabel("number of counts that were published")
    axes.set_ylabel("% of the secrets told")
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    # No date, fixed ids and text as text: the same picture is the same file.
    with mpl.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        draw_boxes(STATIC / "mondrian.svg")
        draw_told(STATIC / "anonymity-told.svg")
        draw_reconstruction(STATIC / "reconstruction.svg")
