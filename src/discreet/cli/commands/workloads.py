"""`discreet batch`, `hierarchy` and `counter`: many questions for one payment."""

from typing import Any

from discreet.cli.commands import LIMIT_HELP, analyst, no_cache, project
from discreet.cli.numbers import read_whole
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import (
    JSON,
    Arguments,
    WordChoice,
    argument,
    command,
    exclusive,
    flag,
    option,
    several,
)
from discreet.core import InvalidInput, whole

BATCH = """\
FILE has questions in SQL with ; between them. Parts that they share are measured once. For example:

  discreet batch questions.sql --rho 0.1 --preview
  discreet batch questions.sql --rho 0.1
  discreet batch - --epsilon 1 --weights 1,1,4 --json < questions.sql > answers.json

The same batch again is answered from the ledger, and costs nothing.
"""
HIERARCHY = """\
FILE is a CSV file of all leaves there are, which are public. Its first line names the columns, from coarse to fine:

  state,county
  Ohio,Adams
  Ohio,Allen

For example:

  discreet hierarchy counties.csv --rho 0.1 --preview
  discreet hierarchy counties.csv --rho 0.1 --csv > counts.csv
  discreet hierarchy wards.csv --rho 0.1 --table visits --where "age >= 40" --limit groups=1,rows=2
"""
COUNTER = """\
All days are paid for at once, by the first call that has a day to tell of. Later calls with the same words are free:
have cron run it every night. For example:

  discreet counter day --start 2025-01-01 --steps 365 --rho 0.1 --preview
  discreet counter day --start 2025-01-01 --steps 365 --rho 0.1 --csv > seen.csv
  discreet counter day --start 2025-01-01 --steps 24 --every month --limit 3 --where "ward = 'A'" --epsilon 1

Rows of a day that was told must not be taken away or moved to a later day.
"""
price = several(
    option("--epsilon", "E", "the price of all of it, as an ε"),
    option("--rho", "R", "the price as a ρ, with Gaussian noise"),
    exclusive("--epsilon", "--rho", required=True),
)
rows = several(
    option("--table", "NAME", "the table, where there are several"),
    option("--where", "SQL", "the rows that count: a condition in SQL"),
)
accuracy = several(
    option("--confidence", "P", "the confidence of error bars (0.95)", default="0.95"),
    flag("--simultaneous", "this confidence holds for all error bars of a table at once"),
    option("--limit", "LIMIT", LIMIT_HELP),
)
payment = several(
    flag("--preview", "tell cost, errors and saving only; free"),
    flag("--fresh", "pay for new noise, even if this was asked before"),
    option("--request", "ID", "a name for this payment: under one name nothing is paid for twice"),
    project,
    analyst,
    no_cache,
)


@command(
    "batch", "Ask several questions at one price: parts that they share are measured once.", epilog=f"{BATCH}\n{JSON}"
)
@argument("file", "FILE", "questions with ; between them, or - to read them from standard input")
@price
@option("--weights", "A,B,…", "how much the errors of each question count")
@flag("--apart", "do not make tables of public groups add up")
@flag("--other", "also buy the sum over groups that are not shown")
@accuracy
@payment
def batch_command(arguments: Arguments) -> CommandOutput:
    """Answer several questions at one price, or tell what they would cost."""
    from discreet.cli.dataset.facts import budget_facts, payment_facts
    from discreet.cli.dataset.sessions import budget_lines, open_project, progress_line, reword_errors
    from discreet.cli.dataset.workloads import (
        preview_answer,
        question_facts,
        read_accuracy,
        read_text,
        read_weights,
        reword_line,
        saving_facts,
        statements,
    )
    from discreet.cli.ledger.views import ledger_facts

    text = read_text(arguments.file)
    questions = statements(text)
    if not questions:
        raise InvalidInput("It contains no question.", fix="write questions in SQL, with ; between them")
    how = {
        **read_accuracy(arguments),
        "weights": read_weights(arguments.weights),
        "consistent": not arguments.apart,
        "other": arguments.other,
    }
    with open_project(arguments) as session, reword_errors(text), progress_line("answering", arguments, session):
        if arguments.preview:
            return preview_answer("batch", session, session.preview_batch(questions, **how))
        answers = session.batch(questions, **how, fresh=arguments.fresh, request=arguments.request)
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            "questions": question_facts(answers),
            **payment_facts(answers.release),
            "saving": saving_facts(answers.saving),
            "budget": budget_facts(session),
        }
        lines = [*map(reword_line, answers.lines()), "", *budget_lines(session)]
    return CommandOutput("batch", facts, tuple(lines))


@command(
    "hierarchy", "Count at every level of a public tree, so that the counts add up.", epilog=f"{HIERARCHY}\n{JSON}"
)
@argument("file", "FILE", "the leaves as CSV, with the names of columns in the first line")
@price
@rows
@option("--count", "WHAT", "rows or people (rows)", type=WordChoice(("rows", "people")), default="rows")
@option("--weights", "A,B,…", "how much the errors of each level count, from the top down")
@flag("--even", "split the price evenly over the levels")
@option("--total", "N", "the total count, where it is public")
@accuracy
@payment
@flag("--csv", "one line for each node, as CSV")
def hierarchy_command(arguments: Arguments) -> CommandOutput:
    """Answer counts at every level of a tree, or tell what they would cost."""
    from discreet.cli.dataset.facts import budget_facts, csv_rows, payment_facts
    from discreet.cli.dataset.rewording import name_options
    from discreet.cli.dataset.sessions import budget_lines, open_project, progress_line, reword_errors
    from discreet.cli.dataset.workloads import (
        columns_of,
        need_one_form,
        paths_of,
        preview_answer,
        read_accuracy,
        read_leaves,
        read_weights,
        row_facts,
    )
    from discreet.cli.ledger.views import ledger_facts

    need_one_form(arguments)
    names, cells = read_leaves(arguments.file)
    how = {
        **read_accuracy(arguments),
        "table": arguments.table,
        "where": arguments.where,
        "people": arguments.count == "people",
        "weights": read_weights(arguments.weights),
        "even": arguments.even,
        "total": None if arguments.total is None else read_whole(arguments.total, "--total"),
    }
    with (
        open_project(arguments) as session,
        reword_errors(arguments.where or ""),
        progress_line("answering", arguments, session),
    ):
        keys, paths = paths_of(names, cells, columns_of(session, arguments.table))
        if arguments.preview:
            return preview_answer("hierarchy", session, session.preview_hierarchy(keys, paths, **how))
        counts = session.hierarchy(keys, paths, **how, fresh=arguments.fresh, request=arguments.request)
        rows = counts.rows()
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            "levels": [level.name for level in counts.levels],
            "rows": row_facts(rows),
            "confidence": float(counts.result.confidence),
            "simultaneous": counts.result.simultaneous,
            "notes": [*map(name_options, counts.notes)],
            **payment_facts(counts.release),
            "budget": budget_facts(session),
        }
        lines = [*map(name_options, counts.lines()), "", *budget_lines(session)]
    return CommandOutput("hierarchy", facts, tuple(lines), stream=csv_rows(rows) if arguments.csv else None)


@command("counter", "Count rows by day as days arrive, for one price.", epilog=f"{COUNTER}\n{JSON}")
@argument("day", "COLUMN", "the column of dates")
@option("--start", "DAY", "the first day, such as 2025-01-01", required=True)
@option("--steps", "N", "the number of days, or weeks, …, in all", required=True)
@option("--every", "PERIOD", "day, week, month, quarter or year (day)", default="day")
@option("--limit", "N", "the number of rows of one person that count, the first ones (1)", default="1")
@price
@rows
@option("--today", "DAY", "the day that is not over yet (today in UTC)")
@option("--confidence", "P", "the confidence of error bars (0.95)", default="0.95")
@flag("--simultaneous", "this confidence holds for all error bars at once, not for each")
@flag("--preview", "tell cost and error only; free")
@option("--request", "ID", "a name for the payment: under one name nothing is paid for twice")
@flag("--csv", "one line for each day, as CSV")
@project
@analyst
@no_cache
def counter_command(arguments: Arguments) -> CommandOutput:
    """Answer counts of all days that are over, or tell what they would cost."""
    from discreet.accounting import loss_to_text
    from discreet.cli.dataset.declarations import read_day
    from discreet.cli.dataset.facts import budget_facts, csv_rows
    from discreet.cli.dataset.sessions import budget_lines, open_project, price_of, progress_line, reword_errors
    from discreet.cli.dataset.workloads import (
        need_one_form,
        preview_counter,
        read_confidence,
        read_rows_limit,
        row_facts,
    )
    from discreet.cli.ledger.views import ledger_facts
    from discreet.gate import cost_words

    need_one_form(arguments)
    options: dict[str, Any] = {
        "start": read_day(arguments.start, "--start"),
        "steps": whole(read_whole(arguments.steps, "--steps"), "--steps"),
        "every": arguments.every,
        "limit": read_rows_limit(arguments.limit),
        "where": arguments.where,
        "table": arguments.table,
        **price_of(arguments),
        "request": arguments.request,
    }
    sure = read_confidence(arguments)
    today = None if arguments.today is None else read_day(arguments.today, "--today")
    with (
        open_project(arguments) as session,
        reword_errors(arguments.where or ""),
        progress_line("answering", arguments, session),
    ):
        counter = session.counter(arguments.day, **options)
        if arguments.preview:
            return preview_counter(session, counter, sure)
        counts = counter.refresh(today, confidence=sure, together=arguments.simultaneous)
        rows = counts.rows()
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            "what": counter.plan.describe(),
            "rows": row_facts(rows),
            "confidence": float(sure),
            "simultaneous": arguments.simultaneous,
            "cost": loss_to_text(counter.plan.cost),
            "cost_words": cost_words(counter.plan.cost),
            "budget": budget_facts(session),
        }
        lines = [*counts.lines(), "", *budget_lines(session)]
    return CommandOutput("counter", facts, tuple(lines), stream=csv_rows(rows) if arguments.csv else None)
