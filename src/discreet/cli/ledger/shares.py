"""Shares of a ledger, and requests for more, as commands read and show them."""

from collections.abc import Sequence

from discreet.cli.formatting import columns
from discreet.cli.ledger.summary import change_facts, change_lines, title_line
from discreet.cli.ledger.views import when
from discreet.cli.numbers import read_whole
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments
from discreet.core.exact import text_down
from discreet.gate import Ledger, OpenRequest, ShareRequest, one_line
from discreet.gate.ledger.views import Gauge, analyst_gauge, name_of, team_gauge, team_words

HEAD = ["request", "when (UTC)", "analyst", "share of", "asked for", "reason", "decision"]
#: Characters of a reason in a table.
WORDS = 50


def gauge_of(ledger: Ledger, whose: str, name: str) -> Gauge:
    """Return the gauge of an analyst or of a team."""
    return team_gauge(ledger, name) if whose == "team" else analyst_gauge(ledger, name)


def share_output(
    verb: str, ledger: Ledger, arguments: Arguments, changed: tuple[str, str, Gauge], more: dict[str, Fact]
) -> CommandOutput:
    """Return the change of a share: whose it is, the name, and what it was before."""
    whose, name, earlier = changed
    shown = team_words(name) if whose == "team" else name_of(name)
    before, after = [(shown, earlier)], [(shown, gauge_of(ledger, whose, name))]
    lines = [title_line(ledger), "", *change_lines(before, after)]
    account = ledger.state.account
    limit = (account.team_limits if whose == "team" else account.limits).get(name)
    if limit is not None and limit > account.limit:
        lines.append(f"The limit of the whole is lower, and binds this {whose} too.")
    return CommandOutput(verb, {**change_facts(ledger, before, after, arguments), **more}, tuple(lines))


def find_request(ledger: Ledger, arguments: Arguments) -> OpenRequest:
    """Return the open request that is named."""
    return ledger.state.shares.find(read_whole(arguments.number, "NUMBER"))


def request_facts(found: ShareRequest) -> dict[str, Fact]:
    """Return a request for a program."""
    asked, decision = found.request, found.decision
    return {
        "number": found.number,
        "at": asked.at,
        "analyst": asked.analyst,
        "team": asked.team,
        "limit_exact": str(asked.limit),
        "reason": asked.reason,
        "decided_by": None if decision is None else decision.by,
        "decided_at": None if decision is None else decision.at,
        "decision": None if decision is None else decision.reason,
        "granted_exact": None if decision is None or decision.limit is None else str(decision.limit),
    }


def request_lines(found: Sequence[ShareRequest]) -> list[str]:
    """Return requests for a person."""
    return columns([HEAD, *map(_row, found)]) if found else ["No requests."]


def _row(found: ShareRequest) -> list[str]:
    asked, decision = found.request, found.decision
    verdict = "open"
    if decision is not None:
        share = "declined" if decision.limit is None else f"granted {text_down(decision.limit)}"
        verdict = f"{share} by {name_of(decision.by)}: {one_line(decision.reason, WORDS)}"
    whose = team_words(asked.team) if asked.team else "their own"
    return [
        str(found.number),
        when(asked.at),
        name_of(asked.analyst),
        whose,
        text_down(asked.limit),
        one_line(asked.reason, WORDS),
        verdict,
    ]
