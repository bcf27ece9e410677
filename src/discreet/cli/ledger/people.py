"""Shows personal accounts. The output is private, and says so."""

from discreet.cli.formatting import columns
from discreet.cli.ledger.views import when
from discreet.cli.output import Fact, exactly
from discreet.core import InvalidInput, round_down, round_up
from discreet.core.exact import text_down, text_up
from discreet.gate import Ledger
from discreet.gate.accounts.statements import PARTS, Charge, Distribution, Statement
from discreet.gate.ledger.views import CLOSED, FULL, WIDTH, WORDS, name_of
from discreet.gate.releases import one_line

HEAD = ["entry", "when (UTC)", "analyst", "what", "cost", "answered"]
#: Of whoever was never charged, whether or not there is such a person: nothing in it depends on any row.
NO_ACCOUNT = "no account: nothing was ever charged"
ONLY_THEIRS = "This is made of that person's rows: it is for that person, and nobody who sees answers may see it."
ONLY_STEWARDS = "This is made of people's rows: nobody who sees answers may see it, and nobody may act on it."


def need_window(ledger: Ledger, window: str | None) -> None:
    """Refuse a missing stretch of time, and one too many."""
    kept = ledger.budget.unit.window
    if ledger.budget.personal and kept is not None and window is None:
        raise InvalidInput(
            "A person has an account for each stretch of time here.",
            fix=f"type its first day after the ID: this ledger keeps one for each {one_line(kept)}",
        )
    if ledger.budget.personal and kept is None and window is not None:
        raise InvalidInput("A person has one account here, for life.", fix="leave out what follows the ID")


def statement_facts(found: Statement) -> dict[str, Fact]:
    """Return the statement of one person for a program."""
    return {
        "currency": "rho" if found.symbol == "ρ" else "epsilon",
        **exactly("spent", found.spent, round_up(found.spent)),
        **exactly("limit", found.limit, round_down(found.limit)),
        **exactly("left", found.left, round_down(found.left)),
        **exactly("everybody", found.base, round_up(found.base)),
        **exactly("reserve", found.reserve, round_up(found.reserve)),
        **exactly("failures_limit", found.failures_limit, round_down(found.failures_limit)),
        "charges": [_charge_facts(one) for one in found.charges],
    }


def _charge_facts(one: Charge) -> dict[str, Fact]:
    return {
        "entry": one.payment,
        "at": one.at,
        "analyst": one.analyst,
        "what": one.what,
        **exactly("amount", one.amount, round_up(one.amount)),
        **exactly("failures", one.failures, round_up(one.failures)),
        "answered": one.answered,
    }


def statement_lines(found: Statement) -> list[str]:
    """Return the statement of one person, for that person."""
    symbol = found.symbol
    balance = f"{symbol} = {text_up(found.spent)} of {text_down(found.limit)} spent, {text_down(found.left)} left"
    base = [f"{symbol} = {text_up(found.base)} of it is charged to everybody, for what became known elsewhere."]
    aside = [f"{symbol} = {text_up(found.reserve)} of the limit is set aside in every account, for runs that fail."]
    base = [*(aside if found.reserve else []), *(base if found.base else [])]
    lines = [balance, *base, *([CLOSED] if found.closed else [])]
    if not found.charges:
        return [NO_ACCOUNT, *(lines if found.base or found.closed else [])]
    return [*lines, "", *columns([HEAD, *(_charge_row(one, symbol) for one in found.charges)])]


def _charge_row(one: Charge, symbol: str) -> list[str]:
    failures = f", δ = {text_up(one.failures)}" if one.failures else ""
    return [
        str(one.payment),
        when(one.at),
        name_of(one.analyst),
        one_line(one.what, WORDS),
        f"{symbol} = {text_up(one.amount)}{failures}",
        "yes" if one.answered else "not yet",
    ]


def part_facts(found: Distribution) -> list[Fact]:
    """Return the counts by the part of the limit that is used: at least `from`, and less than the next."""
    return [{"from": place / PARTS, "people": count} for place, count in enumerate(found.counts)]


def distribution_lines(found: Distribution) -> list[str]:
    """Return how far accounts are used, for the steward."""
    most = max(found.counts, default=0) or 1
    rows = [
        [_part(place), f"{count:,}", FULL * round(WIDTH * count / most)] for place, count in enumerate(found.counts)
    ]
    return [
        f"{found.people:,} account{'' if found.people == 1 else 's'}, of all who were in a table when it was asked.",
        "",
        *columns([["used", "people", ""], *rows]),
    ]


def _part(place: int) -> str:
    if place == PARTS:
        return "all of it"
    return f"{100 * place // PARTS} to {100 * (place + 1) // PARTS} %"
