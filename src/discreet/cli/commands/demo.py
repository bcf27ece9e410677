"""`discreet demo`: the whole story on a hospital that does not exist."""

from discreet.cli.output import CommandOutput
from discreet.cli.parsing import Arguments, command, flag, option

DEMO = """\
An invented hospital with 100,000 visits, a budget, questions, a refusal, the ledger, and a report to look at. For
example:

  discreet demo
  discreet demo --folder story --no-pictures
"""


@command("demo", "The whole story in half a minute, on people who do not exist.", epilog=DEMO, json=False)
@option("--folder", "DIR", "the folder for its files (discreet-demo here, if left out)")
@flag("--no-pictures", "a report of tables only")
def demo_command(arguments: Arguments) -> CommandOutput:
    """Tell the story; every line as it happens."""
    from discreet.cli.demo.story import tell_story

    return tell_story(arguments.folder, pictures=not arguments.no_pictures)
