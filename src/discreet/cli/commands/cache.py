"""`discreet cache`: the imports that the command line keeps, and how they are deleted."""

from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import JSON, Arguments, command, flag

CACHE = """\
For example:

  discreet cache
  discreet cache --clear

An import is a copy of private rows, which only its owner may read. To keep none: cache = false in the settings, or
--no-cache.
"""


@command("cache", "The imports of files that are kept, or delete them.", epilog=f"{CACHE}\n{JSON}")
@flag("--clear", "delete all of them; the next question reads its file again")
def cache_command(arguments: Arguments) -> CommandOutput:
    """Answer where imports are kept, and how large they are; or delete them."""
    from discreet.cli.dataset.kept_imports import clear_imports, imports_folder, list_imports
    from discreet.cli.ledger.views import reachable

    with reachable("The folder of imports"):
        sizes = [place.stat().st_size for place in list_imports()]
        deleted = clear_imports() if arguments.clear else 0
    kept = 0 if arguments.clear else len(sizes)
    facts: dict[str, Fact] = {
        "folder": str(imports_folder()),
        "kept": kept,
        "bytes": sum(sizes) if kept else 0,
        "deleted": deleted,
    }
    if arguments.clear:
        return CommandOutput("cache", facts, (f"Deleted: {deleted}. Nothing is kept in {imports_folder()}.",))
    words = f"Kept: {kept}, {sum(sizes) / 1e6:,.1f} MB in {imports_folder()}."
    return CommandOutput("cache", facts, (words, "discreet cache --clear deletes all of them."))
