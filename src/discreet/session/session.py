"""A Gate with a friendly face: questions in, tables with errors out, everything paid for."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import TypedDict, Unpack, cast

from discreet.core import Bounds, BudgetExceeded, DiscreetError, Finished, InvalidInput, Number, WrongType
from discreet.core.errors import kind_of
from discreet.core.exact import flag
from discreet.core.limits import AnyLimit
from discreet.core.schema import Schema, closest
from discreet.data import DuckTable
from discreet.gate import Gate, Ledger, Release
from discreet.gate.plans import need_label
from discreet.gate.releases import one_line
from discreet.gate.views import total_gauge
from discreet.query import (
    Asker,
    BoundsPlan,
    Epsilon,
    Explanation,
    Facts,
    Frame,
    QueryPlan,
    Question,
    Rho,
    Within,
    explain,
    limit_bought,
    plan_limits,
    plan_question,
    predict,
    read_sql,
    view,
)
from discreet.session.advice import advised
from discreet.session.answers import Answer
from discreet.session.asking import Asking, asking, priced
from discreet.session.bought import Note, Notes, lacks_bounds, usable_bounds, with_bought
from discreet.session.descriptions import Description
from discreet.session.previews import Preview

#: The part of the budget for which limits are bought before an accuracy is promised, where none were given.
LIMITS_PRICE = Fraction(1, 100)


class How(TypedDict, total=False):
    """How a question is asked: exactly one of epsilon, rho and within, and what else is said. See `Session.sql`."""

    epsilon: Number | None
    rho: Number | None
    within: Number | Mapping[str, Number] | None
    confidence: Number
    simultaneous: bool
    size: int | None
    limit: object
    bias: bool


@dataclass(slots=True)
class Dataset:
    """What all sessions of one opening share: rows, account, and what is public. Closed once, for all."""

    table: DuckTable
    ledger: Ledger
    schema: Schema
    limit: AnyLimit | None
    delta: Fraction
    #: Columns of the source that cannot be asked about, and why.
    left_out: Mapping[str, str]
    closed: bool = False
    notes: Notes = field(init=False)

    def __post_init__(self) -> None:
        self.notes = Notes(self.ledger)

    def close(self) -> None:
        """Let go of the rows and of the ledger."""
        if not self.closed:
            self.closed = True
            self.table.close()
            self.ledger.close()


class Session(AbstractContextManager["Session"]):
    """Private rows, with one account, for one analyst. Made by `discreet.open`.

    Guarantee: whatever it returns was declared public, or went through the gate: paid for on disk, against the budget,
    before any row was looked at. What is shown of an answer afterwards is made from the answer alone.
    """

    def __init__(self, dataset: Dataset, *, analyst: str = "") -> None:
        self._dataset = dataset
        self._analyst = need_label(analyst, "analyst", empty=True)
        self._gate = Gate(dataset.ledger, dataset.table, analyst=analyst)
        self._known = with_bought(dataset.notes, dataset.schema, analyst)

    @classmethod
    def from_settings(cls, path: str | Path, *, analyst: str = "") -> "Session":
        """Open what a `discreet.toml` describes."""
        from discreet.session.opening import open_settings  # noqa: PLC0415 - which makes sessions
        from discreet.session.settings import read_settings  # noqa: PLC0415

        return open_settings(read_settings(path), analyst=analyst)

    @property
    def ledger(self) -> Ledger:
        """What was spent, by whom, on what, and what is left."""
        return self._dataset.ledger

    @property
    def analyst(self) -> str:
        """Who pays."""
        return self._analyst

    @property
    def schema(self) -> Description:
        """What is public about the table, to look at."""
        declared = self._dataset.schema
        bought = frozenset(
            column.name
            for column, before in zip(self._known.columns, declared.columns, strict=True)
            if column.bounds is not None and before.bounds is None
        )
        return Description(self._known, self._dataset.limit, bought, self._dataset.left_out)

    def for_analyst(self, analyst: str) -> "Session":
        """Return a session on the same rows and the same ledger for another analyst; closing one closes all."""
        self._need_open()
        return Session(self._dataset, analyst=need_label(analyst, "analyst"))

    def sql(  # noqa: PLR0913 - each is a word that an analyst may say
        self,
        text: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        within: Number | Mapping[str, Number] | None = None,
        confidence: Number = 0.95,
        simultaneous: bool = False,
        size: int | None = None,
        limit: object = None,
        bias: bool = False,
        fresh: bool = False,
        request: str | None = None,
    ) -> Answer:
        """Return the answer to a question in SQL, paid for once: asking the same again is free.

        Pay with `epsilon` (Laplace noise), with `rho` (zCDP, Gaussian noise), or say the error that is wanted,
        `within`, and the least price is found: one number for all columns or one for each by name, with a public guess
        of the rows in a group (`size`) for averages; where no limit was given, one is bought first, once, for a
        hundredth of the budget. Error bars are at `confidence`, of each cell or (`simultaneous`)
        of all at once. `limit` is how much of the answer one person may touch, if not as declared. `bias` also buys how
        many people lost rows to limits or values to bounds. `fresh` draws new noise, and pays again. `request` is an id
        of your own, under which it is safe to repeat after whatever went wrong.
        """
        return self.release(
            self._need_text(text),
            fresh=fresh,
            request=request,
            epsilon=epsilon,
            rho=rho,
            within=within,
            confidence=confidence,
            simultaneous=simultaneous,
            size=size,
            limit=limit,
            bias=bias,
        )

    def release(
        self,
        what: "str | Question | Frame",
        /,
        *,
        fresh: bool = False,
        request: str | None = None,
        **how: Unpack[How],
    ) -> Answer:
        """Return the answer to a question, in SQL or as a value, which a frame's is. See `sql`."""
        asked = self._asking(how)
        anew = flag(fresh, "fresh")
        question = self._question(what)
        facts = self._limited(question, self._facts(asked), asked, buy=True)
        plan = plan_question(question, facts, asked.spend, bias=asked.bias)
        release = self._released(question, plan, facts, asked, fresh=anew, request=request)
        result = view(question, plan, release.answer, confidence=asked.confidence, simultaneous=asked.simultaneous)
        return Answer(question, plan, release, result)

    def preview(self, what: "str | Question | Frame", /, **how: Unpack[How]) -> Preview:
        """Return what a question would cost, how far off it would be, whether it fits. Free; no row is looked at."""
        asked = self._asking(how)
        question = self._question(what)
        facts = self._limited(question, self._facts(asked), asked)
        plan = plan_question(question, facts, asked.spend, bias=asked.bias)
        price = self._gate.price(plan)
        return Preview(
            price=price,
            plan=plan,
            predicted=predict(
                question, plan, confidence=asked.confidence, simultaneous=asked.simultaneous, size=asked.size
            ),
            confidence=asked.confidence,
            simultaneous=asked.simultaneous,
            symbol=self.ledger.budget.symbol,
            release=None if price.stored is None else self.ledger.release_of(price.stored),
        )

    def explain(self, what: "str | Question | Frame", /, **how: Unpack[How]) -> Explanation:
        """Return who is protected and how, and what would halve the error. Free; no row is looked at."""
        asked = self._asking(how)
        question = self._question(what)
        facts = self._limited(question, self._facts(asked), asked)
        plan = plan_question(question, facts, asked.spend, bias=asked.bias)
        return explain(question, plan, confidence=asked.confidence, size=asked.size)

    def table(self, name: str | None = None) -> Frame:
        """Return the table as a frame, to filter, group and aggregate; its `release` asks this session."""
        self._need_open()
        known = self._known.table
        if name is not None and (not isinstance(name, str) or name.casefold() != known.casefold()):
            raise InvalidInput("There is no such table here.", fix=f"use {known!r}, or leave the name out")
        return Frame(schema=self._known, asker=cast("Asker", self))

    def buy_bounds(
        self, column: str, *, epsilon: Number | None = None, rho: Number | None = None, fresh: bool = False
    ) -> Bounds:
        """Return bounds of a column that has none, bought once and known to everybody from then on.

        They are powers of two between which nearly everybody's values lie, found with noise. What was bought before is
        returned for nothing, whatever the price; `fresh` buys anew, and the new bounds are the ones that count.
        """
        self._need_open()
        name = self._need_boundless(column)
        known = self._known.find(name)
        if known is not None and known.bounds is not None and not fresh:
            return known.bounds
        spend = priced(epsilon, rho)
        plan = BoundsPlan(self._dataset.schema, name, spend)
        release = self._gate.release(plan, fresh=flag(fresh, "fresh"))
        bounds = usable_bounds(plan, release.answer)
        if bounds is None:
            raise InvalidInput(
                f"The bounds of {name!r} came out beyond what can be counted with: so few people need a higher price.",
                fix="buy again for more, with fresh=True; or declare the bounds",
            )
        self.ledger.annotate(Note(name, release.number, spend).text(), by=self._analyst or "session")
        self._known = with_bought(self._dataset.notes, self._dataset.schema, self._analyst)
        return bounds

    def close(self) -> None:
        """Let go of the rows and of the ledger; what was answered stays."""
        self._dataset.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        head = f"Session on {one_line(self._known.table)}, protecting {one_line(self._known.unit)}"
        who = f" · analyst {one_line(self._analyst)}" if self._analyst else ""
        if self._dataset.closed:
            return f"{head}{who} · closed"
        try:
            _, gauge = total_gauge(self.ledger)
        except DiscreetError as error:
            return f"{head}{who} · {error.problem}"
        return f"{head}{who}\n{gauge.bar()}  {gauge.words()}"

    def __reduce__(self) -> str:
        raise WrongType("A session is not copied.", fix="open the table where it is needed")

    def _released(
        self,
        question: Question,
        plan: QueryPlan,
        facts: Facts,
        asked: Asking,
        *,
        fresh: bool,
        request: str | None,
    ) -> Release:
        try:
            return self._gate.release(plan, request=request, fresh=fresh)
        except BudgetExceeded as error:
            refusal = error
        raise advised(refusal, question, plan, facts, asked, self.ledger, self._analyst) from None

    def _asking(self, how: How) -> Asking:
        self._need_open()
        return asking(**how, in_rho=self.ledger.budget.epsilon is None)

    def _facts(self, asked: Asking) -> Facts:
        dataset = self._dataset
        if asked.limit is not None and self._known.unit.column is None:
            raise InvalidInput(
                "Nobody has more than one row here, so that there is nothing to limit.", fix="leave out limit"
            )
        limit = dataset.limit if asked.limit is None else asked.limit
        return Facts(schema=self._known, limit=limit, delta=dataset.delta)

    def _limited(self, question: Question, facts: Facts, asked: Asking, *, buy: bool = False) -> Facts:
        """Return facts with the limit that an accuracy needs: bought before, or bought now, if that is wanted."""
        if not isinstance(asked.spend, Within) or facts.limit is not None or facts.schema.unit.column is None:
            return facts
        price = self.ledger.budget.limit * LIMITS_PRICE
        plan = plan_limits(question, facts, Rho(price) if asked.spend.rho else Epsilon(price))
        if not buy and self._gate.price(plan).stored is None:
            return facts  # which the planner refuses, and says why
        return replace(facts, limit=limit_bought(self._gate.release(plan).answer))

    def _question(self, what: "str | Question | Frame") -> Question:
        match what:
            case Question():
                return what
            case Frame():
                return what.question
            case _:
                return read_sql(self._need_text(what), {self._known.table: self._known})

    def _need_text(self, text: object) -> str:
        if not isinstance(text, str):
            raise WrongType(
                f"The question is {kind_of(text)}, not SQL.",
                fix=f'pass a text: "SELECT COUNT(*) FROM {self._known.table}"',  # noqa: S608 - to be read
            )
        return text

    def _need_boundless(self, name: object) -> str:
        """Return the name of a column whose bounds could be bought."""
        if not isinstance(name, str):
            raise WrongType(f"column is {kind_of(name)}, not a name.", fix='pass a column\'s name, such as "cost"')
        schema = self._dataset.schema
        column = schema.find(name)
        if column is None:
            meant = closest(name, schema.names)
            fix = f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(schema.names)}"
            raise InvalidInput(f"There is no column {name!r} in {schema.table}.", fix=fix)
        if column.bounds is not None:
            raise InvalidInput(
                f"{column.name!r} has bounds already, which were declared.", fix="use them: there is nothing to buy"
            )
        if not lacks_bounds(schema, column):
            raise InvalidInput(
                f"{column.name!r} has no bounds to buy: it holds no numbers, or says who is protected.",
                fix="name a column of numbers; a CSV file's are texts until they are declared, as in "
                f'kinds={{"{column.name}": "real"}}',
            )
        return column.name

    def _need_open(self) -> None:
        if self._dataset.closed:
            raise Finished("The session is closed.", fix="open the table again; what was answered is in its ledger")
