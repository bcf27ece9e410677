"""The analyst's context behind a session: schemas, the gate, and how a question becomes a plan."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import cast

from discreet.accounting import PrivacyLoss
from discreet.algebra.expressions import Expression
from discreet.algebra.relations import scans_in
from discreet.core import Finished, InvalidInput, Limit, OutOfRange, PrivacyUnit, WrongType
from discreet.core.errors import kind_of
from discreet.core.limits import Matches
from discreet.core.schema import Schema, Value
from discreet.data import measure_sql
from discreet.gate import Budget, Gate, Ledger, PersonalAccount, cost_words, need_label
from discreet.query import (
    Asker,
    Epsilon,
    Frame,
    PlanningContext,
    PublicQuestion,
    QueryPlan,
    Question,
    Result,
    Rho,
    Within,
    WrittenOption,
    answer_public_question,
    build_constant_row,
    count,
    find_constants,
    find_limit,
    find_public_answer,
    find_public_question,
    plan_limits,
    plan_question,
    question_forms,
    questions_in,
    read_bought_limit,
    read_number,
    read_sql,
    split_privacy_options,
)
from discreet.session.datasets import Dataset, DescribedTables
from discreet.session.options import CheckedOptions, QuestionOptions, need_matches, need_options
from discreet.session.written_options import check_person, check_strategy, check_written_options, merge_options

#: The part of the budget for which limits are bought before an accuracy is promised, where none were given.
LIMITS_PRICE = Fraction(1, 100)
#: Texts whose questions are kept: one is often previewed, asked and asked again at another price.
MOST_READ = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedQuestion:
    """A question with its options and its plan, ready for the gate."""

    question: Question
    facts: PlanningContext
    options: CheckedOptions
    plan: QueryPlan


class QuestionContext:
    """Reads and plans questions by public facts: the schemas that one analyst knows, and the terms of the budget."""

    def __init__(self, dataset: DescribedTables, known: dict[str, Schema], budget: Budget, analyst: str) -> None:
        self.dataset = dataset
        self.known = known
        self.budget = budget
        self.analyst = need_label(analyst, "analyst", empty=True)
        self._read = dataset.read_by(self.analyst)

    @property
    def unit(self) -> PrivacyUnit:
        """The privacy unit."""
        return next(iter(self.known.values())).unit

    @property
    def delta(self) -> Fraction:
        """The δ at which guarantees are compared: the budget's, or one in a million."""
        return self.budget.delta or Fraction(1, 10**6)

    @property
    def personal(self) -> bool:
        """Whether each person has an account."""
        return self.budget.personal

    def need_open(self) -> None:
        """Refuse to go on where all is closed."""
        if self.dataset.closed:
            raise Finished("The session is closed.", fix="open the table again; earlier answers are in its ledger")

    def check(self, raw_options: QuestionOptions, kind: type = QuestionOptions) -> CheckedOptions:
        """Return the options of a question, checked; the session must be open."""
        self.need_open()
        return need_options(raw_options, kind=kind, in_rho=self.budget.epsilon is None)

    def plan(
        self,
        query: "str | Question | Frame",
        raw_options: QuestionOptions,
        resolve: Callable[[Question, CheckedOptions], PlanningContext],
        kind: type = QuestionOptions,
    ) -> PreparedQuestion:
        """Return a question with its plan, as it was written; `resolve` finds the limit that an accuracy needs."""
        text, in_text = self.split(query)
        options = self.check(merge_options(in_text, raw_options, self.dataset.limit, self.unit), kind)
        question = self.question(text, options)
        self._check_person(in_text, question)
        facts = resolve(question, options)
        plan = plan_question(question, facts, options.spend, bias=options.bias)
        check_strategy(in_text, public=plan.public)
        return PreparedQuestion(question=question, facts=facts, options=options, plan=plan)

    def list_forms(self, asked: PreparedQuestion) -> list[PreparedQuestion]:
        """Return a question in all forms that it may have been paid for in, oldest first; the last is the normal one.

        The ledger shows the question as it was written.
        """
        options, forms = asked.options, [asked]
        for form in question_forms(asked.question, self.known)[1:]:
            with suppress(OutOfRange):  # a normal form may be longer than what was written, and too long
                plan = plan_question(form, asked.facts, options.spend, bias=options.bias)
                forms.append(replace(asked, question=form, plan=replace(plan, what=asked.plan.what)))
        return forms

    def question(self, query: "str | Question | Frame", options: CheckedOptions) -> Question:
        """Return the question, as a value."""
        match query:
            case Question():
                return query
            case Frame():
                return query.question
            case _:
                return self.read(self.need_text(query), options.matches)

    def split(self, query: "str | Question | Frame") -> "tuple[str | Question | Frame, dict[str, WrittenOption]]":
        """Return a question without the options that its text has in BigQuery's syntax, and the options, checked."""
        if isinstance(query, Question | Frame):
            return query, {}
        text, written = split_privacy_options(self.need_text(query))
        check_written_options(written, {self.budget.delta, self.dataset.delta})
        return text, written

    def _check_person(self, written: dict[str, WrittenOption], question: Question) -> None:
        """Refuse a privacy unit in the text that is not the declared one."""
        if written:
            asked = questions_in(question)
            scans = [scan for one in asked if one.source is not None for scan in scans_in(one.source)]
            names = {*(one.table for one in asked), *(scan.table for scan in scans)}
            check_person(written, [schema for name, schema in self.known.items() if name in names])

    def find_public(self, query: "str | Question | Frame", raw_options: QuestionOptions) -> "Question | Frame | Result":
        """Return the question; or its answer, if that follows from the question and public tables.

        Questions that were put together by hand are left to the planner, which checks what they are made of.
        """
        self.need_open()
        if isinstance(query, Question | Frame):
            return query
        text, _ = self.split(query)
        constants = find_constants(self.need_text(text))
        if constants is not None:
            return build_constant_row(constants)
        public = self.find_public_question(query)
        if public is not None:
            return self.answer_public(public)
        question = self.read(self.need_text(text), need_matches(raw_options.get("matches")))
        answer = find_public_answer(question)
        return question if answer is None else answer

    def find_public_question(self, query: "str | Question | Frame") -> PublicQuestion | None:
        """Return a question about public tables alone; None if it is about any other."""
        self.need_open()
        if isinstance(query, Question | Frame):
            return None
        text, _ = self.split(query)
        return find_public_question(self.need_text(text), self.known, self.dataset.public_scans, self.dataset.paths)

    def answer_public(self, question: PublicQuestion) -> Result:
        """Return the exact answer to a question about public tables alone."""
        return answer_public_question(question, self.dataset.publics)

    def _read_public_values(self, question: PublicQuestion) -> Sequence[Value]:
        """Return the values of a question about public tables with one column."""
        return self.answer_public(question).columns[0].values

    def read(self, text: str, matches: Matches | None = None) -> Question:
        """Return the question that a text asks; what was read lately is not read again."""
        known = tuple(self.known.values())
        schemas, question = self._read.get((text, matches), ((), None))
        if question is None or schemas != known:  # questions hold bounds, which may have been bought meanwhile
            question = read_sql(
                text, self.known, self.dataset.public_scans, matches, self.dataset.paths, self._read_public_values
            )
            if len(self._read) >= MOST_READ:
                self._read.clear()
            self._read[text, matches] = known, question
        return question

    def need_text(self, text: object) -> str:
        """Refuse a value that is not a text."""
        if not isinstance(text, str):
            raise WrongType(
                f"The question is {kind_of(text)}, not SQL.",
                fix=f'pass a text: "SELECT COUNT(*) FROM {next(iter(self.known))}"',  # noqa: S608 - to be read
            )
        return text

    def frame(self, name: str, asker: object) -> Frame:
        """Return a table as a frame."""
        return Frame(
            schema=self.known[name],
            asker=cast("Asker", asker),
            schemas=tuple(self.known.values()),
            publics=tuple(self.dataset.public_scans.values()),
        )

    def condition(self, name: str, where: str | None) -> Expression | None:
        """Return a condition in SQL about the rows of a table."""
        if where is None:
            return None
        return self.frame(name, None).filter(where).agg(n=count()).question.where

    def facts(self, question: Question, options: CheckedOptions) -> PlanningContext:
        """Return the facts that a planner needs."""
        if options.limit is not None and self.unit.column is None:
            raise InvalidInput(
                "With row=True every unit has exactly one row, so there is nothing to limit.", fix="leave out limit"
            )
        limit = self.dataset.limit if options.limit is None else options.limit
        known = self.known.get(question.table, next(iter(self.known.values())))
        return PlanningContext(
            schema=known,
            schemas=tuple(self.known.values()),
            publics=tuple(self.dataset.publics.values()),
            limit=limit,
            delta=self.dataset.delta,
            measure_sql=measure_sql,
            read_number=read_number,
        )


class AnalystContext(QuestionContext):
    """Per-analyst state behind a session: the schemas that this analyst knows, and the gate to all tables."""

    dataset: Dataset

    def __init__(self, dataset: Dataset, analyst: str, team: str = "") -> None:
        super().__init__(dataset, dataset.find_schemas(analyst, team), dataset.ledger.budget, analyst)
        self.team = need_label(team, "team", empty=True)
        self.gate = Gate(dataset.ledger, dataset.tables, analyst=analyst, team=team, pacer=dataset.pacer)

    def learn(self) -> None:
        """Look up again which bounds were bought."""
        self.known = self.dataset.find_schemas(self.analyst, self.team)

    @property
    def ledger(self) -> Ledger:
        """The ledger that keeps the account."""
        return self.dataset.ledger

    def is_dear(self, cost: PrivacyLoss) -> bool:
        """Tell whether a question may cost a person more than an account holds."""
        account = self.ledger.state.account
        return isinstance(account, PersonalAccount) and account.is_dear(cost)

    def prepare(
        self,
        query: "str | Question | Frame",
        raw_options: QuestionOptions,
        kind: type = QuestionOptions,
        *,
        buy: bool = False,
        written: bool = False,
    ) -> PreparedQuestion:
        """Return a question with its plan, in the form that it was paid for in, or else in its normal form.

        If `buy`, a contribution bound that an accuracy needs is bought first. If `written`, it stays as it was written.
        """
        asked = self.plan(query, raw_options, partial(self.resolve_limit, buy=buy), kind)
        return asked if written else self._choose_form(asked)

    def _choose_form(self, asked: PreparedQuestion) -> PreparedQuestion:
        """Return a question in the form that it was paid for in, or else in its normal form."""
        options, forms = asked.options, self.list_forms(asked)
        if len(forms) == 1:
            return asked
        plan = self.gate.choose_plan([form.plan for form in forms], request=options.request, fresh=options.fresh)
        return next(form for form in forms if form.plan is plan)

    def resolve_limit(self, question: Question, options: CheckedOptions, *, buy: bool = False) -> PlanningContext:
        """Return facts with the limit that an accuracy needs: bought before, or bought now, if that is wanted."""
        facts = self.facts(question, options)
        if not isinstance(options.spend, Within) or find_limit(question, facts) is not None:
            return facts
        price = self.ledger.budget.limit * LIMITS_PRICE
        spend = Rho(price) if options.spend.rho else Epsilon(price)
        plans = [plan_limits(question, facts, spend)]
        for form in question_forms(question, self.known)[1:]:
            with suppress(OutOfRange):
                plans.append(plan_limits(form, facts, spend))
        plan = self.gate.choose_plan(plans)
        if self.gate.price(plan).stored is None:
            # A question that is refused under the smallest limit is refused under any: before the limit is paid for.
            plan_question(question, replace(facts, limit=Limit()), options.spend, bias=options.bias)
            if not buy:
                raise InvalidInput(
                    "The error cannot be predicted before the contribution bound is known. Asking buys one first, "
                    f"once, for {cost_words(plan.cost)}.",
                    fix="pass limit=Limit(groups=…, rows_per_group=…), here or when the dataset is opened; or ask "
                    "with epsilon",
                )
        return replace(facts, limit=read_bought_limit(self.gate.release(plan).answer))
