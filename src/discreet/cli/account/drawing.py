"""Computes the numbers of a picture, and has them drawn."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from types import ModuleType

from discreet.accounting import PrivacyLoss, loss_to_text
from discreet.cli.account.picture_data import curve_series, noise_series, theorem_series, winners
from discreet.cli.account.targets import epsilon_of
from discreet.cli.formatting import shorten
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.parsing import Arguments
from discreet.core import DiscreetError, InvalidInput, probability, whole

FORMATS = (".png", ".svg")
#: At which ε the noise is worked out: from 0.1 to 10, four steps to a factor of ten.
EPSILONS = tuple(Fraction(f"{10 ** (step / 4):.3g}") for step in range(-4, 5))
#: Beyond these all theorems say the same: nothing, or everything.
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(20)
#: Beyond this a picture would take minutes.
MOST_TIMES = 10**6


def draw_curve_of(arguments: Arguments, loss: PrivacyLoss, file: str) -> None:
    """Draw the privacy curve of a loss, under the text that it was typed as, if it was."""
    path, pictures = _prepare_picture(file)
    text = loss_to_text(loss) if arguments.loss == "-" else arguments.loss
    series = curve_series(loss)
    with _writing(file):
        pictures.draw_curve(path, series, " ".join(text.split()))


def draw_noise(arguments: Arguments) -> None:
    """Draw the least noise against ε, for one release and for many."""
    delta, times = _delta(arguments), _times(arguments)
    path, pictures = _prepare_picture(arguments.file)
    panels = [
        ("one release" if count == 1 else f"{count:,} releases", noise_series(delta, count, EPSILONS))
        for count in sorted({1, times})
    ]
    title = f"The least noise that keeps ε at δ = {shorten(delta)}; one person moves each answer by 1"
    with _writing(arguments.file):
        pictures.draw_noise(path, panels, title)


def draw_theorems(arguments: Arguments) -> None:
    """Draw the composition theorems against the number of releases."""
    once, delta, times = epsilon_of(arguments), _delta(arguments), _times(arguments)
    if not LEAST_EPSILON <= once <= MOST_EPSILON:
        raise InvalidInput(
            f"The theorems are drawn for an --epsilon from {shorten(LEAST_EPSILON)} to {MOST_EPSILON}.",
            fix="pass --epsilon 0.1, or ask `discreet account compare` for numbers",
        )
    path, pictures = _prepare_picture(arguments.file)
    lines, spans = theorem_series(once, delta, times), winners(once, delta, times)
    title = f"What releases of ε = {shorten(once)} each add up to, at δ = {shorten(delta)}"
    with _writing(arguments.file):
        pictures.draw_theorems(path, lines, spans, title)


def _delta(arguments: Arguments) -> Fraction:
    return probability(read_number(arguments.delta, "--delta"), "--delta")


def _times(arguments: Arguments) -> int:
    return whole(read_whole(arguments.times, "--times"), "--times", least=2, most=MOST_TIMES)


def _prepare_picture(file: str) -> tuple[Path, ModuleType]:
    """Return the file and the drawing function, before anything slow is computed."""
    path = Path(file)
    if path.suffix not in FORMATS:
        raise InvalidInput("The picture is neither a .png nor a .svg.", fix="name the file curve.png, for example")
    if "\0" in file or not path.parent.is_dir():
        raise _unwritable(file)
    try:
        return path, import_module("discreet.cli.account.pictures")
    except ImportError as error:
        raise DiscreetError(
            "Pictures are drawn with matplotlib, which is not installed.", fix="pip install 'discreet[plot]'"
        ) from error


@contextmanager
def _writing(file: str) -> Iterator[None]:
    """Refuse a file that cannot be written."""
    try:
        yield
    except OSError as error:
        raise _unwritable(file) from error


def _unwritable(file: str) -> InvalidInput:
    return InvalidInput(
        f"The picture cannot be written to {file!r}.", fix="name a file in a directory that exists and is yours"
    )
