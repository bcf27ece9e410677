"""The verbs of anonymity: find, check, risk, make. Facts about tables, told so that nobody takes one for a promise."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction

from discreet.anonymity import (
    Anonymised,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    Finding,
    Gaps,
    Hierarchy,
    Microdata,
    MostOfOne,
    RecursiveDiversity,
    Requirement,
    Risk,
    Role,
    diversity_of,
    find_identifying,
    full_domain,
    information_lost,
    journalist_risk,
    k_of,
    meets,
    mondrian,
    prosecutor_risk,
    publish,
    read_hierarchy,
    read_microdata,
    suppress,
    write_inside,
)
from discreet.cli.answers import Answer, Fact
from discreet.cli.books import author, reachable
from discreet.cli.by_table import words_of
from discreet.cli.typed import read_number, read_whole
from discreet.cli.words import columns, plain
from discreet.core import InvalidInput
from discreet.gate import Ledger
from discreet.gate.releases import one_line

#: What every verb ends with.
NO_GUARANTEE = "These are facts about a table, not a guarantee about a person; there is no ε."
NOT_MET = 3


def answer_find(arguments: Namespace) -> Answer:
    """Say which columns identify people."""
    with reachable("The table"):
        found = find_identifying(arguments.file, gap_texts=tuple(arguments.gap or ()))
    facts: list[Fact] = [
        {"column": one.column, "role": one.role.value, "reasons": list(one.reasons), "distinct": one.distinct}
        for one in found
    ]
    rows = [["column", "role", "values", "why"], *(_finding(one) for one in found)]
    more = "A column of which nothing was found may identify people all the same; several may do so together."
    return Answer("find", {"columns": facts}, (*columns(rows), "", more))


def _finding(one: Finding) -> list[str]:
    return [one_line(one.column), one.role.value, f"{one.distinct:,}", "; ".join(one.reasons)]


def answer_check(arguments: Namespace) -> Answer:
    """Say whether a table is as anonymous as was asked for."""
    found, quasi, table = _table(arguments)
    wanted = None if arguments.k is None else read_whole(arguments.k, "--k")
    required = _requirements(arguments)
    k = k_of(table, quasi)
    checks = [] if wanted is None else [(f"k = {wanted}", k >= wanted)]
    checks += [(_named(one), meets(table, one, quasi)) for one in required]
    facts: dict[str, Fact] = {"quasi": [*quasi], "k": k, "rows": table.rows, "met": all(met for _, met in checks)}
    facts["lacking"] = table.left_out
    lines = [*found, f"The smallest class has {k} of {table.rows:,} rows.", *_lacking(table)]
    if arguments.sensitive is not None:
        spread = diversity_of(table, arguments.sensitive, quasi)
        told = {name: None if value is None else float(value) for name, value in asdict(spread).items()}
        facts["diversity"] = {**told}
        lines += ["", *columns([[WORDS[name], _figure(value)] for name, value in asdict(spread).items()])]
    facts["checks"] = dict(checks)
    lines += ["", *columns([[name, "met" if met else "NOT met"] for name, met in checks])] if checks else []
    return Answer("check", facts, (*lines, "", NO_GUARANTEE), status=0 if facts["met"] else NOT_MET)


WORDS = {
    "distinct": "fewest sensitive values in a class",
    "entropy_l": "e to the least entropy of a class",
    "alpha": "largest share of one value in a class",
    "t": "farthest class from the whole, values apart or not",
    "t_ordered": "farthest class from the whole, values in order",
}


def answer_risk(arguments: Namespace) -> Answer:
    """Say how likely people are found again."""
    found, quasi, table = _table(arguments)
    limit = read_number(arguments.limit, "--limit")
    risks = {"prosecutor": prosecutor_risk(table, quasi, limit=limit)}
    if arguments.population is not None:
        risks["journalist"] = journalist_risk(table, _read(arguments, arguments.population, quasi), quasi, limit=limit)
    shown = [["", "highest", "mean", f"above {plain(limit)}"]]
    shown += [[name, _figure(one.highest), _figure(one.mean), _percent(one.above)] for name, one in risks.items()]
    marketer = risks.get("journalist", risks["prosecutor"]).mean
    lines = [*found, *columns(shown), "", f"A marketer matches {_percent(marketer)} of the rows rightly, on average."]
    lines += [f"{risks['prosecutor'].unique:,} of {table.rows:,} rows are alone with what is known of them."]
    lines += _lacking(table)
    facts: dict[str, Fact] = {"lacking": table.left_out, **{name: _risk_facts(one) for name, one in risks.items()}}
    return Answer("risk", {"quasi": [*quasi], **facts, "marketer": float(marketer)}, (*lines, "", NO_GUARANTEE))


def _risk_facts(one: Risk) -> Fact:
    return {**{name: float(getattr(one, name)) for name in ("highest", "mean", "above")}, "unique": one.unique}


def answer_make(arguments: Namespace) -> Answer:
    """Make a table k-anonymous, and write it."""
    k, quasi = read_whole(arguments.k, "--k"), words_of(arguments.quasi)
    kept = [*words_of(arguments.keep), *([arguments.sensitive] if arguments.sensitive else [])]
    table = _read(arguments, arguments.file, list(dict.fromkeys([*quasi, *kept])), _hierarchies(arguments))
    made = _made(arguments, table, quasi, k)
    by = author(arguments)
    with reachable("The file"):
        if arguments.ledger is None:
            write_inside(made, arguments.output)
        else:
            with reachable("The ledger"):
                ledger = Ledger.open(arguments.ledger)
            publish(made, arguments.output, ledger=ledger, by=by)
            ledger.close()
    lost = information_lost(made, k=k)
    facts: dict[str, Fact] = {
        "method": made.method, "k": made.k, "classes": made.classes.count, "suppressed": made.classes.suppressed,
        "lacking": table.left_out, "penalty": lost.penalty, "disclosed": arguments.ledger is not None,
    }  # fmt: skip
    lines = (
        f"{made.method}: {made.classes.count:,} classes, the smallest of {made.k} rows.",
        f"{made.classes.suppressed:,} of {table.rows:,} rows are left out.",
        *_lacking(table),
        f"Of what the quasi-identifiers told, {lost.penalty:.1%} is lost (normalised certainty penalty).",
        CLOSED if arguments.ledger is not None else INSIDE,
    )
    return Answer("make", facts, (*lines, "", NO_GUARANTEE))


def _lacking(table: Microdata) -> list[str]:
    """Return what is to be said about rows that were not looked at: nothing here holds of them."""
    if not table.left_out:
        return []
    return [f"{table.left_out:,} {'row lacks' if table.left_out == 1 else 'rows lack'} a value: not looked at."]


CLOSED = "The ledger was told first: all there is counts as disclosed, and its account is closed for good."
INSIDE = "The file is for those who may see the rows. To publish it, name the ledger of these people: --ledger."


def _made(arguments: Namespace, table: Microdata, quasi: Sequence[str], k: int) -> Anonymised:
    required = _requirements(arguments)
    share = read_number(arguments.suppress, "--suppress")
    if arguments.method == "full-domain":
        return full_domain(table, quasi, k=k, requirements=required, suppress=share)
    if share:
        raise InvalidInput("--suppress is for --method full-domain.", fix="leave out --suppress")
    if arguments.method == "suppress":
        return suppress(table, quasi, k=k, requirements=required)
    return mondrian(table, quasi, k=k, requirements=required, relaxed=arguments.method == "relaxed")


def _table(arguments: Namespace) -> tuple[list[str], list[str], Microdata]:
    """Return what is to be said about quasi-identifiers that nobody named, which they are, and the rows."""
    sensitive = getattr(arguments, "sensitive", None)
    told, quasi = ([], words_of(arguments.quasi)) if arguments.quasi is not None else _found(arguments, sensitive)
    names = list(dict.fromkeys([*quasi, *([sensitive] if sensitive else [])]))
    return told, quasi, _read(arguments, arguments.file, names)


def _found(arguments: Namespace, sensitive: str | None) -> tuple[list[str], list[str]]:
    with reachable("The table"):
        found = find_identifying(arguments.file, gap_texts=tuple(arguments.gap or ()))
    quasi = [one.column for one in found if one.role is Role.QUASI and one.column != sensitive]
    direct = [one_line(one.column) for one in found if one.role is Role.DIRECT]
    if not quasi:
        raise InvalidInput("No column looks like a quasi-identifier.", fix="name them: --quasi age,postcode,sex")
    told = [f"Taken for quasi-identifiers: {', '.join(map(one_line, quasi))}. Name others with --quasi."]
    if direct:
        told.append(f"Not looked at, because they tell who a row is about: {', '.join(direct)}. Drop them.")
    return [*told, ""], quasi


def _read(
    arguments: Namespace, file: str, names: Sequence[str], hierarchies: dict[str, Hierarchy] | None = None
) -> Microdata:
    gaps = Gaps.LEAVE_OUT if arguments.leave_out_gaps else Gaps.REFUSE
    with reachable("The table"):
        return read_microdata(
            file, columns=names, hierarchies=hierarchies, gaps=gaps, gap_texts=tuple(arguments.gap or ())
        )


def _hierarchies(arguments: Namespace) -> dict[str, Hierarchy]:
    found = {}
    for text in arguments.hierarchy or ():
        column, sign, file = text.partition("=")
        if not sign:
            raise InvalidInput("--hierarchy does not name a column and a file.", fix="write --hierarchy age=age.csv")
        with reachable("The hierarchy"):
            found[column] = read_hierarchy(file)
    return found


def _requirements(arguments: Namespace) -> list[Requirement]:
    typed = {name: getattr(arguments, name) for name in ("l", "entropy_l", "recursive", "t", "alpha")}
    given = {name: text for name, text in typed.items() if text is not None}
    if given and arguments.sensitive is None:
        raise InvalidInput("It is not said which column is sensitive.", fix="name it: --sensitive illness")
    return [_requirement(name, text, arguments) for name, text in given.items()]


def _requirement(name: str, text: str, arguments: Namespace) -> Requirement:
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


def _named(requirement: Requirement) -> str:
    match requirement:
        case DistinctDiversity(l=wanted):
            return f"l = {wanted}, distinct"
        case EntropyDiversity(l=level):
            return f"l = {plain(level)}, by entropy"
        case RecursiveDiversity(c=c, l=rank):
            return f"recursive ({plain(c)}, {rank})"
        case Closeness(t=t, ordered=ordered):
            return f"t = {plain(t)}{', ordered' if ordered else ''}"
        case MostOfOne(alpha=alpha):
            return f"α = {plain(alpha)}"


def _figure(value: Fraction | float | None) -> str:
    return "–" if value is None else f"{float(value):.4g}"


def _percent(share: Fraction) -> str:
    return f"{float(share):.1%}"
