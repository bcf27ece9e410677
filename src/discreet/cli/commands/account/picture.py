"""`discreet account picture`: the privacy curve, the least noise, and the composition theorems, drawn."""

from discreet.cli.commands.account import LOSS, loss
from discreet.cli.output import CommandOutput
from discreet.cli.parsing import Arguments, CommandGroup, Declaration, argument, command, option

PICTURES = dict.fromkeys(("curve", "noise", "theorems"), __name__)

picture_command = CommandGroup(
    "picture",
    "Pictures (with the plot extra: pip install 'discreet[plot]').",
    modules=PICTURES,
    metavar="curve|noise|theorems",
)
file: Declaration = argument("file", "FILE", "the file to write: a .png or .svg")
delta = option("--delta", "D", "the δ of all releases together (1e-6)", default="1e-6")


@command("curve", "The privacy curve of a loss: δ against ε.", epilog=LOSS)
@file
@loss
def curve_command(arguments: Arguments) -> CommandOutput:
    """Draw the privacy curve of a loss."""
    from discreet.cli.account.drawing import draw_curve_of
    from discreet.cli.account.targets import loss_of

    draw_curve_of(arguments, loss_of(arguments), arguments.file)
    return _build_output("curve", arguments)


@command("noise", "The least noise against ε, for one release and for many.", epilog="")
@file
@option("--times", "K", "how many the many are (100)", default="100")
@delta
def noise_command(arguments: Arguments) -> CommandOutput:
    """Draw the least noise that keeps a promise."""
    from discreet.cli.account.drawing import draw_noise

    draw_noise(arguments)
    return _build_output("noise", arguments)


@command("theorems", "Where each composition theorem wins: ε against the number of releases.", epilog="")
@file
@option("--epsilon", "E", "the ε of each release (0.1)", default="0.1")
@option("--times", "K", "the largest number of releases (10000)", default="10000")
@delta
def theorems_command(arguments: Arguments) -> CommandOutput:
    """Draw the composition theorems side by side."""
    from discreet.cli.account.drawing import draw_theorems

    draw_theorems(arguments)
    return _build_output("theorems", arguments)


def _build_output(picture: str, arguments: Arguments) -> CommandOutput:
    return CommandOutput("picture", {"picture": picture, "file": arguments.file}, (f"{picture}: {arguments.file}",))
