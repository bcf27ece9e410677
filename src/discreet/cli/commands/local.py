"""`discreet local`: privacy at the source, tried on people who do not exist."""

from fractions import Fraction

from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import JSON, Arguments, CommandGroup, WordChoice, command, option, several
from discreet.core import InvalidInput
from discreet.core.exact import text_up

EXAMPLES = """\
For example:

  discreet local encoders --categories 1024 --epsilon 1            variance and size of the reports of each
  discreet local simulate --people 1e6 --categories 1024 --epsilon 1
  discreet local simulate --people 1e5 --epsilon 2 --encoder hadamard --delta 1e-9

A simulation: the people are made up. Devices run discreet.local, which needs nothing but Python.
"""
SIMULATE = "The second category is half as common as the first, the third a third, and so on."
ENCODERS = ("k-ary", "optimal-unary", "symmetric-unary", "hashing", "hadamard", "subset")

local_command = CommandGroup(
    "local",
    "Privacy at the source: every device perturbs its own answer.",
    modules=dict.fromkeys(("encoders", "simulate"), __name__),
    metavar="VERB",
    epilog=EXAMPLES,
)
setting = several(
    option("--people", "N", "the number of people who answer (1e5)", default="1e5"),
    option("--categories", "K", "the number of possible answers (100)", default="100"),
    option("--epsilon", "E", "the privacy loss of one report", required=True),
    option("--confidence", "P", "the confidence of all error bars at once (0.95)", default="0.95"),
)


@command("encoders", "Which encoder has the least error, and the smallest report?")
@setting
def encoders_command(arguments: Arguments) -> CommandOutput:
    """Answer what each encoder's error and size are."""
    from discreet.cli.encoders import MAKERS, read_setting, setting_facts
    from discreet.cli.formatting import columns, shorten
    from discreet.local import best_encoder, error_of, report_bits, variance_of

    level, people, categories, confidence = read_setting(arguments)
    encoders = {name: make(domain=categories, epsilon=level) for name, make in MAKERS.items()}
    best = best_encoder(domain=categories, epsilon=level)
    figures = {
        name: (
            variance_of(encoder, Fraction(1, categories)),
            error_of(encoder, people=people, confidence=confidence),
            report_bits(encoder),
        )
        for name, encoder in encoders.items()
    }
    chosen = next(name for name, encoder in encoders.items() if encoder == best)
    facts: dict[str, Fact] = {
        **setting_facts(arguments),
        "encoders": [
            {"name": name, "variance": spread, "error": error, "bits": bits}
            for name, (spread, error, bits) in figures.items()
        ],
        "best": chosen,
    }
    rows = [["encoder", "people × variance", "all counts within", "bits", ""]]
    rows += [
        [name, f"{spread:.4g}", f"± {text_up(error, 3)}", f"{bits:,}", "best" if name == chosen else ""]
        for name, (spread, error, bits) in figures.items()
    ]
    head = f"{categories:,} categories, {people:,} people, ε = {shorten(level)} for each report:"
    return CommandOutput("encoders", facts, (head, "", *columns(rows)))


@command(
    "simulate",
    "Ask people who do not exist, and compare the estimates with the truth.",
    epilog=f"{SIMULATE}\n\n{JSON}",
)
@setting
@option("--encoder", "NAME", f"{', '.join(ENCODERS)} (the best one, if left out)", type=WordChoice(ENCODERS))
@option("--bits", "B", "choose among encoders whose reports have at most so many bits")
@option("--delta", "D", "also tell the privacy loss of a report at this δ if a shuffler mixes the reports")
def simulate_command(arguments: Arguments) -> CommandOutput:
    """Answer how well an encoder does on people who do not exist."""
    from discreet.cli.encoders import (
        MAKERS,
        MOST_BITS,
        encoder_of,
        read_setting,
        setting_facts,
        shuffle_facts,
        simulation_lines,
    )
    from discreet.local import report_bits, simulate

    level, people, categories, confidence = read_setting(arguments)
    encoder = encoder_of(arguments, level, categories)
    if people * report_bits(encoder) > MOST_BITS:
        raise InvalidInput("These reports would fill the memory.", fix="pass fewer --people, or --encoder hadamard")
    simulation = simulate(encoder, people=people, confidence=confidence)
    shuffled = shuffle_facts(arguments, encoder, people)
    name = next(name for name, make in MAKERS.items() if make(domain=categories, epsilon=level) == encoder)
    estimates = simulation.frequencies
    table: list[Fact] = [
        {"category": number, "people": int(truth), "estimate": float(count), "error": float(error)}
        for number, (truth, count, error) in enumerate(
            zip(simulation.truth, estimates.counts, estimates.error, strict=True)
        )
    ]
    facts: dict[str, Fact] = {
        **setting_facts(arguments),
        "encoder": name,
        "bits": report_bits(encoder),
        "counts": table,
        "error_measured": simulation.measured,
        "error_predicted": simulation.predicted,
        "bars_held": simulation.held,
        **shuffled,
    }
    return CommandOutput("simulate", facts, tuple(simulation_lines(facts, level, shuffled)))
