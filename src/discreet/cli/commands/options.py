"""Options that several commands share."""

from discreet.cli.parsing import PROJECT, WordChoice, option, several

#: How a limit is written.
LIMIT_HELP = "what one person may touch: groups=3,rows=5 (rows in each) or total=10"

project = option("--project", "FILE", f"the settings ({PROJECT} here)", default=PROJECT)
analyst = option("--analyst", "NAME", "the analyst who asks and pays", default="")
#: The accounts of a budget: one that everybody shares, or one for each person.
accounts = several(
    option(
        "--per",
        "WHO",
        "dataset: everybody pays alike (the default); person: each person pays for what is taken from them",
        type=WordChoice(("dataset", "person")),
    ),
    option("--most", "E", "with --per person: the most that one question may cost a person"),
)
