"""`discreet people`: who may use the service of a dataset, in which role, with which token. For its steward."""

from discreet.cli.commands import project
from discreet.cli.commands.ledger import by
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments, CommandGroup, WordChoice, argument, command, option

EXAMPLES = """\
For example:

  discreet people add ada --role analyst --share 0.5 --team icu      prints her token, once
  discreet people list
  discreet people rotate ada --overlap 24                            a new token; the old one lasts 24 more hours
  discreet people revoke ada                                         at once, also on a server that is running

A token is the password of PostgreSQL's clients and the bearer token of HTTP. Only a hash of it is stored, in a file
beside the ledger.
"""
ROLES = """\
Roles: a steward may do everything; an analyst asks, and pays from a share of the budget; an auditor reads what was
asked and what it cost, and asks nothing; a person is in the data, and asks nothing.
"""

people_command = CommandGroup(
    "people",
    "Who may use the service: roles, tokens, shares of the budget.",
    modules=dict.fromkeys(("add", "list", "rotate", "revoke"), __name__),
    metavar="VERB",
    epilog=EXAMPLES,
)

name_argument = argument("name", "NAME", "the name: letters, digits, and . _ @ - after the first")
days_option = option("--days", "N", "the number of days for which the token is valid (until it is replaced or revoked)")


@command("add", "Add a user, or readmit one who was revoked; the token is printed, once.", epilog=ROLES)
@name_argument
@option(
    "--role", "ROLE", "what they may do", type=WordChoice(("steward", "analyst", "auditor", "person")), required=True
)
@option("--share", "E", "the ε or ρ of the budget that they may spend (no limit of their own, if left out)")
@option("--team", "NAME", "the team that they belong to")
@days_option
@project
@by
def add_command(arguments: Arguments) -> CommandOutput:
    """Add a user; a share is written to the ledger before a token is made."""
    from discreet.cli.registry import add_person

    principal, token = add_person(arguments)
    facts: dict[str, Fact] = {"name": principal.name, "role": principal.role.value, "token": token}
    first = f"{principal.name} may use the service as {principal.role.value}."
    lines = (first, "", f"  {token}", "", SHOWN_ONCE, "The service is started with: discreet serve")
    return CommandOutput("add", facts, lines)


@command("list", "All users who were ever added: role, team, tokens and their ends.")
@project
def list_command(arguments: Arguments) -> CommandOutput:
    """List all users; a token is shown by its public part."""
    from discreet.cli.registry import find_registry, person_facts, person_lines

    people = find_registry(arguments).list_people()
    return CommandOutput("list", {"people": [person_facts(one) for one in people]}, tuple(person_lines(people)))


@command("rotate", "Give a user a new token, which is printed, once; the old one lasts for a while.")
@name_argument
@option("--overlap", "HOURS", "how long older tokens are still valid (24)", default="24")
@days_option
@project
def rotate_command(arguments: Arguments) -> CommandOutput:
    """Give a user a new token."""
    from discreet.cli.numbers import read_whole
    from discreet.cli.registry import find_registry, seconds_of

    hours = read_whole(arguments.overlap, "--overlap")
    seconds = seconds_of(arguments)
    token = find_registry(arguments).rotate(arguments.name, overlap=hours * 3600, seconds=seconds)
    old = f"Older tokens of {arguments.name} are valid for {hours} more hours at the most."
    return CommandOutput("rotate", {"name": arguments.name, "token": token}, (f"  {token}", "", f"{SHOWN_ONCE} {old}"))


@command("revoke", "Refuse all tokens of a user, at once.")
@name_argument
@project
def revoke_command(arguments: Arguments) -> CommandOutput:
    """Refuse all tokens of a user."""
    from discreet.cli.registry import find_registry

    find_registry(arguments).revoke(arguments.name)
    line = f"{arguments.name} is refused from now on, also by a server that is running."
    return CommandOutput("revoke", {"name": arguments.name}, (line,))


#: Said of a new token.
SHOWN_ONCE = (
    "This token is shown once and stored nowhere: pass it on by a safe way. "
    "It is the password of psql and the like, and token= of discreet.connect."
)
