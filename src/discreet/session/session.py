"""A Gate with a friendly face: questions in, tables with errors out, everything paid for."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Unpack

from discreet.core import Bounds, DiscreetError, InvalidInput, Number, WrongType
from discreet.core.exact import flag
from discreet.core.limits import Matches
from discreet.core.schema import Value
from discreet.gate import Ledger
from discreet.gate.ledger.views import standing_lines
from discreet.gate.plans import need_label
from discreet.gate.releases import one_line
from discreet.query import (
    BoundsPlan,
    Explanation,
    Frame,
    Participation,
    Question,
    explain,
    plan_question,
    plan_stream,
    predict,
    predict_batch,
    predict_hierarchy,
    saving_of,
    view,
    view_hierarchy,
)
from discreet.session.answers.answer import Answer
from discreet.session.asking import How, priced
from discreet.session.bought import Note, usable_bounds
from discreet.session.context import Desk
from discreet.session.counters import Counter
from discreet.session.datasets import Dataset
from discreet.session.descriptions import Description, description
from discreet.session.participating import participation_of
from discreet.session.previews import Preview
from discreet.session.workloads import (
    BatchAnswer,
    HierarchyAnswer,
    Tree,
    WorkloadPreview,
    batch_answer,
    batch_plan,
    hierarchy_plan,
)


class Session(AbstractContextManager["Session"]):
    """Private rows, with one account, for one analyst. Made by `discreet.open`.

    Guarantee: whatever it returns was declared public, or went through the gate: paid for on disk, against the budget,
    before any row was looked at. What is shown of an answer afterwards is made from the answer alone.
    """

    def __init__(self, dataset: Dataset, *, analyst: str = "") -> None:
        self._dataset = dataset
        self._desk = Desk(dataset, analyst)

    @classmethod
    def from_settings(cls, path: str | Path, *, analyst: str = "") -> "Session":
        """Open what a `discreet.toml` describes."""
        from discreet.session.opening import open_settings  # noqa: PLC0415 - which makes sessions
        from discreet.session.settings.file import read_settings  # noqa: PLC0415

        return open_settings(read_settings(path), analyst=analyst)

    @property
    def ledger(self) -> Ledger:
        """What was spent, by whom, on what, and what is left."""
        return self._dataset.ledger

    @property
    def analyst(self) -> str:
        """Who pays."""
        return self._desk.analyst

    @property
    def schema(self) -> Description:
        """What is public about the tables, to look at."""
        return description(self._dataset, self._desk.known)

    def for_analyst(self, analyst: str) -> "Session":
        """Return a session on the same rows and the same ledger for another analyst; closing one closes all."""
        self._desk.need_open()
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
        matches: Matches | None = None,
        fresh: bool = False,
        request: str | None = None,
    ) -> Answer:
        """Return the answer to a question in SQL, paid for once: asking the same again is free.

        Pay with `epsilon` (Laplace noise), with `rho` (zCDP, Gaussian noise), or say the error that is wanted,
        `within`, and the least price is found: one number for all columns or one for each by name, with a public guess
        of the rows in a group (`size`) for averages; where no limit was given, one is bought first, once, for a
        hundredth of the budget. Error bars are at `confidence`, of each cell or (`simultaneous`)
        of all at once. `limit` is how much of the answer one person may touch, if not as declared. `bias` also buys how
        many people lost rows to limits or values to bounds. `matches` lets people be joined with each other, and says
        how far. `fresh` draws new noise, and pays again. `request` is an id of your own, under which it is safe to
        repeat after whatever went wrong.
        """
        return self.release(
            self._desk.need_text(text),
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
            matches=matches,
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
        asked = self._desk.asking(how)
        anew = flag(fresh, "fresh")
        question = self._desk.question(what, asked)
        facts = self._desk.limited(question, asked, buy=True)
        plan = plan_question(question, facts, asked.spend, bias=asked.bias)
        release = self._desk.released(question, plan, facts, asked, fresh=anew, request=request)
        result = view(question, plan, release.answer, confidence=asked.confidence, simultaneous=asked.simultaneous)
        return Answer(question, plan, release, result, personal=self._desk.personal)

    def preview(self, what: "str | Question | Frame", /, **how: Unpack[How]) -> Preview:
        """Return what a question would cost, how far off it would be, whether it fits. Free; no row is looked at."""
        asked = self._desk.asking(how)
        question = self._desk.question(what, asked)
        facts = self._desk.limited(question, asked)
        plan = plan_question(question, facts, asked.spend, bias=asked.bias)
        price = self._desk.gate(question).price(plan)
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
            personal=self._desk.personal,
            dear=self._desk.is_dear(plan.cost),
        )

    def participation(
        self,
        what: "str | Question | Frame",
        /,
        *,
        price: Number,
        fresh: bool = True,
        request: str | None = None,
        **how: Unpack[How],
    ) -> Participation:
        """Return about how many people still take part in a question, with personal accounts; for a price.

        `price` is in the currency that the question is asked in. It is paid by those who are counted, and the question
        itself is not asked. Whoever has left since the last time is no longer in it, so that it is counted anew.
        """
        asked = self._desk.asking(how)
        return participation_of(self._desk, what, asked, price, fresh=fresh, request=request)

    def explain(self, what: "str | Question | Frame", /, **how: Unpack[How]) -> Explanation:
        """Return who is protected and how, and what would halve the error. Free; no row is looked at."""
        asked = self._desk.asking(how)
        question = self._desk.question(what, asked)
        facts = self._desk.limited(question, asked)
        plan = plan_question(question, facts, asked.spend, bias=asked.bias)
        return explain(question, plan, confidence=asked.confidence, size=asked.size)

    def batch(
        self,
        questions: "Sequence[str | Question | Frame]",
        *,
        weights: Sequence[Number] | None = None,
        consistent: bool = True,
        other: bool = False,
        fresh: bool = False,
        request: str | None = None,
        **how: Unpack[How],
    ) -> BatchAnswer:
        """Return the answers to several questions, at one price: what they share is measured once.

        Pay with `epsilon` or `rho`, for all of them together. `weights` say how much the error of each question counts.
        If `consistent`, counts and sums over public groups add up: see the page on workloads. `other` buys what the
        groups come to that are not shown, where groups are private. The rest is as in `sql`.
        """
        asked = self._desk.asking(how)
        plan, gate = batch_plan(self._desk, questions, asked, weights, consistent=consistent, other=other)
        release = gate.release(plan, request=request, fresh=flag(fresh, "fresh"))
        saving = saving_of(plan, self._desk.delta)
        return batch_answer(
            plan,
            release,
            saving,
            asked.confidence,
            simultaneous=asked.simultaneous,
            personal=self._desk.personal,
        )

    def preview_batch(
        self,
        questions: "Sequence[str | Question | Frame]",
        *,
        weights: Sequence[Number] | None = None,
        consistent: bool = True,
        other: bool = False,
        **how: Unpack[How],
    ) -> WorkloadPreview:
        """Return what a batch would cost, its errors, and what it saves over asking one by one. Free."""
        asked = self._desk.asking(how)
        plan, gate = batch_plan(self._desk, questions, asked, weights, consistent=consistent, other=other)
        predicted = predict_batch(plan, asked.confidence, simultaneous=asked.simultaneous)
        return WorkloadPreview(
            gate.price(plan), plan, predicted, self._desk.personal, saving_of(plan, self._desk.delta)
        )

    def hierarchy(  # noqa: PLR0913 - each is one thing that is declared or asked for
        self,
        keys: Sequence[str],
        paths: Sequence[Sequence[Value]],
        *,
        table: str | None = None,
        where: str | None = None,
        people: bool = False,
        weights: Sequence[Number] | None = None,
        even: bool = False,
        total: int | None = None,
        fresh: bool = False,
        request: str | None = None,
        **how: Unpack[How],
    ) -> HierarchyAnswer:
        """Return counts at every level of a tree, such as nation → state → county, that add up.

        `keys` are columns from coarse to fine, and `paths` the public list of all leaves, as in ("Ohio", "Adams").
        Rows are counted, or `people`; `where` is a condition in SQL; `total` a number of all that is public.
        `weights` say how much the errors of each level count, from the top down; `even` splits the price evenly.
        """
        tree = Tree(table=table, where=where, people=people, weights=weights, even=even, total=total, **how)
        plan, gate, asked = hierarchy_plan(self._desk, keys, paths, tree)
        release = gate.release(plan, request=request, fresh=flag(fresh, "fresh"))
        result = view_hierarchy(plan, release.answer, asked.confidence, simultaneous=asked.simultaneous)
        return HierarchyAnswer(plan, release, result, self._desk.personal)

    def preview_hierarchy(
        self, keys: Sequence[str], paths: Sequence[Sequence[Value]], **tree: Unpack[Tree]
    ) -> WorkloadPreview:
        """Return what a hierarchy would cost, and the largest error of each level, from the top down. Free."""
        plan, gate, asked = hierarchy_plan(self._desk, keys, paths, tree)
        predicted = predict_hierarchy(plan, asked.confidence, simultaneous=asked.simultaneous)
        return WorkloadPreview(gate.price(plan), plan, tuple((one,) for one in predicted), self._desk.personal)

    def counter(  # noqa: PLR0913 - what a stream is, in one line
        self,
        day: str,
        *,
        start: date,
        steps: int,
        every: str = "day",
        limit: int = 1,
        where: str | None = None,
        table: str | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        request: str | None = None,
    ) -> Counter:
        """Return a count of rows by the date `day` that can be refreshed as days arrive, for one price.

        It runs for `steps` periods (`every` day, week, month, quarter or year) from `start` on. Of each person the
        first `limit` rows count; with 1, people are counted on the day they were first seen. Nothing is paid before
        the first `refresh`, and nothing after it.
        """
        self._desk.need_open()
        name = self._dataset.need_table(table)
        plan = plan_stream(
            self._desk.known[name],
            day=day,
            start=start,
            steps=steps,
            spend=priced(epsilon, rho),
            limit=limit,
            where=self._desk.condition(name, where),
            every=every,
        )
        return Counter(plan, self._desk.gates[name], request)

    def table(self, name: str | None = None) -> Frame:
        """Return the table as a frame, to filter, group and aggregate; its `release` asks this session."""
        self._desk.need_open()
        return self._desk.frame(self._dataset.need_table(name), self)

    def buy_bounds(
        self, column: str, *, epsilon: Number | None = None, rho: Number | None = None, fresh: bool = False
    ) -> Bounds:
        """Return bounds of a column that has none, bought once and known to everybody from then on.

        They are powers of two between which nearly everybody's values lie, found with noise. What was bought before is
        returned for nothing, whatever the price; `fresh` buys anew, and the new bounds are the ones that count.
        """
        self._desk.need_open()
        schema, name = self._dataset.need_boundless(column)
        known = self._desk.known[schema.table].find(name)
        if known is not None and known.bounds is not None and not fresh:
            return known.bounds
        spend = priced(epsilon, rho)
        plan = BoundsPlan(schema, name, spend)
        release = self._desk.gates[schema.table].release(plan, fresh=flag(fresh, "fresh"))
        bounds = usable_bounds(plan, release.answer)
        if bounds is None:
            raise InvalidInput(
                f"The bounds of {name!r} came out beyond what can be counted with: so few people need a higher price.",
                fix="buy again for more, with fresh=True; or declare the bounds",
            )
        self.ledger.annotate(Note(name, release.number, spend).text(), by=self._desk.analyst or "session")
        self._desk.learn()
        return bounds

    def close(self) -> None:
        """Let go of the rows and of the ledger; what was answered stays."""
        self._dataset.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        head = f"Session on {one_line(', '.join(self._desk.known))}, protecting {one_line(self._desk.unit)}"
        who = f" · analyst {one_line(self._desk.analyst)}" if self._desk.analyst else ""
        if self._dataset.closed:
            return f"{head}{who} · closed"
        try:
            lines = standing_lines(self.ledger)
        except DiscreetError as error:
            return f"{head}{who} · {error.problem}"
        return "\n".join([f"{head}{who}", *lines])

    def __reduce__(self) -> str:
        raise WrongType("A session is not copied.", fix="open the table where it is needed")
