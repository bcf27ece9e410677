"""Shows personal accounts. The output is private, and says so."""

from discreet.cli.formatting import columns
from discreet.cli.ledger.views import when
from discreet.cli.output import Fact, exact_facts
from discreet.core import InvalidInput, round_down, round_up
from discreet.core.exact import text_down, text_up
from discreet.gate import USAGE_PARTS, AccountStatement, Charge, Distribution, Ledger, one_line
from discreet.gate.ledger.views import CLOSED, FULL, WIDTH, WORDS, name_of

HEAD = ["entry", "when (UTC)", "analyst", "what", "cost", "answered"]
#: For a name that was never charged, whether or not there is such a person: nothing in it depends on any row.
NO_ACCOUNT = "no account: nothing was ever charged"
ONLY_THEIRS = "This is computed from that person's rows: it is for that person. Do not show it to analysts."
ONLY_STEWARDS = "This is computed from people's rows: do not show it to analysts, and do not act on it."


def need_window(ledger: Ledger, window: str | None) -> None:
    """Refuse a missing stretch of time, and one too many."""
    unit_window = ledger.budget.unit.window
    if ledger.budget.personal and unit_window is not None and window is None:
        raise InvalidInput(
            "A person has an account for each stretch of time here.",
            fix=f"type its first day after the ID: this ledger keeps one for each {one_line(unit_window)}",
        )
    if ledger.budget.personal and unit_window is None and window is not None:
        raise InvalidInput("A person has one account here, for life.", fix="leave out what follows the ID")


def statement_facts(statement: AccountStatement) -> dict[str, Fact]:
    """Return the statement of one person for a program."""
    return {
        "currency": "rho" if statement.symbol == "ρ" else "epsilon",
        **exact_facts("spent", statement.spent, round_up(statement.spent)),
        **exact_facts("limit", statement.limit, round_down(statement.limit)),
        **exact_facts("left", statement.left, round_down(statement.left)),
        **exact_facts("everybody", statement.base, round_up(statement.base)),
        **exact_facts("reserve", statement.reserve, round_up(statement.reserve)),
        **exact_facts("failures_limit", statement.failures_limit, round_down(statement.failures_limit)),
        "charges": [_charge_facts(charge) for charge in statement.charges],
    }


def _charge_facts(charge: Charge) -> dict[str, Fact]:
    return {
        "entry": charge.payment,
        "at": charge.at,
        "analyst": charge.analyst,
        "what": charge.what,
        **exact_facts("amount", charge.amount, round_up(charge.amount)),
        **exact_facts("failures", charge.failures, round_up(charge.failures)),
        "answered": charge.answered,
    }


def statement_lines(statement: AccountStatement) -> list[str]:
    """Return the statement of one person, for that person."""
    symbol = statement.symbol
    balance = (
        f"{symbol} = {text_up(statement.spent)} of {text_down(statement.limit)} spent, {text_down(statement.left)} left"
    )
    base = [f"{symbol} = {text_up(statement.base)} of it is charged to all, for facts that became known elsewhere."]
    aside = [f"{symbol} = {text_up(statement.reserve)} of the limit is set aside in every account, for runs that fail."]
    base = [*(aside if statement.reserve else []), *(base if statement.base else [])]
    lines = [balance, *base, *([CLOSED] if statement.closed else [])]
    if not statement.charges:
        return [NO_ACCOUNT, *(lines if statement.base or statement.closed else [])]
    return [*lines, "", *columns([HEAD, *(_charge_row(charge, symbol) for charge in statement.charges)])]


def _charge_row(charge: Charge, symbol: str) -> list[str]:
    failures = f", δ = {text_up(charge.failures)}" if charge.failures else ""
    return [
        str(charge.payment),
        when(charge.at),
        name_of(charge.analyst),
        one_line(charge.what, WORDS),
        f"{symbol} = {text_up(charge.amount)}{failures}",
        "yes" if charge.answered else "not yet",
    ]


def part_facts(usage: Distribution) -> list[Fact]:
    """Return the counts by the part of the limit that is used: at least `from`, and less than the next."""
    return [{"from": place / USAGE_PARTS, "people": count} for place, count in enumerate(usage.counts)]


def distribution_lines(usage: Distribution) -> list[str]:
    """Return how far accounts are used, for the steward."""
    most = max(usage.counts, default=0) or 1
    rows = [
        [_part(place), f"{count:,}", FULL * round(WIDTH * count / most)] for place, count in enumerate(usage.counts)
    ]
    return [
        f"{usage.people:,} account{'' if usage.people == 1 else 's'}, of all who were in a table when it was asked.",
        "",
        *columns([["used", "people", ""], *rows]),
    ]


def _part(place: int) -> str:
    if place == USAGE_PARTS:
        return "all of it"
    return f"{100 * place // USAGE_PARTS} to {100 * (place + 1) // USAGE_PARTS} %"
