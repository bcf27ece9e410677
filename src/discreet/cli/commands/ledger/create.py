"""`discreet ledger create`: begins a ledger."""

from discreet.cli.commands import accounts
from discreet.cli.commands.ledger import placed
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments, WordChoice, command, exclusive, flag, option


@command("create", "Begin a ledger. All its terms are fixed for life, except for the limit.")
@placed
@option("--epsilon", "E", "the most that may ever be learned, as an ε")
@option("--rho", "R", "the same as a ρ of zCDP")
@exclusive("--epsilon", "--rho", required=True)
@option("--delta", "D", "the δ (0; with --epsilon and --people, an advised δ)")
@option("--reserve", "D", "the part of δ for releases that may fail (a tenth)")
@option("--people", "N", "the number of people; a δ that is not far below 1/N is refused")
@option("--person", "COLUMN", "the column that says whose a row is (each row is a person, if left out)")
@flag("--replace", "the number of people is public (it is hidden, if left out)")
@accounts
@option("--least", "E", "the least price of a question (a ten-thousandth of the limit, or 0.001 if that is less)")
@option("--title", "TEXT", "the name that people use for it", default="")
@option(
    "--policy",
    "POLICY",
    "shared: the limit binds all analysts together (the default); separate: it binds each analyst alone",
    type=WordChoice(("shared", "separate")),
    default="shared",
)
def create_command(arguments: Arguments) -> CommandOutput:
    """Begin a ledger, and tell what has to be kept with it."""
    from discreet.cli.account.targets import people_of
    from discreet.cli.formatting import columns
    from discreet.cli.ledger.views import (
        birth_facts,
        budget_of,
        need_no_ledger,
        promise_facts,
        promise_lines,
        reachable,
    )
    from discreet.gate import Ledger, Policy, need_label, places_of
    from discreet.gate.ledger.views import promise_words, title_of

    budget = budget_of(arguments)
    need_label(arguments.title, "--title", empty=True)
    with reachable("The ledger"):
        need_no_ledger(arguments.place)
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
            ["key", f"{key} (its holder can sign for the ledger)"],
            *(["anchor", place] for place in anchors),
        ]
        advice = "Publish the name. Store the key and the anchors apart from the ledger."
        lines = [*columns(rows), "", *promise_lines(ledger), "", advice]
    return CommandOutput("create", facts, tuple(lines))
