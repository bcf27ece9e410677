"""`discreet ask`, `preview`, `explain`, `schema`, `misfits`, `buy-bounds`: questions about a table. Two spend."""

from discreet.cli.commands import LIMIT_HELP, analyst, no_cache, project
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import (
    JSON,
    Arguments,
    Declaration,
    argument,
    command,
    exclusive,
    flag,
    option,
    repeatable_option,
    several,
)
from discreet.core import InvalidInput

ASK = """\
For example:

  discreet ask "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward" --epsilon 0.5
  discreet ask "SELECT COUNT(*) FROM visits WHERE age >= 40" --within 25 --confidence 0.95
  discreet ask - --epsilon 0.5 --csv < question.sql > answer.csv

A question that was asked before is answered from the ledger, and costs nothing.
"""
PREVIEW = """\
Free, and no row is read. For example:

  discreet preview "SELECT ward, COUNT(*) FROM visits GROUP BY ward" --epsilon 0.5
"""
EXPLAIN = """\
Free, and no row is read. For example:

  discreet explain "SELECT ward, AVG(stay) FROM visits GROUP BY ward" --epsilon 0.5
"""
SCHEMA = """\
Free. For example:

  discreet schema
  discreet schema --json --project clinic/discreet.toml
"""
MISFITS = """\
Reads all rows, pays nothing and writes nothing. The numbers are exact, and private: do not pass them on. For example:

  discreet misfits
"""
BUY = """\
For example:

  discreet buy-bounds cost --epsilon 0.1

Bounds that were bought serve all analysts. Bounds that the settings declare cost nothing, and take precedence.
"""
#: The share of the whole budget that `explain` assumes if no price is named.
FREE = " (a tenth of the whole budget, if all three are left out)"


def question(default_price: str = "") -> Declaration:
    """Declare a question and its price; the session says which of the three prices is needed, with a fix."""
    return several(
        argument("sql", "SQL", "the question, or - to read it from standard input"),
        option("--epsilon", "E", f"the price, as an ε{default_price}"),
        option("--rho", "R", "the price as a ρ, with Gaussian noise"),
        repeatable_option(
            "--within", "X", "pay the least for which every column is within ±X; or NAME=X, for one column"
        ),
        option("--confidence", "P", "the confidence of error bars (0.95)", default="0.95"),
        flag("--simultaneous", "this confidence holds for all error bars at once, not for each"),
        option("--size", "N", "the number of rows of a group, roughly, as far as it is public"),
        option("--limit", "LIMIT", f"{LIMIT_HELP}, for this question"),
        option("--matches", "MATCHES", "the bound on joins between people: rows=2,matches=5"),
        flag("--bias", "also estimate how many people lost something to limits"),
        project,
        analyst,
    )


@command("ask", "Ask in SQL: the answer with its error, what it cost, and what is left.", epilog=f"{ASK}\n{JSON}")
@question()
@flag("--fresh", "pay for new noise, even if this was asked before")
@option("--request", "ID", "a name for this payment: under one name nothing is paid for twice")
@flag("--csv", "the table alone, as CSV with the ends of the error bars")
@no_cache
def ask_command(arguments: Arguments) -> CommandOutput:
    """Answer a question, from the ledger's store if it was asked before, else for its price."""
    from discreet.cli.dataset.facts import answer_facts, budget_facts, csv_lines
    from discreet.cli.dataset.rewording import name_options
    from discreet.cli.dataset.sessions import (
        budget_lines,
        open_project,
        progress_line,
        read_options,
        read_question,
        reword_errors,
    )
    from discreet.cli.ledger.views import ledger_facts

    if arguments.csv and arguments.json:
        raise InvalidInput("--csv and --json are two forms.", fix="choose one of them")
    sql, options = read_question(arguments), read_options(arguments)
    with open_project(arguments) as session, reword_errors(sql), progress_line("answering", arguments, session):
        answer = session.sql(sql, **options, fresh=arguments.fresh, request=arguments.request)
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            **answer_facts(answer),
            "budget": budget_facts(session),
        }
        lines = [*map(name_options, answer.lines()), "", *budget_lines(session)]
    if arguments.csv:
        return CommandOutput("ask", facts, (), stream=tuple(csv_lines(answer)))
    return CommandOutput("ask", facts, tuple(lines))


@command("preview", "What a question would cost, and how far off its answer would be.", epilog=f"{PREVIEW}\n{JSON}")
@question()
def preview_command(arguments: Arguments) -> CommandOutput:
    """Answer what a question would cost, and how far off its answer would be. Free."""
    from discreet.cli.dataset.facts import budget_facts, preview_facts
    from discreet.cli.dataset.rewording import name_options
    from discreet.cli.dataset.sessions import open_project, read_options, read_question, reword_errors
    from discreet.cli.ledger.views import ledger_facts

    sql, options = read_question(arguments), read_options(arguments)
    with open_project(arguments) as session, reword_errors(sql):
        preview = session.preview(sql, **options)
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            **preview_facts(preview),
            "budget": budget_facts(session),
        }
        return CommandOutput("preview", facts, tuple(map(name_options, preview.lines())))


@command(
    "explain",
    "How a question would be answered: limits, sensitivities, noise, and what would halve the error.",
    epilog=f"{EXPLAIN}\n{JSON}",
)
@question(FREE)
def explain_command(arguments: Arguments) -> CommandOutput:
    """Answer how a question would be answered. Free."""
    from discreet.cli.dataset.rewording import name_options
    from discreet.cli.dataset.sessions import (
        SHARE,
        has_price,
        open_project,
        read_options,
        read_question,
        reword_errors,
    )
    from discreet.cli.ledger.views import ledger_facts

    sql, options = read_question(arguments), read_options(arguments)
    with open_project(arguments) as session, reword_errors(sql):
        if not has_price(sql, options):
            budget = session.ledger.budget
            options["epsilon" if budget.rho is None else "rho"] = budget.limit * SHARE
        explanation = session.explain(sql, **options)
        facts: dict[str, Fact] = {**ledger_facts(session.ledger), "lines": [*map(name_options, explanation.lines)]}
        return CommandOutput("explain", facts, tuple(map(name_options, str(explanation).splitlines())))


@command("schema", "What is public: columns, bounds, groups, limits, who is protected.", epilog=f"{SCHEMA}\n{JSON}")
@project
def schema_command(arguments: Arguments) -> CommandOutput:
    """Answer what is public. Free."""
    from discreet.cli.dataset.facts import declaration_facts
    from discreet.cli.dataset.sessions import open_project
    from discreet.cli.ledger.views import ledger_facts

    with open_project(arguments) as session:
        facts: dict[str, Fact] = {**ledger_facts(session.ledger), **declaration_facts(session)}
        return CommandOutput("schema", facts, tuple(session.schema.lines()))


@command(
    "misfits",
    "For the steward: how many values do not fit what is declared, in exact, private numbers.",
    epilog=f"{MISFITS}\n{JSON}",
)
@project
def misfits_command(arguments: Arguments) -> CommandOutput:
    """Answer what does not fit, to the steward who may read the file anyway. Nothing is paid, or written anywhere."""
    from discreet.cli.dataset.facts import misfit_facts
    from discreet.cli.dataset.sessions import find_project, progress_line, reword_errors
    from discreet.session import report_misfits

    path = find_project(arguments)
    with reword_errors(), progress_line("counting what does not fit", arguments):
        report = report_misfits(path)
    return CommandOutput("misfits", misfit_facts(report), tuple(report.lines()))


@command("buy-bounds", "Buy the range of a column without declared bounds.", epilog=f"{BUY}\n{JSON}")
@argument("column", "COLUMN", "the column")
@option("--epsilon", "E", "the price, as an ε")
@option("--rho", "R", "the price as a ρ")
@exclusive("--epsilon", "--rho", required=True)
@project
@analyst
@no_cache
def buy_bounds_command(arguments: Arguments) -> CommandOutput:
    """Buy the range of a column, for all analysts."""
    from discreet.cli.dataset.facts import bounds_facts, budget_facts
    from discreet.cli.dataset.sessions import budget_lines, number, open_project, price_of, progress_line, reword_errors
    from discreet.cli.ledger.views import ledger_facts
    from discreet.gate import one_line

    price = price_of(arguments)
    with open_project(arguments) as session, reword_errors(), progress_line("answering", arguments, session):
        bounds = session.buy_bounds(arguments.column, epsilon=price["epsilon"], rho=price["rho"])
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            "column": arguments.column,
            **bounds_facts(bounds),
            "budget": budget_facts(session),
        }
        interval = f"from {number(bounds.low)} to {number(bounds.high)}"
        words = f"{one_line(arguments.column)}: {interval}, for all analysts from now on."
        return CommandOutput("buy-bounds", facts, (words, "", *budget_lines(session)))
