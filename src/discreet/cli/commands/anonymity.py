"""`discreet anonymity`: k-anonymity and its relatives. Facts about tables, no guarantees."""

from dataclasses import asdict

from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import (
    Arguments,
    CommandGroup,
    WordChoice,
    argument,
    command,
    exclusive,
    flag,
    option,
    several,
)

EXAMPLES = """\
For example:

  discreet anonymity find patients.csv                       which columns identify people?
  discreet anonymity check patients.csv --k 5                5-anonymous, by what `find` finds?
  discreet anonymity check patients.csv --quasi age,postcode,sex --k 5 --sensitive illness --l 3
  discreet anonymity risk patients.csv --quasi age,postcode,sex
  discreet anonymity make patients.csv out.csv --quasi age,postcode,sex --sensitive illness --k 5 --inside

These commands tell facts about a table. None is a guarantee about a person, and none has an ε: for answers that carry a
promise see discreet ask. FILE is a CSV, Parquet or DuckDB file. COLUMNS have commas between them.
"""
CHECK = """\
Exit status: 0 if the table meets all that is asked for, 3 if it does not, 2 if it could not be looked at.
"""
MAKE = """\
A table that leaves is a disclosure. With --ledger it is written there first, and closes that account for good: no ε
bounds what the table tells, so that no promise about these people can be kept after it. With --inside it is written
for those who may see the rows anyway.
"""
TREATMENTS = """\
Every column needs a treatment. The rows that are written have no names in them, and are about people all the same.
"""

anonymity_command = CommandGroup(
    "anonymity",
    "The methods before differential privacy: k-anonymity and its relatives. Facts about tables, no guarantees.",
    modules=dict.fromkeys(("find", "check", "risk", "make", "deidentify"), __name__),
    metavar="VERB",
    epilog=EXAMPLES,
)
file = argument("file", "FILE", "the table")
output = argument("output", "OUTPUT", "a new .csv or .parquet file")
gap_texts = option("--gap", "TEXT", "a text that stands for a missing value, such as ?", multiple=True)
gaps = several(gap_texts, flag("--leave-out-gaps", "leave out rows that lack a value"))
KNOWN = "columns that outsiders may know of a person"
quasi = option("--quasi", "COLUMNS", f"{KNOWN} (those that `find` finds, if left out)")
requirements = several(
    option("--sensitive", "COLUMN", "the column that outsiders are not to learn"),
    option("--l", "L", "at least so many sensitive values in every class"),
    option("--entropy-l", "L", "an entropy of at least ln L in every class"),
    option("--recursive", "C,L", "recursive (c, l)-diversity"),
    option("--t", "T", "no class farther than T from the whole table (earth mover's distance)"),
    flag("--ordered", "with --t: sensitive values are as far apart as in their order"),
    option("--alpha", "A", "no sensitive value in more than a share A of a class"),
)
METHODS = ("mondrian", "relaxed", "full-domain", "suppress")


@command("find", "Which columns identify people: by name, by the look of their values, by uniqueness.")
@file
@gap_texts
def find_command(arguments: Arguments) -> CommandOutput:
    """Say which columns identify people."""
    from discreet.anonymity import find_identifying
    from discreet.cli.formatting import columns
    from discreet.cli.ledger.views import reachable
    from discreet.cli.microdata import finding_row

    with reachable("The table"):
        findings = find_identifying(arguments.file, gap_texts=tuple(arguments.gap or ()))
    facts: list[Fact] = [
        {
            "column": finding.column,
            "role": finding.role.value,
            "reasons": list(finding.reasons),
            "distinct": finding.distinct,
        }
        for finding in findings
    ]
    rows = [["column", "role", "values", "why"], *(finding_row(finding) for finding in findings)]
    more = "A column of which nothing was found may identify people all the same; several may do so together."
    return CommandOutput("find", {"columns": facts}, (*columns(rows), "", more))


@command("check", "Is a table k-anonymous, l-diverse, t-close as it stands?", epilog=CHECK)
@file
@quasi
@option("--k", "K", "the least size of a class that is asked for")
@requirements
@gaps
def check_command(arguments: Arguments) -> CommandOutput:
    """Say whether a table is as anonymous as was asked for."""
    from discreet.anonymity import diversity_of, k_of, meets
    from discreet.cli.formatting import columns
    from discreet.cli.microdata import (
        NO_GUARANTEE,
        NOT_MET,
        WORDS,
        lacking_lines,
        measure_text,
        read_checked_table,
        read_requirements,
        requirement_name,
    )

    assumptions, quasi, table = read_checked_table(arguments)
    wanted = None if arguments.k is None else read_whole(arguments.k, "--k")
    required = read_requirements(arguments)
    k = k_of(table, quasi)
    checks = [] if wanted is None else [(f"k = {wanted}", k >= wanted)]
    checks += [(requirement_name(requirement), meets(table, requirement, quasi)) for requirement in required]
    facts: dict[str, Fact] = {"quasi": [*quasi], "k": k, "rows": table.rows, "met": all(met for _, met in checks)}
    facts["lacking"] = table.left_out
    lines = [*assumptions, f"The smallest class has {k} of {table.rows:,} rows.", *lacking_lines(table)]
    if arguments.sensitive is not None:
        spread = diversity_of(table, arguments.sensitive, quasi)
        diversity = {name: None if value is None else float(value) for name, value in asdict(spread).items()}
        facts["diversity"] = {**diversity}
        lines += ["", *columns([[WORDS[name], measure_text(value)] for name, value in asdict(spread).items()])]
    facts["checks"] = dict(checks)
    lines += ["", *columns([[name, "met" if met else "NOT met"] for name, met in checks])] if checks else []
    return CommandOutput("check", facts, (*lines, "", NO_GUARANTEE), status=0 if facts["met"] else NOT_MET)


@command("risk", "How likely people are found again: by prosecutor, journalist, marketer.")
@file
@quasi
@option("--population", "FILE", "all people, of whom those in the table are a part")
@option("--limit", "P", "count the rows whose risk is above this (0.2)", default="0.2")
@gaps
def risk_command(arguments: Arguments) -> CommandOutput:
    """Say how likely people are found again."""
    from discreet.anonymity import journalist_risk, prosecutor_risk
    from discreet.cli.formatting import columns, format_exact
    from discreet.cli.microdata import (
        NO_GUARANTEE,
        lacking_lines,
        measure_text,
        percent_text,
        read_checked_table,
        read_table,
        risk_facts,
    )

    assumptions, quasi, table = read_checked_table(arguments)
    limit = read_number(arguments.limit, "--limit")
    risks = {"prosecutor": prosecutor_risk(table, quasi, limit=limit)}
    if arguments.population is not None:
        risks["journalist"] = journalist_risk(
            table, read_table(arguments, arguments.population, quasi), quasi, limit=limit
        )
    shown = [["", "highest", "mean", f"above {format_exact(limit)}"]]
    shown += [
        [name, measure_text(risk.highest), measure_text(risk.mean), percent_text(risk.above)]
        for name, risk in risks.items()
    ]
    marketer = risks.get("journalist", risks["prosecutor"]).mean
    lines = [
        *assumptions,
        *columns(shown),
        "",
        f"A marketer matches {percent_text(marketer)} of the rows rightly, on average.",
    ]
    lines += [f"{risks['prosecutor'].unique:,} of {table.rows:,} rows are alone with what is known of them."]
    lines += lacking_lines(table)
    facts: dict[str, Fact] = {"lacking": table.left_out, **{name: risk_facts(risk) for name, risk in risks.items()}}
    return CommandOutput("risk", {"quasi": [*quasi], **facts, "marketer": float(marketer)}, (*lines, "", NO_GUARANTEE))


@command("make", "Make a table k-anonymous, and write it to a new file.", epilog=MAKE)
@file
@output
@option("--quasi", "COLUMNS", KNOWN, required=True)
@option("--k", "K", "the least size of a class", required=True)
@option("--keep", "COLUMNS", "other columns that go along as they are; the rest stays here")
@option(
    "--method",
    "METHOD",
    "mondrian: boxes cut between values (the default); relaxed: also through equal values; full-domain: a level for "
    "each column; suppress: rows are left out",
    type=WordChoice(METHODS),
    default="mondrian",
)
@option("--hierarchy", "COLUMN=FILE", "one line a value, ; between levels", multiple=True)
@option("--suppress", "SHARE", "with full-domain: the share of rows that may be left out (0)", default="0")
@requirements
@gaps
@option("--ledger", "PLACE", "the ledger of these people: it is told first, and closed")
@flag("--inside", "the file stays with those who may see the rows")
@exclusive("--ledger", "--inside", required=True)
@option("--by", "NAME", "who publishes (the name of the user, if left out)")
def make_command(arguments: Arguments) -> CommandOutput:
    """Make a table k-anonymous, and write it."""
    from discreet.anonymity import information_lost, publish, write_inside
    from discreet.cli.dataset.declarations import words_of
    from discreet.cli.ledger.views import author, reachable
    from discreet.cli.microdata import (
        CLOSED,
        INSIDE,
        NO_GUARANTEE,
        anonymise,
        lacking_lines,
        read_hierarchies,
        read_table,
    )
    from discreet.gate import Ledger

    k, quasi = read_whole(arguments.k, "--k"), words_of(arguments.quasi)
    carried = [*words_of(arguments.keep), *([arguments.sensitive] if arguments.sensitive else [])]
    table = read_table(arguments, arguments.file, list(dict.fromkeys([*quasi, *carried])), read_hierarchies(arguments))
    anon = anonymise(arguments, table, quasi, k)
    by = author(arguments)
    with reachable("The file"):
        if arguments.ledger is None:
            write_inside(anon, arguments.output)
        else:
            with reachable("The ledger"):
                ledger = Ledger.open(arguments.ledger)
            publish(anon, arguments.output, ledger=ledger, by=by)
            ledger.close()
    lost = information_lost(anon, k=k)
    facts: dict[str, Fact] = {
        "method": anon.method, "k": anon.k, "classes": anon.classes.count, "suppressed": anon.classes.suppressed,
        "lacking": table.left_out, "penalty": lost.penalty, "disclosed": arguments.ledger is not None,
    }  # fmt: skip
    lines = (
        f"{anon.method}: {anon.classes.count:,} classes, the smallest of {anon.k} rows.",
        f"{anon.classes.suppressed:,} of {table.rows:,} rows are left out.",
        *lacking_lines(table),
        f"Of what the quasi-identifiers told, {lost.penalty:.1%} is lost (normalised certainty penalty).",
        CLOSED if arguments.ledger is not None else INSIDE,
    )
    return CommandOutput("make", facts, (*lines, "", NO_GUARANTEE))


@command("deidentify", "Write rows without names: drop, mask, pseudonyms, coarser values.", epilog=TREATMENTS)
@file
@output
@option("--drop", "COLUMNS", "not passed on")
@option("--keep", "COLUMNS", "as they are")
@option("--pseudonym", "COLUMNS", "a keyed hash in place of each value; needs --key")
@option("--key", "FILE", "the key of pseudonyms; made if there is none. Keep it apart")
@option("--mask", "COLUMN=N", "only the first N signs", multiple=True)
@option("--round", "COLUMN=WIDTH", "numbers down to a multiple of WIDTH", multiple=True)
@option("--clip", "COLUMN=LOW..HIGH", "numbers outside become the ends", multiple=True)
@option("--day", "COLUMN=year|quarter|month|week", "of days only the year, and so on", multiple=True)
@option("--label", "COLUMN=FILE:LEVEL", "the label at a level of a hierarchy", multiple=True)
@gap_texts
def deidentify_command(arguments: Arguments) -> CommandOutput:
    """Write rows without names."""
    from discreet.anonymity import deidentify
    from discreet.cli.ledger.views import reachable
    from discreet.cli.microdata import NO_GUARANTEE, read_treatments
    from discreet.gate import one_line

    treatments = read_treatments(arguments)
    with reachable("The file"):
        done = deidentify(arguments.file, arguments.output, treatments, gap_texts=tuple(arguments.gap or ()))
    facts: dict[str, Fact] = {"rows": done.rows, "columns": list(done.columns)}
    names = ", ".join(map(one_line, done.columns))
    lines = (
        f"{done.rows:,} rows were written, sorted, with: {names}.",
        "They are about people all the same. If they leave, tell the ledger: discreet ledger disclose PLACE --all",
    )
    return CommandOutput("deidentify", facts, (*lines, "", NO_GUARANTEE))
