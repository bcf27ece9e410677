"""`discreet mcp`: tools of a service for an assistant, over standard input and output."""

from discreet.cli.output import CommandOutput
from discreet.cli.parsing import Arguments, command, flag, option

EXAMPLES = """\
An assistant's program starts it, and names it in its settings:

  {"mcpServers": {"clinic": {"command": "discreet",
     "args": ["mcp", "--url", "https://data.hospital.example", "--token-file", "assistant.token"]}}}

The token is the assistant's own, with a share of the budget: discreet people add assistant --role analyst --share 0.1.
It is read from the file, or from DISCREET_TOKEN. Exit status: 0 when the assistant's program closes the connection; 2
if the service or the token is refused (then the reason and its fix are on standard error).
"""


@command("mcp", "Offer a service's questions to an AI assistant, over the Model Context Protocol.", epilog=EXAMPLES)
@option("--url", "ADDRESS", "the address of the service", required=True)
@option("--dataset", "NAME", "the dataset, where the service has several")
@option("--token-file", "FILE", "the file with the assistant's token (DISCREET_TOKEN, if left out)")
@option("--authorities", "FILE", "certificates of authorities to trust, in PEM (those of the system)")
@option("--patience", "SECONDS", "how long one tool may take (50)", default="50")
@flag("--no-pay", "hand out stored answers only, and refuse the rest with its price")
def mcp_command(arguments: Arguments) -> CommandOutput:
    """Serve an assistant until its program closes standard input."""
    from pathlib import Path

    from discreet.cli.numbers import read_number
    from discreet.service.assistants.server import serve_assistant

    serve_assistant(
        arguments.url,
        token=None if arguments.token_file is None else Path(arguments.token_file),
        dataset=arguments.dataset,
        patience=read_number(arguments.patience, "--patience"),
        pay=not arguments.no_pay,
        authorities=arguments.authorities,
    )
    return CommandOutput("mcp", {}, (), stream=())
