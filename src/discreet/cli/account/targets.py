"""Reads what is asked about a loss: the loss itself, the δ, the budget to keep."""

import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting import MOST_CHARACTERS, PrivacyLoss, advised_delta, loss_to_text, need_delta, neighbours_of
from discreet.cli.account.loss_syntax import read_loss
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import Fact, exact_facts
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput, exact, positive, round_down, round_up
from discreet.core.exact import text_down


@dataclass(frozen=True, slots=True)
class PrivacyTarget:
    """The target: (ε, δ), or ρ."""

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None

    def facts(self) -> dict[str, Fact]:
        """Return the target for a program, rounded down: who keeps less keeps the target."""
        numbers = {"epsilon": self.epsilon, "delta": self.delta if self.rho is None else None, "rho": self.rho}
        facts: dict[str, Fact] = {}
        for name, number in numbers.items():
            key = f"target_{name}"
            facts |= (
                {key: None, f"{key}_exact": None} if number is None else exact_facts(key, number, round_down(number))
            )
        return facts


def loss_of(arguments: Arguments) -> PrivacyLoss:
    """Return the loss that is asked about."""
    if arguments.loss != "-":
        return read_loss(arguments.loss)
    try:
        return read_loss(sys.stdin.read(MOST_CHARACTERS + 1))
    except UnicodeDecodeError:
        raise InvalidInput("Standard input is not text.", fix="pass a loss such as 'gaussian(sigma=1)'") from None


def people_of(arguments: Arguments) -> int | None:
    """Return the number of people, if it was given."""
    return None if arguments.people is None else read_whole(arguments.people, "--people")


def delta_of(arguments: Arguments) -> Fraction:
    """Return the δ: as typed, else what is advised for so many people, else 0; never one too large for them."""
    people = people_of(arguments)
    if arguments.delta is not None:
        delta = read_number(arguments.delta, "--delta")
    else:
        delta = Fraction(0) if people is None else Fraction(text_down(advised_delta(people), 2))
    if not 0 <= delta < 1:
        raise InvalidInput("--delta must lie in [0, 1).", fix="pass --delta 0, or a small one such as --delta 1e-9")
    if people is None:
        return exact(delta, "--delta")
    try:
        return need_delta(delta, people)
    except InvalidInput as error:
        raise InvalidInput(error.problem, fix=error.fix.replace("delta=", "--delta ")) from error


def epsilon_of(arguments: Arguments) -> Fraction:
    """Return the ε as typed."""
    return exact(read_number(arguments.epsilon, "--epsilon"), "--epsilon")


def payers_of(arguments: Arguments) -> dict[str, Any]:
    """Return the kind of account, and the cap of one question per person, for a budget."""
    if arguments.per != "person" and arguments.most is not None:
        raise InvalidInput(
            "--most applies to personal accounts only.", fix="pass --per person, too, or leave out --most"
        )
    if arguments.per == "person" and getattr(arguments, "replace", False):
        raise InvalidInput(
            "Personal accounts are for people who are added or removed.", fix="leave out --replace, or --per person"
        )
    most = None if arguments.most is None else positive(read_number(arguments.most, "--most"), "--most")
    return {"per": arguments.per or "dataset", "most": most}


def target_of(arguments: Arguments) -> PrivacyTarget:
    """Return the target."""
    if arguments.rho is None:
        return PrivacyTarget(positive(epsilon_of(arguments), "--epsilon"), delta_of(arguments), None)
    if arguments.delta is not None or arguments.people is not None:
        raise InvalidInput("A ρ takes no δ.", fix="leave out --delta and --people, or pass --epsilon for --rho")
    return PrivacyTarget(None, Fraction(0), positive(read_number(arguments.rho, "--rho"), "--rho"))


def loss_facts(loss: PrivacyLoss) -> dict[str, Fact]:
    """Return a loss for a program, with the neighbours that it is tied to."""
    tied = neighbours_of(loss)
    return {"loss": loss_to_text(loss), "neighbours": None if tied is None else tied.value}


def delta_facts(delta: Fraction, people: int | None) -> dict[str, Fact]:
    """Return a δ for a program."""
    return {**exact_facts("delta", delta, round_up(delta)), "people": people}
