"""Opens and begins ledgers on the command line, and shows their gauges and payments."""

import getpass
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.accounting import Guarantee, guarantee, loss_to_text
from discreet.cli.account.targets import delta_of, epsilon_of, payers_of
from discreet.cli.console import Palette
from discreet.cli.formatting import sentence
from discreet.cli.numbers import read_number
from discreet.cli.output import Fact, bound_facts, exact_facts
from discreet.cli.parsing import Arguments
from discreet.core import DiscreetError, InvalidInput, Neighbours, PrivacyUnit, exact, positive, round_down, round_up
from discreet.core.private_files import open_private
from discreet.gate import (
    SERVER,
    Budget,
    Entitling,
    Ledger,
    Policy,
    Receipt,
    cost_words,
    from_body,
    need_label,
    one_line,
)
from discreet.gate.ledger.views import HARDLY, LITTLE, WORDS, Gauge, Terms, name_of

#: A δ to show what a ρ means by.
EXAMPLE_DELTA = Fraction(1, 10**9)


@contextmanager
def reachable(subject: str) -> Iterator[None]:
    """Turn what the system says of a path into a refusal."""
    try:
        yield
    except DiscreetError:
        raise
    except (OSError, ValueError) as error:  # a path may have a zero byte in it, or bytes that are not text
        raise InvalidInput(
            f"{subject} cannot be read or written ({type(error).__name__}).", fix="check the path and who may use it"
        ) from None


def open_ledger(arguments: Arguments) -> Ledger:
    """Return the ledger that is asked about."""
    with reachable("The ledger"):
        return Ledger.open(arguments.place, key=arguments.key, anchors=arguments.anchor)


def need_apart(path: str, ledger: str) -> None:
    """Refuse a file that belongs to a ledger's own: its log, its journal, its queue."""
    with reachable("The file"):
        own = Path(ledger).resolve()
        other = Path(path).resolve()
    if other.parent == own.parent and other.name.startswith(f"{own.name}-"):
        raise InvalidInput("This file is a part of the ledger.", fix="choose another path")


def new_file(path: str, lines: Iterable[str], ledger: str) -> None:
    """Write lines to a file where there is none: so no ledger, key or anchor can be written over.

    Only its owner may read it, until the owner decides otherwise.
    """
    need_apart(path, ledger)
    with reachable("The file"):
        place = Path(path)
        try:
            handle = open_private(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            raise InvalidInput("There is a file at this path already.", fix="choose another path for it") from None
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.writelines(f"{line}\n" for line in lines)
        except BaseException:
            place.unlink()  # half of it would look like all of it
            raise


def author(arguments: Arguments) -> str:
    """Return the author: as typed, else the name of the user. It is a note, not a proof."""
    if arguments.by is not None:
        return str(arguments.by)
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise InvalidInput("The user's name is not known.", fix="pass --by with your name") from None


def limit_of(arguments: Arguments) -> Fraction:
    """Return the limit as typed."""
    return positive(read_number(arguments.to, "--to"), "--to")


def ledger_facts(ledger: Ledger) -> dict[str, Fact]:
    """Return the first lines of every answer about a ledger."""
    return {"ledger": ledger.identity, "title": ledger.birth.title}


def birth_facts(ledger: Ledger) -> dict[str, Fact]:
    """Return the terms that are fixed for life, and the limit at birth."""
    budget = ledger.budget
    return {
        **ledger_facts(ledger),
        "currency": currency(ledger),
        **exact_facts("birth_limit", budget.limit, round_down(budget.limit)),
        **exact_facts("delta", budget.delta, round_up(budget.delta)),
        "person": budget.unit.column,
        "window": None if budget.unit.window is None else str(budget.unit.window),
        "neighbours": budget.unit.neighbours.value,
        "policy": ledger.birth.policy.value,
        "per": budget.per,
        **exact_facts("least", budget.least_price, round_up(budget.least_price)),
    }


def currency(ledger: Ledger) -> str:
    """Return the noun that the limit counts."""
    return currency_of(ledger.budget)


def currency_of(budget: Budget) -> str:
    """Return the noun that a budget counts."""
    return "rho" if budget.epsilon is None else "epsilon"


def gauge_facts(gauge: Gauge | Terms) -> dict[str, Fact]:
    """Return a gauge for a program: rounded up what is spent, rounded down what may be.

    Personal accounts have no gauge: charges and balances of a person are for that person alone.
    """
    if isinstance(gauge, Terms):
        return dict.fromkeys(("spent", "spent_exact", "limit", "limit_exact", "left", "left_exact"))
    return {
        **exact_facts("spent", gauge.spent, round_up(gauge.spent)),
        **exact_facts("limit", gauge.limit, round_down(gauge.limit)),
        **exact_facts("left", gauge.left, round_down(gauge.left)),
    }


def terms_facts(terms: Terms) -> dict[str, Fact]:
    """Return the terms that bind each personal account, for a program."""
    most = terms.most
    return {
        "currency": "rho" if terms.symbol == "ρ" else "epsilon",
        **exact_facts("limit", terms.limit, round_down(terms.limit)),
        **exact_facts("everybody", terms.base, round_up(terms.base)),
        **exact_facts("reserve", terms.reserve, round_up(terms.reserve)),
        "most": None if most is None else round_down(most),
        "most_exact": None if most is None else str(most),
    }


def standing_rows(standings: Iterable[tuple[str, Gauge | Terms]]) -> list[list[str]]:
    """Return the limits for all, for a reader; terms have no bar, and without gauges there is no room for one."""
    shown = list(standings)
    room = [""] if any(isinstance(account, Gauge) for _, account in shown) else []
    return [
        gauge_row(name, account) if isinstance(account, Gauge) else [name, *room, account.words()]
        for name, account in shown
    ]


def gauge_row(name: str, gauge: Gauge) -> list[str]:
    """Return a gauge for a person, painted if a person sees it."""
    palette = Palette.of(sys.stdout)
    used = 1.0 if not gauge.left else gauge.share
    paint = palette.good if used < LITTLE else palette.warning if used < HARDLY else palette.bad
    return [name, paint(gauge.bar()), gauge.words()]


@dataclass(frozen=True, slots=True)
class Paid:
    """A payment as it is told: the receipt, when, the entry that answered it, and how many steps followed that one."""

    receipt: Receipt
    at: str
    release: int | None
    continued: int = 0

    @classmethod
    def of(cls, ledger: Ledger, receipt: Receipt) -> "Paid":
        """Return the description of a payment."""
        event = from_body(ledger.link(receipt.number)[1].body)
        at = event.at if isinstance(event, Entitling) else ""
        return cls(receipt, at, ledger.release_of(receipt.payment), ledger.continuations(receipt.payment))

    def facts(self) -> dict[str, Fact]:
        """Return it for a program."""
        receipt = self.receipt
        return {
            "entry": receipt.number,
            "at": self.at,
            "request": receipt.request,
            "analyst": receipt.analyst,
            "what": receipt.what,
            "cost": loss_to_text(receipt.cost),
            "cost_words": cost_words(receipt.cost),
            "copied": receipt.copied or None,
            "release": self.release,
            "continued": self.continued,
        }

    def row(self) -> list[str]:
        """Return it for a person."""
        receipt = self.receipt
        return [
            str(receipt.number),
            when(self.at),
            name_of(receipt.analyst),
            one_line(receipt.what, WORDS),
            one_line(cost_words(receipt.cost), WORDS),
            self._release_text(),
        ]

    def _release_text(self) -> str:
        if self.release is None:
            return "not yet"
        copied = ", a copy" if self.receipt.copied else ""
        steps = f" and {self.continued:,} more step{'' if self.continued == 1 else 's'}" if self.continued else ""
        return f"entry {self.release}{steps}{copied}"


def when(at: str) -> str:
    """Return a time to the minute."""
    return one_line(str(at)[:16].replace("T", " "))


def lifetime_promise(ledger: Ledger) -> tuple[Guarantee, Fraction]:
    """Return the guarantee of the limit for life; a ρ has a guarantee at every δ, of which one is an example."""
    promise = ledger.promise
    if promise.epsilon != float("inf"):
        return promise, ledger.budget.delta
    beside = ledger.budget.delta + EXAMPLE_DELTA
    return guarantee(ledger.state.account.promise, beside), beside


def promise_lines(ledger: Ledger) -> list[str]:
    """Return the meaning of the limit, for a reader."""
    promise, delta = lifetime_promise(ledger)
    example = "" if delta == ledger.budget.delta else ", for example,"
    separate = (
        ["This holds against each analyst alone: k analysts who share their answers may learn k times as much."]
        if ledger.birth.policy is Policy.SEPARATE
        else []
    )
    return [f"For life, the whole of it promises{example} {promise}.", sentence(promise.epsilon, delta), *separate]


def promise_facts(ledger: Ledger) -> dict[str, Fact]:
    """Return the meaning of the limit, for a program."""
    promise, delta = lifetime_promise(ledger)
    return {"promise": {**bound_facts("epsilon", promise.epsilon), **exact_facts("delta", delta, round_up(delta))}}


def budget_of(arguments: Arguments) -> Budget:
    """Return the budget as typed."""
    column = arguments.person
    neighbours = Neighbours.REPLACE if arguments.replace else Neighbours.ADD_REMOVE
    unit = PrivacyUnit(column=None if column is None else need_label(column, "--person"), neighbours=neighbours)
    reserve = None if arguments.reserve is None else exact(read_number(arguments.reserve, "--reserve"), "--reserve")
    least = None if arguments.least is None else positive(read_number(arguments.least, "--least"), "--least")
    if arguments.rho is None:
        level = positive(epsilon_of(arguments), "--epsilon")
        return Budget(level, delta_of(arguments), reserve=reserve, unit=unit, least=least, **payers_of(arguments))
    # A ρ is a promise without a δ, so that none is advised: one that is typed is for parts that may fail.
    delta = delta_of(arguments) if arguments.delta is not None else Fraction(0)
    rho = positive(read_number(arguments.rho, "--rho"), "--rho")
    return Budget(rho=rho, delta=delta, reserve=reserve, unit=unit, least=least, **payers_of(arguments))


def need_no_ledger(place: str) -> None:
    """Refuse a path at which a file is already."""
    if not place.startswith(SERVER) and Path(place).exists():
        raise InvalidInput(
            "There is a file at this path already, and a ledger is never begun anew.",
            fix="look at it with discreet ledger show, or choose another path",
        )
