"""Reads and shows encoders of local privacy, and simulations with them."""

from collections.abc import Callable
from fractions import Fraction

from discreet.accounting import epsilon as epsilon_of_loss
from discreet.cli.account.targets import epsilon_of
from discreet.cli.formatting import columns, shorten
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import Fact, exact_facts
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput, probability, round_up, whole
from discreet.core.exact import text_up
from discreet.local import (
    Hadamard,
    KaryResponse,
    LocalHashing,
    SubsetSelection,
    Unary,
    best_encoder,
    shuffled_cost,
)

Chosen = KaryResponse | Unary | SubsetSelection | Hadamard | LocalHashing
MAKERS: dict[str, Callable[..., Chosen]] = {
    "k-ary": KaryResponse,
    "optimal-unary": Unary.optimal,
    "symmetric-unary": Unary.symmetric,
    "hashing": LocalHashing,
    "hadamard": Hadamard,
    "subset": SubsetSelection,
}
#: Categories that are shown to a person.
SHOWN = 10
#: More people or categories than this take too long for a try, or too much memory.
MOST_PEOPLE, MOST_CATEGORIES, MOST_BITS = 10**7, 1 << 16, 1 << 33


def simulation_lines(facts: dict[str, Fact], level: Fraction, shuffled: dict[str, Fact]) -> list[str]:
    """Return a simulation for a person."""
    counts = facts["counts"]
    rows = [["category", "people", "estimate", "±"]]
    for line in counts[:SHOWN] if isinstance(counts, list) else []:
        if isinstance(line, dict):
            error = line["error"]
            rows.append([
                str(line["category"]),
                f"{line['people']:,}",
                f"{line['estimate']:,.0f}",
                f"± {error:,.0f}",
            ])  # fmt: skip
    lines = [
        f"{facts['people']:,} people who do not exist, {facts['categories']:,} categories, ε = {shorten(level)} each.",
        f"encoder: {facts['encoder']}, {facts['bits']:,} bits a report",
        "",
        *columns(rows),
        "",
        f"off by {facts['error_measured']:,.0f} (root mean square); theory says {facts['error_predicted']:,.0f}.",
        f"{facts['bars_held']:,} of {facts['categories']:,} error bars hold the truth.",
    ]
    if shuffled:
        epsilon = shuffled["shuffled_epsilon"]
        if isinstance(epsilon, float):
            lines.append(f"If a shuffler mixes the reports, each costs ε = {text_up(epsilon)}, at that δ.")
    return lines


def shuffle_facts(arguments: Arguments, encoder: Chosen, people: int) -> dict[str, Fact]:
    """Return the cost of a shuffled report for a program, if a δ was typed."""
    if arguments.delta is None:
        return {}
    delta = probability(read_number(arguments.delta, "--delta"), "--delta")
    epsilon = epsilon_of_loss(shuffled_cost(encoder, people=people), delta)
    return {**exact_facts("delta", delta, round_up(delta)), "shuffled_epsilon": epsilon}


def encoder_of(arguments: Arguments, level: Fraction, categories: int) -> Chosen:
    """Return the encoder that was typed, or the best one."""
    if arguments.encoder is not None:
        if arguments.bits is not None:
            raise InvalidInput("--encoder and --bits both choose.", fix="pass one of them")
        return MAKERS[arguments.encoder](domain=categories, epsilon=level)
    bits = None if arguments.bits is None else read_whole(arguments.bits, "--bits")
    return best_encoder(domain=categories, epsilon=level, most_bits=bits)


def read_setting(arguments: Arguments) -> tuple[Fraction, int, int, Fraction]:
    """Return ε, people, categories and confidence as typed."""
    people = whole(read_whole(arguments.people, "--people"), "--people", most=MOST_PEOPLE)
    categories = read_whole(arguments.categories, "--categories")
    confidence = probability(read_number(arguments.confidence, "--confidence"), "--confidence")
    return epsilon_of(arguments), people, whole(categories, "--categories", least=2, most=MOST_CATEGORIES), confidence


def setting_facts(arguments: Arguments) -> dict[str, Fact]:
    """Return ε, people, categories and confidence for a program."""
    level, people, categories, confidence = read_setting(arguments)
    return {
        **exact_facts("epsilon", level, round_up(level)),
        "people": people,
        "categories": categories,
        "confidence": float(confidence),
    }
