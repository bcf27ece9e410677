"""Reads the treatment of each column for `discreet anonymity deidentify`."""

from collections.abc import Callable, Sequence
from pathlib import Path

from discreet.anonymity import (
    Clip,
    DatePart,
    DayTo,
    Drop,
    Keep,
    Label,
    Mask,
    Pseudonym,
    PseudonymKey,
    Round,
    Treatment,
    read_hierarchy,
)
from discreet.cli.dataset.declarations import words_of
from discreet.cli.ledger.views import reachable
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput


def read_treatments(arguments: Arguments) -> dict[str, Treatment]:
    """Return the treatment of each column, as typed."""
    pairs: list[tuple[str, Treatment]] = [(name, Drop()) for name in words_of(arguments.drop)]
    pairs += [(name, Keep()) for name in words_of(arguments.keep)]
    if arguments.pseudonym is not None:
        key = _key(arguments.key)
        pairs += [(name, Pseudonym(key=key)) for name in words_of(arguments.pseudonym)]
    for option, make in MADE.items():
        pairs += _pairs(getattr(arguments, option), f"--{option}", make)
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise InvalidInput("A column has two treatments.", fix="name each column once")
    return dict(pairs)


def _key(path: str | None) -> PseudonymKey:
    if path is None:
        raise InvalidInput("Pseudonyms need a key.", fix="pass --key FILE; it is made if there is none")
    with reachable("The key"):
        return PseudonymKey.read(path) if Path(path).exists() else PseudonymKey.create(path)


def _pairs(typed: Sequence[str] | None, option: str, make: Callable[[str], Treatment]) -> list[tuple[str, Treatment]]:
    pairs = []
    for text in typed or ():
        column, sign, rest = text.rpartition("=")
        if not sign:
            raise InvalidInput(f"{option} does not say what to do with a column.", fix=f"write {option} COLUMN=…")
        pairs.append((column, make(rest)))
    return pairs


def _clip(text: str) -> Treatment:
    low, sign, high = text.partition("..")
    if not sign:
        raise InvalidInput("--clip needs an interval.", fix="write --clip age=0..90")
    return Clip(read_number(low, "--clip"), read_number(high, "--clip"))


def _day(text: str) -> Treatment:
    if text not in {part.value for part in DatePart}:
        raise InvalidInput("--day must be year, quarter, month or week.", fix="write --day born=year")
    return DayTo(DatePart(text))


def _label(text: str) -> Treatment:
    file, sign, level = text.rpartition(":")
    if not sign:
        raise InvalidInput("--label does not name a level.", fix="write --label job=jobs.csv:1")
    with reachable("The hierarchy"):
        return Label(read_hierarchy(file), read_whole(level, "--label"))


MADE: dict[str, Callable[[str], Treatment]] = {
    "mask": lambda text: Mask(first=read_whole(text, "--mask")),
    "round": lambda text: Round(read_number(text, "--round")),
    "clip": _clip,
    "day": _day,
    "label": _label,
}
