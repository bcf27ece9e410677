"""`discreet ledger allow`, `requests`, `grant` and `decline`: shares of the budget, and requests for more."""

from discreet.cli.commands.ledger import placed, signed_off
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments, argument, command, exclusive, flag, option


@command("allow", "Set the share of an analyst or of a team: how much of the budget they may spend.")
@placed
@option("--analyst", "NAME", "the analyst")
@option("--team", "NAME", "the team, whose members pay from it together")
@exclusive("--analyst", "--team", required=True)
@option("--to", "E", "the ε or ρ that may be spent: an amount, not a part")
@flag("--no-limit", "no limit of their own beside the budget")
@exclusive("--to", "--no-limit", required=True)
@signed_off
def allow_command(arguments: Arguments) -> CommandOutput:
    """Set the share of an analyst or of a team, or take it away."""
    from discreet.cli.ledger.shares import gauge_of, share_output
    from discreet.cli.ledger.views import author, limit_of, open_ledger
    from discreet.gate import need_label

    whose = "analyst" if arguments.team is None else "team"
    name = need_label(arguments.analyst if arguments.team is None else arguments.team, f"--{whose}")
    limit = None if arguments.no_limit else limit_of(arguments)
    with open_ledger(arguments) as ledger:
        before = gauge_of(ledger, whose, name)
        ledger.resize(limit, by=author(arguments), reason=arguments.reason, **{whose: name})
        facts: dict[str, Fact] = {"analyst": None, "team": None, whose: name, "own_limit": limit is not None}
        return share_output("allow", ledger, arguments, (whose, name, before), facts)


@command("requests", "Requests for larger shares, and what was decided about them.")
@placed
@flag("--all", "also those that were decided about")
def requests_command(arguments: Arguments) -> CommandOutput:
    """List the requests for more."""
    from discreet.cli.ledger.shares import request_facts, request_lines
    from discreet.cli.ledger.views import ledger_facts, open_ledger

    with open_ledger(arguments) as ledger:
        found = [one for one in ledger.shares.list_requests() if arguments.all or one.decision is None]
        facts: dict[str, Fact] = {**ledger_facts(ledger), "requests": [request_facts(one) for one in found]}
        return CommandOutput("requests", facts, tuple(request_lines(found)))


number_argument = argument("number", "NUMBER", "the number of the request: see discreet ledger requests")


@command("grant", "Grant a request for more: the share is what was asked for, or what --to says.")
@placed
@number_argument
@option("--to", "E", "the ε or ρ of the share from now on (what was asked for, if left out)")
@signed_off
def grant_command(arguments: Arguments) -> CommandOutput:
    """Grant a request for more."""
    from discreet.cli.ledger.shares import find_request, gauge_of, share_output
    from discreet.cli.ledger.views import author, limit_of, open_ledger

    with open_ledger(arguments) as ledger:
        request = find_request(ledger, arguments)
        whose, name = ("team", request.team) if request.team else ("analyst", request.analyst)
        before = gauge_of(ledger, whose, name)
        limit = None if arguments.to is None else limit_of(arguments)
        ledger.shares.grant(request.number, by=author(arguments), reason=arguments.reason, limit=limit)
        facts: dict[str, Fact] = {"request": request.number, "analyst": request.analyst, "team": request.team}
        return share_output("grant", ledger, arguments, (whose, name, before), facts)


@command("decline", "Decline a request for more: nothing changes, and the reason stays on record.")
@placed
@number_argument
@signed_off
def decline_command(arguments: Arguments) -> CommandOutput:
    """Decline a request for more."""
    from discreet.cli.ledger.shares import find_request
    from discreet.cli.ledger.views import author, ledger_facts, open_ledger

    with open_ledger(arguments) as ledger:
        request = find_request(ledger, arguments)
        ledger.shares.decline(request.number, by=author(arguments), reason=arguments.reason)
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "by": author(arguments),
            "reason": arguments.reason,
            "request": request.number,
            "analyst": request.analyst,
            "team": request.team,
        }
    return CommandOutput("decline", facts, (f"Request {request.number} is declined. Nothing has changed.",))
