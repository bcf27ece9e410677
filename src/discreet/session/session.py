"""Sessions: questions in, tables with error bars out, everything paid for through the gate."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Unpack

from discreet.core import Bounds, BudgetExceeded, DiscreetError, InvalidInput, Number, WrongType
from discreet.core.exact import flag, whole
from discreet.core.limits import Matches
from discreet.core.schema import Kind
from discreet.gate import UNPACED, Ledger, Pacer, need_label, one_line
from discreet.gate.ledger.views import standing_lines
from discreet.query import (
    BoundsPlan,
    Epsilon,
    Explanation,
    Frame,
    Participation,
    ParticipationPlan,
    Question,
    Result,
    Rho,
    explain,
    explain_public_question,
    layout_of,
    shape_of,
    view,
)
from discreet.session.advice import advise
from discreet.session.answers.answer import Answer
from discreet.session.context import AnalystContext
from discreet.session.datasets import Dataset, open_described
from discreet.session.descriptions import Description, description
from discreet.session.facts.public_facts import PublicFacts, build_facts
from discreet.session.facts.rowless import build_rowless_dataset
from discreet.session.ledger_notes import Note, usable_bounds
from discreet.session.options import QuestionOptions, ReleaseOptions, list_options, read_price
from discreet.session.previews import Preview, preview_public_answer, preview_question
from discreet.session.settings.file import read_settings
from discreet.session.standings import AccountReply, ReleaseFacts, list_payments, read_account, sign_certificate
from discreet.session.workload_session import WorkloadSession


def _draw_share(share: float) -> None:
    """Draw how far an import is, in one line on standard error, which goes when it is done."""
    if sys.stderr is not None:
        line = f"importing rows: {share:4.0%}"
        sys.stderr.write(f"\r{line}" if share < 1 else f"\r{' ' * len(line)}\r")
        sys.stderr.flush()


class Session(WorkloadSession, AbstractContextManager["Session"]):
    """Private rows, with one account, for one analyst. Made by `discreet.open`.

    Guarantee: everything that it returns was declared public, or went through the gate: paid for on disk, against the
    budget, before any row was looked at. Everything shown of an answer afterwards is made from the answer alone.
    """

    def __init__(self, dataset: Dataset, *, analyst: str = "", team: str = "") -> None:
        self._dataset = dataset
        self._context = AnalystContext(dataset, analyst, team)
        self._gate = self._context.gate

    @classmethod
    def from_settings(cls, path: str | Path, *, analyst: str = "", pacer: Pacer = UNPACED) -> "Session":
        """Open the tables that a `discreet.toml` describes.

        Args:
            path: The file of declarations, as `discreet init` writes it.
            analyst: The name of the analyst who pays.
            pacer: The rule for when answers are stored, for a service; at once, if left out.

        Returns:
            A session.

        Raises:
            DiscreetError: The file, a source or the ledger cannot be opened; the error names a fix.

        """
        dataset = open_described(read_settings(path), analyst=analyst)
        dataset.pacer = pacer
        return session_on(dataset, analyst)

    @classmethod
    def on_facts(cls, facts: PublicFacts, ledger: Ledger, *, analyst: str = "") -> "Session":
        """Return a session without rows: it previews, explains and hands out stored answers, and pays for nothing.

        Args:
            facts: The public facts, as `facts` of a session with rows returned them.
            ledger: The ledger of that session; closing this session closes it.
            analyst: The name of the analyst who would pay.

        Returns:
            A session. A question without a stored answer is refused by `NoRows`, before anything is paid.

        Raises:
            InvalidInput: The facts were taken with another ledger.

        """
        return cls(build_rowless_dataset(facts, ledger), analyst=analyst)

    @property
    def facts(self) -> PublicFacts:
        """All that is public about the tables and the budget, as this analyst knows it; no row of a private table."""
        self._context.need_open()
        return build_facts(self._dataset, self._context.known)

    @property
    def ledger(self) -> Ledger:
        """The ledger: payments, by whom and for which questions, and the rest of the budget."""
        return self._dataset.ledger

    @property
    def analyst(self) -> str:
        """The analyst who pays."""
        return self._context.analyst

    @property
    def team(self) -> str:
        """The team whose share pays besides; empty without one."""
        return self._context.team

    @property
    def schema(self) -> Description:
        """The public facts about the tables, for display."""
        return description(self._dataset, self._context.known)

    def for_analyst(self, analyst: str, *, team: str = "") -> "Session":
        """Return a session on the same rows and the same ledger for another analyst; closing one closes all.

        Args:
            analyst: The name of the analyst who pays.
            team: The analyst's team, whose share pays besides.

        Returns:
            A session.

        Raises:
            InvalidInput: The name is empty, or the session is closed.

        Example:
            >>> clinic.for_analyst("ada").analyst
            'ada'

        """
        self._context.need_open()
        return Session(self._dataset, analyst=need_label(analyst, "analyst"), team=team)

    @list_options(ReleaseOptions)
    def sql(self, text: str, **options: Unpack[ReleaseOptions]) -> Answer:
        """Return the answer to a question in SQL.

        The cost is charged once: the same question again is free. Pay with exactly one of `epsilon`, `rho`, `within`.

        Args:
            text: A SELECT statement; the page on SQL lists the dialect. Price and limit may also stand in it, as in
                BigQuery: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, max_rows_contributed = 10) ….
            options: Keywords:

                * `epsilon`: The price in ε; noise is Laplace.
                * `rho`: The price in ρ of zero-concentrated differential privacy; noise is Gaussian.
                * `within`: The error that is wanted, for all columns or by column name; the least price is found. Where
                  no contribution bound was declared, one is bought first, once, for a hundredth of the budget.
                * `confidence`: The confidence of error bars; 0.95 by default.
                * `simultaneous`: Whether error bars hold for all cells at once, or (the default) for each by itself.
                * `size`: A public guess of the number of rows per group; `within` needs it for averages.
                * `limit`: The contribution bound of this question, if not the declared one.
                * `bias`: Whether to estimate how many people lost rows to the contribution bound or values to bounds.
                * `matches`: The bound on matching rows of different people, for joins of people with each other.
                * `fresh`: Whether to draw new noise and pay again.
                * `request`: An id of your own, with which it is safe to retry after any failure.

        Returns:
            The answer: a table with error bars, its cost and its receipt.

        Raises:
            QueryRefused: The SQL cannot be answered privately; the error names the place and a fix.
            BudgetExceeded: The price does not fit into the remaining budget. Nothing was paid.
            WrongType: An option is unknown or has the wrong type.

        Example:
            >>> session.sql("SELECT COUNT(*) FROM visits", epsilon=0.5)  # doctest: +SKIP

        """
        return self.release(self._context.need_text(text), **options)

    @list_options(ReleaseOptions)
    def release(self, what: "str | Question | Frame", /, **options: Unpack[ReleaseOptions]) -> Answer:
        """Return the answer to a question: SQL, a frame, or a question as a value.

        Args:
            what: A question: SQL, a frame of `table`, or a question as a value.
            options: The options of `sql`.

        Returns:
            The answer: a table with error bars, its cost and its receipt.

        Raises:
            QueryRefused: The question cannot be answered privately; the error names a fix.
            BudgetExceeded: The price does not fit into the remaining budget. Nothing was paid.

        Example:
            >>> visits = clinic.table().group_by("ward").agg(n=discreet.count())
            >>> len(clinic.release(visits, epsilon=0.5))  # the public groups, A and B
            2

        """
        asked = self._context.find_public(what, options)
        if isinstance(asked, Result):
            return Answer(None, None, None, asked)
        ready = self._context.prepare(what, options, ReleaseOptions, buy=True)
        checked = ready.options
        try:
            release = self._gate.release(ready.plan, request=checked.request, fresh=checked.fresh)
        except BudgetExceeded as error:
            refusal = error
        else:
            result = view(
                ready.question,
                ready.plan,
                release.answer,
                confidence=checked.confidence,
                simultaneous=checked.simultaneous,
            )
            return Answer(ready.question, ready.plan, release, result, personal=self._context.personal)
        raise advise(refusal, ready, self.ledger, self.analyst, self.team) from None

    def shape(
        self, what: "str | Question | Frame", /, *, matches: Matches | None = None, bars: bool = False
    ) -> dict[str, str]:
        """Return the names and kinds of an answer's columns. Free, and without a price; no row is read.

        Args:
            what: A question: SQL, a frame of `table`, or a question as a value.
            matches: The bound on matching rows of different people, for joins of people with each other.
            bars: List the columns of error bars, too, as the table of an answer has them.

        Returns:
            A dictionary in the order of the columns: `integer`, `real`, `text`, `boolean`, `date` or `timestamp`.

        Raises:
            QueryRefused: The question cannot be answered privately; the error names a fix.

        Example:
            >>> clinic.shape("SELECT ward, COUNT(*) AS n, AVG(stay) FROM visits GROUP BY ward")
            {'ward': 'text', 'n': 'integer', 'avg_stay': 'real'}

        """
        asked = self._context.find_public(what, {"matches": matches})
        if isinstance(asked, Result):
            return {column.name: (column.kind or Kind.TEXT).value for column in asked.columns}
        question = asked.question if isinstance(asked, Frame) else asked
        return {name: kind.value for name, kind in (layout_of(question) if bars else shape_of(question))}

    @list_options(QuestionOptions)
    def preview(self, what: "str | Question | Frame", /, **options: Unpack[QuestionOptions]) -> Preview:
        """Return the cost of a question, its predicted errors, and whether it fits. Free; no row is read.

        Args:
            what: A question: SQL, a frame of `table`, or a question as a value.
            options: The options of `sql`, without `fresh` and `request`.

        Returns:
            The preview.

        Raises:
            QueryRefused: The question cannot be answered privately; the error names a fix.

        Example:
            >>> clinic.preview("SELECT COUNT(*) FROM visits", epsilon=4).fits  # the budget is 3
            False

        """
        asked = self._context.find_public(what, options)
        if isinstance(asked, Result):
            account = self.ledger.state.account
            left = account.left_of(account.binding(self.analyst, self.team))
            return preview_public_answer(asked, self.ledger.budget, left)
        return preview_question(self._context, self._context.prepare(what, options))

    @list_options(QuestionOptions)
    def participation(
        self,
        what: "str | Question | Frame",
        /,
        *,
        price: Number,
        fresh: bool = True,
        request: str | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Participation:
        """Return about how many people still take part in a question, with personal accounts.

        Two noisy counts are bought; the people who are counted pay. The question itself is not asked.

        Args:
            what: A question: SQL, a frame of `table`, or a question as a value.
            price: The price of both counts together, in the currency of the question.
            fresh: Whether to count anew, which is the default: people leave as their budgets run out.
            request: An id of your own, with which it is safe to retry after any failure.
            options: The options of `sql`, without `fresh` and `request`.

        Returns:
            Both counts, of the people whom the question is about and of those who take part, and their error.

        Raises:
            InvalidInput: The budget belongs to the dataset, so that no person leaves.

        """
        if not self.ledger.budget.personal:
            self._context.check(options)
            raise InvalidInput(
                "Participation is complete here: the budget belongs to the dataset, and no person leaves.",
                fix='ask the question; people leave only with personal accounts, Budget(…, per="person")',
            )
        ready = self._context.prepare(what, options)
        self.ledger.state.account.admit(
            ready.plan.cost, self.analyst, self.team
        )  # no person takes part in a refused question
        spend = Rho(price) if isinstance(ready.plan.spend, Rho) else Epsilon(price)
        plan, confidence = ParticipationPlan(ready.plan, spend), ready.options.confidence
        answer = self._gate.release(plan, request=request, fresh=flag(fresh, "fresh")).answer
        return Participation(answer["asked"], answer["taking part"], plan.error(confidence), confidence)

    @list_options(QuestionOptions)
    def explain(self, what: "str | Question | Frame", /, **options: Unpack[QuestionOptions]) -> Explanation:
        """Return the privacy unit, the mechanisms, and the change that would halve the error. Free; no row is read.

        Args:
            what: A question: SQL, a frame of `table`, or a question as a value.
            options: The options of `sql`, without `fresh` and `request`.

        Returns:
            The explanation, as a tree to print.

        Raises:
            QueryRefused: The question cannot be answered privately; the error names a fix.

        Example:
            >>> "all rows of one patient_id" in str(clinic.explain("SELECT COUNT(*) FROM visits", epsilon=1))
            True

        """
        public = self._context.find_public_question(what)
        if public is not None:
            return explain_public_question(public)
        ready = self._context.prepare(what, options, written=True)
        return explain(ready.question, ready.plan, confidence=ready.options.confidence, size=ready.options.size)

    def table(self, name: str | None = None) -> Frame:
        """Return a table as a frame, to filter, group and aggregate; its `release` asks this session.

        Args:
            name: The name of the table; it may be left out where there is only one.

        Returns:
            The frame. Nothing is asked yet.

        Raises:
            InvalidInput: There is no such table, or there are several and none is named.

        Example:
            >>> visits = clinic.table("visits")
            >>> visits.filter("stay >= 3").agg(n=discreet.count()).preview(epsilon=0.5).fits
            True

        """
        self._context.need_open()
        return self._context.frame(self._dataset.need_table(name), self)

    def buy_bounds(
        self, column: str, *, epsilon: Number | None = None, rho: Number | None = None, fresh: bool = False
    ) -> Bounds:
        """Return bounds of a column that has none, bought once and public from then on.

        They are powers of two between which nearly all values lie, found with noise.

        Args:
            column: The column, which has no declared bounds.
            epsilon: The price in ε; or `rho`.
            rho: The price in ρ of zero-concentrated differential privacy.
            fresh: Whether to buy anew; the new bounds replace the old ones. Otherwise bounds that were bought before
                are returned for free.

        Returns:
            The bounds.

        Raises:
            BudgetExceeded: The price does not fit into the remaining budget. Nothing was paid.
            InvalidInput: The column has declared bounds, or so few people need a higher price.

        Example:
            >>> clinic.buy_bounds("age", epsilon=0.5)  # doctest: +SKIP
            Bounds(low=Fraction(0, 1), high=Fraction(128, 1), step=Fraction(1, 10000))

        """
        self._context.need_open()
        schema, name = self._dataset.need_boundless(column)
        known = self._context.known[schema.table].find(name)
        if known is not None and known.bounds is not None and not fresh:
            return known.bounds
        spend = read_price(epsilon, rho)
        plan = BoundsPlan(schema, name, spend)
        release = self._gate.release(plan, fresh=flag(fresh, "fresh"))
        bounds = usable_bounds(plan, release.answer)
        if bounds is None:
            raise InvalidInput(
                f"The bounds of {name!r} came out unusably wide: with so few people, they need a higher price.",
                fix="buy again at a higher price, with fresh=True; or declare the bounds",
            )
        self.ledger.annotate(Note(name, release.number, spend).text(), by=self._context.analyst or "session")
        self._context.learn()
        return bounds

    def account(self) -> AccountReply:
        """Return this analyst's account: the spent budget, the limits, and the rest. Free.

        Returns:
            The account: `spent`, `limit` and `left` as exact texts, and all of it in `words`. With personal accounts
            and no total, `spent` and `left` are None, as balances are private.

        Example:
            >>> clinic.account().limit
            '3'

        """
        self._context.need_open()
        return read_account(self.ledger, self.analyst, self.team)

    def releases(self, most: int = 100) -> tuple[ReleaseFacts, ...]:
        """Return the last payments of this analyst, newest first. Free.

        Args:
            most: How many payments of the ledger are looked through, from 1 to 1000.

        Returns:
            The payments by request, and the release that each bought.

        Raises:
            InvalidInput: The number is not from 1 to 1000.

        Example:
            >>> clinic.releases()
            ()

        """
        self._context.need_open()
        return list_payments(self.ledger, self.analyst, whole(most, "most"))

    def request_more(self, share: Number, *, reason: str, team: bool = False) -> int:
        """Ask the steward for a larger share of the budget. Free; the ledger keeps the request and the decision.

        Args:
            share: The share that is asked for, in the ε or ρ of the budget: all of it, not what is added.
            reason: The reason, for the steward and for people who read the ledger.
            team: Whether it is the share of the analyst's team, and not their own.

        Returns:
            The number of the request.

        Raises:
            InvalidInput: There is no such share, or an earlier request awaits a decision.

        """
        self._context.need_open()
        if flag(team, "team") and not self.team:
            raise InvalidInput("This analyst is in no team.", fix="leave out team: the share is the analyst's own")
        whose = self.team if team else ""
        return self.ledger.shares.request_more(share, analyst=self.analyst, reason=reason, team=whose)

    def certificate(self, request: str) -> str:
        """Return a signed statement about one release, which `discreet ledger check` reads. Free.

        Args:
            request: The request id of the receipt.

        Returns:
            The certificate, as JSON.

        Raises:
            InvalidInput: Nothing was released under this request.

        Example:
            >>> clinic.certificate(clinic.releases()[0].request)  # doctest: +SKIP

        """
        self._context.need_open()
        return sign_certificate(self.ledger, request)

    def warm_up(self) -> None:
        """Read the rows of files now, and not at the first question. Free; nothing is returned, whatever they are."""
        self._context.need_open()
        self._dataset.warm_up()

    def show_progress(self, tell: Callable[[float], None] | None = None) -> None:
        """Show the progress of the import of rows, at the first question or at `warm_up`.

        The share depends on rows: it is only for people who may see them, and not part of an answer. What is imported
        already, and what a server holds, has no progress.

        Args:
            tell: A function that gets the share that is done, from 0 to 1, in a thread of its own; if left out,
                it is drawn in a line on standard error, in notebooks too.

        Example:
            >>> clinic.show_progress()
            >>> clinic.warm_up()  # doctest: +SKIP

        """
        self._context.need_open()
        self._dataset.show_progress(_draw_share if tell is None else tell)

    def close(self) -> None:
        """Release the rows and the ledger; stored answers stay."""
        self._dataset.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        head = f"Session on {one_line(', '.join(self._context.known))}, protecting {one_line(self._context.unit)}"
        who = f" · analyst {one_line(self._context.analyst)}" if self._context.analyst else ""
        if self._dataset.closed:
            return f"{head}{who} · closed"
        try:
            lines = standing_lines(self.ledger)
        except DiscreetError as error:
            return f"{head}{who} · {error.problem}"
        return "\n".join([f"{head}{who}", *lines])

    def __reduce__(self) -> str:
        raise WrongType("A session cannot be copied.", fix="open the table where it is needed")


def session_on(dataset: Dataset, analyst: str) -> Session:
    """Return a session on a dataset that was just opened; the dataset is closed if that fails."""
    try:
        return Session(dataset, analyst=analyst)
    except BaseException:
        dataset.close()
        raise
