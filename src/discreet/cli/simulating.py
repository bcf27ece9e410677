"""The verbs of privacy at the source: which encoder, and how well it does."""

from argparse import Namespace
from collections.abc import Callable
from fractions import Fraction

from discreet.accounting import epsilon as epsilon_of_loss
from discreet.cli.answers import Answer, Fact, exactly
from discreet.cli.typed import read_number, read_whole
from discreet.cli.wanted import epsilon_of
from discreet.cli.words import columns, shown
from discreet.core import InvalidInput, probability, round_up, whole
from discreet.core.exact import text_up
from discreet.local import (
    Hadamard,
    KaryResponse,
    LocalHashing,
    SubsetSelection,
    Unary,
    best_encoder,
    error_of,
    report_bits,
    shuffled_cost,
    simulate,
    variance_of,
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


def answer_encoders(arguments: Namespace) -> Answer:
    """Answer what each encoder's error and size are."""
    level, people, categories, confidence = _setting(arguments)
    made = {name: make(domain=categories, epsilon=level) for name, make in MAKERS.items()}
    best = best_encoder(domain=categories, epsilon=level)
    found = {
        name: (
            variance_of(encoder, Fraction(1, categories)),
            error_of(encoder, people=people, confidence=confidence),
            report_bits(encoder),
        )
        for name, encoder in made.items()
    }
    chosen = next(name for name, encoder in made.items() if encoder == best)
    facts: dict[str, Fact] = {
        **_facts(arguments),
        "encoders": [
            {"name": name, "variance": spread, "error": error, "bits": bits}
            for name, (spread, error, bits) in found.items()
        ],
        "best": chosen,
    }
    rows = [["encoder", "people × variance", "all counts within", "bits", ""]]
    rows += [
        [name, f"{spread:.4g}", f"± {text_up(error, 3)}", f"{bits:,}", "best" if name == chosen else ""]
        for name, (spread, error, bits) in found.items()
    ]
    head = f"{categories:,} categories, {people:,} people, ε = {shown(level)} for each report:"
    return Answer("encoders", facts, (head, "", *columns(rows)))


def answer_simulate(arguments: Namespace) -> Answer:
    """Answer how well an encoder does on people who do not exist."""
    level, people, categories, confidence = _setting(arguments)
    encoder = _encoder(arguments, level, categories)
    if people * report_bits(encoder) > MOST_BITS:
        raise InvalidInput("These reports would fill the memory.", fix="pass fewer --people, or --encoder hadamard")
    made = simulate(encoder, people=people, confidence=confidence)
    shuffled = _shuffled(arguments, encoder, people)
    name = next(name for name, make in MAKERS.items() if make(domain=categories, epsilon=level) == encoder)
    estimates = made.frequencies
    table: list[Fact] = [
        {"category": number, "people": int(truth), "estimate": float(count), "error": float(error)}
        for number, (truth, count, error) in enumerate(zip(made.truth, estimates.counts, estimates.error, strict=True))
    ]
    facts: dict[str, Fact] = {
        **_facts(arguments),
        "encoder": name,
        "bits": report_bits(encoder),
        "counts": table,
        "error_measured": made.measured,
        "error_predicted": made.predicted,
        "bars_held": made.held,
        **shuffled,
    }
    return Answer("simulate", facts, tuple(_told(facts, level, shuffled)))


def _told(facts: dict[str, Fact], level: Fraction, shuffled: dict[str, Fact]) -> list[str]:
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
        f"{facts['people']:,} people who do not exist, {facts['categories']:,} categories, ε = {shown(level)} each.",
        f"encoder: {facts['encoder']}, {facts['bits']:,} bits a report",
        "",
        *columns(rows),
        "",
        f"off by {facts['error_measured']:,.0f} (root mean square); theory says {facts['error_predicted']:,.0f}.",
        f"{facts['bars_held']:,} of {facts['categories']:,} error bars hold the truth.",
    ]
    if shuffled:
        found = shuffled["shuffled_epsilon"]
        if isinstance(found, float):
            lines.append(f"If somebody shuffles the reports, each costs ε = {text_up(found)}, at that δ.")
    return lines


def _shuffled(arguments: Namespace, encoder: Chosen, people: int) -> dict[str, Fact]:
    if arguments.delta is None:
        return {}
    delta = probability(read_number(arguments.delta, "--delta"), "--delta")
    found = epsilon_of_loss(shuffled_cost(encoder, people=people), delta)
    return {**exactly("delta", delta, round_up(delta)), "shuffled_epsilon": found}


def _encoder(arguments: Namespace, level: Fraction, categories: int) -> Chosen:
    if arguments.encoder is not None:
        if arguments.bits is not None:
            raise InvalidInput("--encoder and --bits both choose.", fix="pass one of them")
        return MAKERS[arguments.encoder](domain=categories, epsilon=level)
    bits = None if arguments.bits is None else read_whole(arguments.bits, "--bits")
    return best_encoder(domain=categories, epsilon=level, most_bits=bits)


def _setting(arguments: Namespace) -> tuple[Fraction, int, int, Fraction]:
    people = whole(read_whole(arguments.people, "--people"), "--people", most=MOST_PEOPLE)
    categories = read_whole(arguments.categories, "--categories")
    confidence = probability(read_number(arguments.confidence, "--confidence"), "--confidence")
    return epsilon_of(arguments), people, whole(categories, "--categories", least=2, most=MOST_CATEGORIES), confidence


def _facts(arguments: Namespace) -> dict[str, Fact]:
    level, people, categories, confidence = _setting(arguments)
    return {
        **exactly("epsilon", level, round_up(level)),
        "people": people,
        "categories": categories,
        "confidence": float(confidence),
    }
