"""The registry of people, as commands read and show it."""

import time
from collections.abc import Iterable

from discreet.cli.dataset.sessions import find_project
from discreet.cli.formatting import columns
from discreet.cli.ledger.views import author, reachable
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import Fact
from discreet.cli.parsing import Arguments
from discreet.core import positive, whole
from discreet.gate import Ledger
from discreet.service import PersonRecord, Principal, Registry, Role, registry_place
from discreet.session import read_settings

DAY = 24 * 60 * 60


def find_registry(arguments: Arguments) -> Registry:
    """Return the registry of the dataset that the settings describe."""
    path = find_project(arguments)
    with reachable("The settings"):
        return Registry(registry_place(path, read_settings(path).ledger))


def seconds_of(arguments: Arguments) -> int | None:
    """Return how long a token is to be valid."""
    return None if arguments.days is None else whole(read_whole(arguments.days, "--days"), "--days", least=1) * DAY


def add_person(arguments: Arguments) -> tuple[Principal, str]:
    """Add a user, and return them with their token. The share is paid out by the ledger first: no token without."""
    principal = Principal(name=arguments.name, role=Role(arguments.role), team=arguments.team or "")
    registry, seconds = find_registry(arguments), seconds_of(arguments)
    registry.need_free(principal.name)
    if arguments.share is not None:
        share = positive(read_number(arguments.share, "--share"), "--share")
        with reachable("The ledger"), Ledger.open(read_settings(find_project(arguments)).ledger) as ledger:
            ledger.resize(share, by=author(arguments), reason="a share of the budget", analyst=principal.name)
    with reachable("The registry of people"):
        return principal, registry.add(principal, seconds=seconds)


def person_facts(person: PersonRecord) -> dict[str, Fact]:
    """Return a user for a program. Times are seconds since 1970."""
    return {
        "name": person.principal.name,
        "role": person.principal.role.value,
        "team": person.principal.team,
        "added": person.added,
        "revoked": person.revoked,
        "tokens": [
            {"identity": token.identity, "made": token.made, "expires": token.expires} for token in person.tokens
        ],
    }


def person_lines(people: Iterable[PersonRecord]) -> list[str]:
    """Return all users for a reader."""
    heading = ["name", "role", "team", "token", "valid until"]
    return columns([heading, *(_row(person) for person in people)])


def _row(person: PersonRecord) -> list[str]:
    who = person.principal
    if person.revoked is not None:
        return [who.name, who.role.value, who.team, "none", f"revoked {_day(person.revoked)}"]
    newest = person.tokens[-1]
    end = "no end" if newest.expires is None else _day(newest.expires)
    return [who.name, who.role.value, who.team, f"dsc1.{newest.identity}.…", end]


def _day(second: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(second))
