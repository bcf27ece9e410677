"""`discreet serve`: the service of one or more datasets, until it is told to stop."""

import sys

from discreet.cli.console import write
from discreet.cli.output import CommandOutput
from discreet.cli.parsing import PROJECT, Arguments, argument, command, flag, option

EXAMPLES = """\
For example:

  discreet people add ada --role analyst --share 0.5
  discreet serve                                        the dataset of discreet.toml here, at http://127.0.0.1:8417
  discreet serve --pg-port 5433                         for psql and its like, too; the database is the dataset
  discreet serve clinic/discreet.toml census.toml       two datasets: clinic, and census
  discreet serve --check                                reads settings, certificate and people, and serves nothing

With --json, one line of JSON tells the addresses as soon as questions are taken. SIGTERM or Ctrl-C: nothing new is
begun, what runs has a few seconds to end. Exit status: 0 after that; 2 if something is refused, or a process of the
service has ended (then the reason and its fix are on standard error).
"""


@command(
    "serve",
    "Serve datasets: analysts ask over HTTP and PostgreSQL's protocol, and never hold the rows.",
    epilog=EXAMPLES,
)
@argument("settings", "FILE", f"settings of datasets ({PROJECT} here, if left out)", nargs=-1)
@option("--http-port", "PORT", "where HTTP is served (8417); 0: a free port", default="8417")
@option("--pg-port", "PORT", "where PostgreSQL's protocol is served (not at all, if left out); 0: a free port")
@option("--host", "ADDRESS", "the address to listen on (that of the settings, or 127.0.0.1)")
@flag("--behind-proxy", "listen on other addresses without TLS: a proxy in front encrypts")
@flag("--check", "check the settings, and serve nothing")
def serve_command(arguments: Arguments) -> CommandOutput:
    """Serve until a signal; the addresses are told as soon as there are any."""
    from discreet.core.single_thread import keep_to_one_thread

    keep_to_one_thread()
    from discreet.cli.serving import serve_or_check

    return serve_or_check(arguments, lambda line: write(sys.stdout, line))
