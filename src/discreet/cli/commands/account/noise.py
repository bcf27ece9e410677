"""`discreet account noise` and `times`: how much noise a promise takes, and how many releases fit in it."""

from discreet.cli.commands.account import LOSS, delta, loss
from discreet.cli.output import CommandOutput, Fact, exact_facts
from discreet.cli.parsing import JSON, Arguments, WordChoice, argument, command, exclusive, option, several
from discreet.core import InvalidInput, round_up

KINDS = ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace")
#: The target: (ε, δ), or ρ.
target = several(
    option("--epsilon", "E", "the ε of all releases together"),
    option("--rho", "R", "the ρ of all releases together, for ρ-zCDP, which has no δ"),
    exclusive("--epsilon", "--rho", required=True),
    delta,
)


@command("noise", "How much noise does a promise take?")
@argument("kind", "KIND", f"the kind of noise: {', '.join(KINDS)}", type=WordChoice(KINDS))
@target
@option("--times", "K", "the number of releases (1)", default="1")
@option("--rate", "Q", "the sampling rate: each release sees a fresh random share of the table (1)", default="1")
@option(
    "--sampling",
    "HOW",
    "poisson: each person is drawn by an independent coin (the default); without-replacement: a fixed number",
    type=WordChoice(("poisson", "without-replacement")),
    default="poisson",
)
@option("--sensitivity", "S", "how far one person moves the exact answer (1)", default="1")
def noise_command(arguments: Arguments) -> CommandOutput:
    """Answer the least noise of a kind that keeps a target."""
    from discreet.accounting import least_noise
    from discreet.cli.account.promises import deviation_text, promise_facts, promise_text, release_of
    from discreet.cli.account.targets import loss_facts, people_of, target_of
    from discreet.cli.formatting import columns, format_exact, neighbours

    target, release = target_of(arguments), release_of(arguments)
    if target.epsilon is not None and not target.delta and release.noise.parameter == "sigma":
        raise InvalidInput(
            "Gaussian noise keeps no ε at δ = 0.", fix="pass a --delta such as 1e-9, or ask for laplace noise"
        )
    size = least_noise(release.loss, target.epsilon, target.delta, rho=target.rho)
    loss = release.loss(size)
    facts: dict[str, Fact] = {
        "kind": release.noise.name,
        "parameter": release.noise.parameter,
        **exact_facts("noise", size, round_up(size)),
        **target.facts(),
        **promise_facts(loss, target),
        "people": people_of(arguments),
        **loss_facts(loss),
    }
    rows = [
        [f"least {release.noise.parameter}", f"{format_exact(size)}{deviation_text(release.noise, size)}"],
        ["loss", release.spell(size)],
        ["promises", promise_text(loss, target)],
        ["neighbours", neighbours(loss)],
    ]
    return CommandOutput("noise", facts, tuple(columns(rows)))


@command("times", "How many releases of a kind fit in a promise?", epilog=f"{LOSS}\n{JSON}")
@loss
@target
def times_command(arguments: Arguments) -> CommandOutput:
    """Answer how many releases fit in a target."""
    from discreet.accounting import Repeated, most_times
    from discreet.cli.account.promises import promise_facts, promise_text
    from discreet.cli.account.targets import loss_facts, loss_of, people_of, target_of
    from discreet.cli.formatting import columns, neighbours

    part, target = loss_of(arguments), target_of(arguments)
    count = most_times(part, target.epsilon, target.delta, rho=target.rho)
    facts: dict[str, Fact] = {
        "times": count,
        **target.facts(),
        **promise_facts(Repeated(part, count) if count else None, target),
        "people": people_of(arguments),
        **loss_facts(part),
    }
    rows = [[f"{count:,} fit", promise_text(Repeated(part, count), target)]] if count else [["none fits", ""]]
    rows.append([f"{count + 1:,} would be", promise_text(Repeated(part, count + 1), target)])
    rows.append(["neighbours", neighbours(part)])
    note = "For releases fixed beforehand. A session that chooses as it goes needs a privacy filter."
    return CommandOutput("times", facts, (*columns(rows), "", note))
