"""The commands: each declares what may be typed, beside its handler; and the options that several share.

A handler imports the rooms that it asks when it runs, so that help loads none of them.
"""

import sys
from pathlib import Path

import click

import discreet
from discreet.cli.console import write
from discreet.cli.parsing import PROJECT, WIDTH, CommandGroup, WordChoice, flag, option, several
from discreet.core.compiled import load_library

START = """\
To begin:

  discreet demo                                                the whole story, on people who do not exist
  discreet init visits.parquet                                 say what is public, and who is protected
  discreet preview "SELECT COUNT(*) FROM visits" --epsilon 0.1     free
  discreet ask "SELECT COUNT(*) FROM visits" --epsilon 0.1
"""
FOLDER = "discreet.cli.commands"
#: Commands that ask about tables.
DATASET = {
    "init": f"{FOLDER}.init",
    **dict.fromkeys(("ask", "preview", "explain", "schema", "misfits", "buy-bounds"), f"{FOLDER}.ask"),
    "demo": f"{FOLDER}.demo",
    "cache": f"{FOLDER}.cache",
    "serve": f"{FOLDER}.serve",
    "mcp": f"{FOLDER}.mcp",
    **dict.fromkeys(("batch", "hierarchy", "counter"), f"{FOLDER}.workloads"),
}
#: Commands that have verbs.
GROUPS = {name: f"{FOLDER}.{name}" for name in ("account", "ledger", "people", "anonymity", "local", "market")}

discreet_command = CommandGroup(
    "discreet",
    "Answers questions about people without telling on any of them.",
    modules={**DATASET, **GROUPS},
    metavar="COMMAND",
    epilog=START,
    context_settings={"max_content_width": WIDTH},
)


def version() -> str:
    """Return the version, and whether the compiled loops are used in place of their Python twins."""
    sources = sorted(Path(str(discreet.__file__)).parent.rglob("*.c"))
    used = [load_library(str(source.with_suffix(".py"))) is not None for source in sources]
    parts = "in use" if all(used) else "in use in part" if any(used) else "not in use; answers are the same, but slower"
    return f"discreet {discreet.__version__} (compiled parts: {parts})"


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:  # noqa: FBT001 (click's own form)
    if wanted and not context.resilient_parsing:
        write(sys.stdout, version())
        context.exit()


discreet_command.params.insert(
    0,
    click.Option(
        ["--version"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_version,
        help="show the version, and whether compiled parts are in use",
    ),
)


# Options that several commands share.

#: How a limit is written.
LIMIT_HELP = "what one person may touch: groups=3,rows=5 (rows in each) or total=10"

project = option("--project", "FILE", f"the settings ({PROJECT} here)", default=PROJECT)
no_cache = flag("--no-cache", "keep no import of the rows for the next question, and use none")
analyst = option("--analyst", "NAME", "the analyst who asks and pays", default="")
#: The accounts of a budget: one for the whole dataset, or one for each person.
accounts = several(
    option(
        "--per",
        "WHO",
        "dataset: one account for all people (the default); person: each person is charged for their own contribution",
        type=WordChoice(("dataset", "person")),
    ),
    option("--most", "E", "with --per person: the most that one question may cost a person"),
)
