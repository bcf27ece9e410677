"""The verb that begins a ledger."""

from argparse import Namespace
from fractions import Fraction
from pathlib import Path

from discreet.cli.answers import Answer, Fact
from discreet.cli.books import birth_facts, promise_facts, promise_lines, reachable
from discreet.cli.typed import read_number
from discreet.cli.wanted import delta_of, epsilon_of, payers_of, people_of
from discreet.cli.words import columns
from discreet.core import InvalidInput, Neighbours, PrivacyUnit, exact, positive
from discreet.gate import Budget, Ledger, Policy
from discreet.gate.ledger.opening import SERVER, places_of
from discreet.gate.ledger.views import promise_words, title_of
from discreet.gate.plans import need_label


def answer_create(arguments: Namespace) -> Answer:
    """Begin a ledger, and tell what has to be kept with it."""
    budget = _budget(arguments)
    need_label(arguments.title, "--title", empty=True)
    with reachable("The ledger"):
        _need_free(arguments.place)
        ledger = Ledger.create(
            arguments.place,
            budget,
            title=arguments.title,
            policy=Policy(arguments.policy),
            key=arguments.key,
            anchors=arguments.anchor,
        )
    with ledger:
        key = arguments.key or f"{arguments.place}.key"
        anchors = [str(place) for place in places_of(ledger.identity, arguments.anchor, arguments.place)]
        facts: dict[str, Fact] = {
            **birth_facts(ledger),
            **promise_facts(ledger),
            "people": people_of(arguments),
            "key": key,
            "anchors": [*anchors],
        }
        rows = [
            ["ledger", title_of(ledger)],
            ["name", ledger.identity],
            ["promise", promise_words(ledger)],
            ["key", f"{key} (whoever has it can sign for the ledger)"],
            *(["anchor", place] for place in anchors),
        ]
        kept = "Keep the name where people look, and the key and the anchors where the ledger is not."
        lines = [*columns(rows), "", *promise_lines(ledger), "", kept]
    return Answer("create", facts, tuple(lines))


def _budget(arguments: Namespace) -> Budget:
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


def _need_free(place: str) -> None:
    if not place.startswith(SERVER) and Path(place).exists():
        raise InvalidInput(
            "There is a file at this path already, and a ledger is never begun anew.",
            fix="look at it with discreet ledger show, or choose another path",
        )
