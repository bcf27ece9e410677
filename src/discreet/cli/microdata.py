"""Reads and shows microdata: requirements, risks, hierarchies, treatments. Facts about tables, never a promise."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

from discreet.anonymity import (
    Anonymised,
    Clip,
    Closeness,
    DatePart,
    DayTo,
    DistinctDiversity,
    Drop,
    EntropyDiversity,
    Finding,
    Gaps,
    Hierarchy,
    Keep,
    Label,
    Mask,
    Microdata,
    MostOfOne,
    Pseudonym,
    PseudonymKey,
    RecursiveDiversity,
    Requirement,
    Risk,
    Role,
    Round,
    Treatment,
    find_identifying,
    full_domain,
    mondrian,
    read_hierarchy,
    read_microdata,
    suppress,
)
from discreet.cli.dataset.declarations import words_of
from discreet.cli.formatting import format_exact
from discreet.cli.ledger.views import reachable
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import Fact
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput
from discreet.gate import one_line

#: The last line of every verb.
NO_GUARANTEE = "These are facts about a table, not a guarantee about a person; there is no ε."
NOT_MET = 3


def finding_row(finding: Finding) -> list[str]:
    """Return the findings about a column, for a reader."""
    return [one_line(finding.column), finding.role.value, f"{finding.distinct:,}", "; ".join(finding.reasons)]


WORDS = {
    "distinct": "fewest sensitive values in a class",
    "entropy_l": "e to the least entropy of a class",
    "alpha": "largest share of one value in a class",
    "t": "farthest class from the whole, values apart or not",
    "t_ordered": "farthest class from the whole, values in order",
}


def risk_facts(risk: Risk) -> Fact:
    """Return a risk for a program."""
    return {**{name: float(getattr(risk, name)) for name in ("highest", "mean", "above")}, "unique": risk.unique}


def lacking_lines(table: Microdata) -> list[str]:
    """Return the note about rows that were not looked at: nothing here holds for them."""
    if not table.left_out:
        return []
    return [f"{table.left_out:,} {'row lacks' if table.left_out == 1 else 'rows lack'} a value: not looked at."]


CLOSED = "The ledger was told first: all there is counts as disclosed, and its account is closed for good."
INSIDE = "The file is for those who may see the rows. To publish it, name the ledger of these people: --ledger."


def anonymise(arguments: Arguments, table: Microdata, quasi: Sequence[str], k: int) -> Anonymised:
    """Return a table made k-anonymous by the method that was typed."""
    required = read_requirements(arguments)
    share = read_number(arguments.suppress, "--suppress")
    if arguments.method == "full-domain":
        return full_domain(table, quasi, k=k, requirements=required, suppress=share)
    if share:
        raise InvalidInput("--suppress is for --method full-domain.", fix="leave out --suppress")
    if arguments.method == "suppress":
        return suppress(table, quasi, k=k, requirements=required)
    return mondrian(table, quasi, k=k, requirements=required, relaxed=arguments.method == "relaxed")


def read_checked_table(arguments: Arguments) -> tuple[list[str], list[str], Microdata]:
    """Return the note about quasi-identifiers that were not named, their names, and the rows."""
    sensitive = getattr(arguments, "sensitive", None)
    assumptions, quasi = (
        ([], words_of(arguments.quasi))
        if arguments.quasi is not None
        else _find_quasi_identifiers(arguments, sensitive)
    )
    names = list(dict.fromkeys([*quasi, *([sensitive] if sensitive else [])]))
    return assumptions, quasi, read_table(arguments, arguments.file, names)


def _find_quasi_identifiers(arguments: Arguments, sensitive: str | None) -> tuple[list[str], list[str]]:
    with reachable("The table"):
        findings = find_identifying(arguments.file, gap_texts=tuple(arguments.gap or ()))
    quasi = [finding.column for finding in findings if finding.role is Role.QUASI and finding.column != sensitive]
    direct = [one_line(finding.column) for finding in findings if finding.role is Role.DIRECT]
    if not quasi:
        raise InvalidInput("No column looks like a quasi-identifier.", fix="name them: --quasi age,postcode,sex")
    assumptions = [f"Taken for quasi-identifiers: {', '.join(map(one_line, quasi))}. Name others with --quasi."]
    if direct:
        assumptions.append(f"Not looked at, because they tell who a row is about: {', '.join(direct)}. Drop them.")
    return [*assumptions, ""], quasi


def read_table(
    arguments: Arguments, file: str, names: Sequence[str], hierarchies: dict[str, Hierarchy] | None = None
) -> Microdata:
    """Return the rows of a file, with the columns that are needed."""
    gaps = Gaps.LEAVE_OUT if arguments.leave_out_gaps else Gaps.REFUSE
    with reachable("The table"):
        return read_microdata(
            file, columns=names, hierarchies=hierarchies, gaps=gaps, gap_texts=tuple(arguments.gap or ())
        )


def read_hierarchies(arguments: Arguments) -> dict[str, Hierarchy]:
    """Return the hierarchies that were typed, by column."""
    hierarchies = {}
    for text in arguments.hierarchy or ():
        column, sign, file = text.partition("=")
        if not sign:
            raise InvalidInput("--hierarchy does not name a column and a file.", fix="write --hierarchy age=age.csv")
        with reachable("The hierarchy"):
            hierarchies[column] = read_hierarchy(file)
    return hierarchies


def read_requirements(arguments: Arguments) -> list[Requirement]:
    """Return the requirements that were typed."""
    typed = {name: getattr(arguments, name) for name in ("l", "entropy_l", "recursive", "t", "alpha")}
    texts = {name: text for name, text in typed.items() if text is not None}
    if texts and arguments.sensitive is None:
        raise InvalidInput("The sensitive column is not named.", fix="name it: --sensitive illness")
    return [_requirement(name, text, arguments) for name, text in texts.items()]


def _requirement(name: str, text: str, arguments: Arguments) -> Requirement:
    of = arguments.sensitive
    match name:
        case "l":
            return DistinctDiversity(of=of, l=read_whole(text, "--l"))
        case "entropy_l":
            return EntropyDiversity(of=of, l=read_number(text, "--entropy-l"))
        case "recursive":
            c, sign, rank = text.partition(",")
            if not sign:
                raise InvalidInput("--recursive is not a pair.", fix="write --recursive C,L, such as 3,2")
            return RecursiveDiversity(of=of, c=read_number(c, "--recursive"), l=read_whole(rank, "--recursive"))
        case "t":
            return Closeness(of=of, t=read_number(text, "--t"), ordered=arguments.ordered)
        case _:
            return MostOfOne(of=of, alpha=read_number(text, "--alpha"))


def requirement_name(requirement: Requirement) -> str:
    """Return a requirement for a person."""
    match requirement:
        case DistinctDiversity(l=wanted):
            return f"l = {wanted}, distinct"
        case EntropyDiversity(l=level):
            return f"l = {format_exact(level)}, by entropy"
        case RecursiveDiversity(c=c, l=rank):
            return f"recursive ({format_exact(c)}, {rank})"
        case Closeness(t=t, ordered=ordered):
            return f"t = {format_exact(t)}{', ordered' if ordered else ''}"
        case MostOfOne(alpha=alpha):
            return f"α = {format_exact(alpha)}"


def measure_text(value: Fraction | float | None) -> str:
    """Return a number for a person."""
    return "–" if value is None else f"{float(value):.4g}"


def percent_text(share: Fraction) -> str:
    """Return a share in per cent."""
    return f"{float(share):.1%}"


# Reads the treatment of each column for `discreet anonymity deidentify`.


def read_treatments(arguments: Arguments) -> dict[str, Treatment]:
    """Return the treatment of each column, as typed."""
    pairs: list[tuple[str, Treatment]] = [(name, Drop()) for name in words_of(arguments.drop)]
    pairs += [(name, Keep()) for name in words_of(arguments.keep)]
    if arguments.pseudonym is not None:
        key = _key(arguments.key)
        pairs += [(name, Pseudonym(key=key)) for name in words_of(arguments.pseudonym)]
    for option, make in MADE.items():
        pairs += _pairs(getattr(arguments, option), f"--{option}", make)
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise InvalidInput("A column has two treatments.", fix="name each column once")
    return dict(pairs)


def _key(path: str | None) -> PseudonymKey:
    if path is None:
        raise InvalidInput("Pseudonyms need a key.", fix="pass --key FILE; it is made if there is none")
    with reachable("The key"):
        return PseudonymKey.read(path) if Path(path).exists() else PseudonymKey.create(path)


def _pairs(typed: Sequence[str] | None, option: str, make: Callable[[str], Treatment]) -> list[tuple[str, Treatment]]:
    pairs = []
    for text in typed or ():
        column, sign, rest = text.rpartition("=")
        if not sign:
            raise InvalidInput(f"{option} does not say what to do with a column.", fix=f"write {option} COLUMN=…")
        pairs.append((column, make(rest)))
    return pairs


def _clip(text: str) -> Treatment:
    low, sign, high = text.partition("..")
    if not sign:
        raise InvalidInput("--clip needs an interval.", fix="write --clip age=0..90")
    return Clip(read_number(low, "--clip"), read_number(high, "--clip"))


def _day(text: str) -> Treatment:
    if text not in {part.value for part in DatePart}:
        raise InvalidInput("--day must be year, quarter, month or week.", fix="write --day born=year")
    return DayTo(DatePart(text))


def _label(text: str) -> Treatment:
    file, sign, level = text.rpartition(":")
    if not sign:
        raise InvalidInput("--label does not name a level.", fix="write --label job=jobs.csv:1")
    with reachable("The hierarchy"):
        return Label(read_hierarchy(file), read_whole(level, "--label"))


MADE: dict[str, Callable[[str], Treatment]] = {
    "mask": lambda text: Mask(first=read_whole(text, "--mask")),
    "round": lambda text: Round(read_number(text, "--round")),
    "clip": _clip,
    "day": _day,
    "label": _label,
}
