"""Previews: cost and predicted errors of a question. Free; no row is read."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting import Composed, PrivacyLoss
from discreet.core import Number
from discreet.core.exact import text_down
from discreet.gate import Budget, Price, one_line
from discreet.query import Epsilon, Predicted, QueryPlan, Result, Rho, predict
from discreet.session.answers.answer import percent, price_words
from discreet.session.answers.cells import TextColumn, html_lines, html_table, text_table
from discreet.session.context import AnalystContext, PreparedQuestion

#: Columns of an answer that are listed.
MOST = 40
#: The note for personal accounts.
WHO_PAYS = "each participant is charged for their own contribution, at most this"

#: Said of questions about public tables, or about none.
EXACT = "the answer is exact, from public rows alone"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Preview:
    """The cost, the predicted errors, and the rest of the budget. Nothing was paid."""

    price: Price
    #: None if the answer follows from the question and public tables, and costs nothing.
    plan: QueryPlan | None
    predicted: tuple[Predicted, ...]
    confidence: Number
    simultaneous: bool
    #: ε or ρ: what the ledger counts.
    symbol: str
    #: The release that answers this already, if there is one.
    release: int | None
    #: Whether each person has an account: then the rest is shown to no analyst.
    personal: bool = False
    #: Whether it may cost a person more than an account holds.
    dear: bool = False

    @property
    def spend(self) -> Epsilon | Rho | None:
        """The price, in the currency asked for; found, if an accuracy was asked for. None if nothing is paid."""
        return None if self.plan is None else self.plan.spend

    @property
    def what(self) -> str:
        """The question, in words."""
        return self.price.what

    @property
    def cost(self) -> PrivacyLoss:
        """The cost."""
        return self.price.cost

    @property
    def left(self) -> Fraction:
        """The ε or ρ that is left now."""
        return self.price.left

    @property
    def fits(self) -> bool:
        """Whether it could be paid for."""
        return self.price.fits

    @property
    def stored(self) -> int | None:
        """The payment whose answer is handed out for nothing, if there is one."""
        return self.price.stored

    @property
    def free(self) -> bool:
        """Whether asking costs nothing: this was answered before, or is about public tables alone."""
        return self.plan is None or self.price.stored is not None

    def error(self, name: str) -> float | None:
        """Return the predicted error of one column; None if it depends on the data."""
        return next((prediction.error for prediction in self.predicted if prediction.name == name), None)

    def lines(self) -> list[str]:
        """Return the text for a terminal."""
        return [f"Preview of {one_line(self.what)}", *text_table(self._cells(), MOST), *self._costs()]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return f"<div>{html_table(self._cells(), MOST)}{html_lines([*self._costs(), one_line(self.what)])}</div>"

    def _cells(self) -> list[TextColumn]:
        return [
            TextColumn("column", [one_line(prediction.name) for prediction in self.predicted]),
            TextColumn("error", [one_line(prediction.words) for prediction in self.predicted]),
        ]

    def _costs(self) -> list[str]:
        if self.plan is None:
            return [f"cost nothing: {EXACT}"]
        how = "all cells at once" if self.simultaneous else "per cell"
        return [f"± at {percent(self.confidence)} confidence, {how}", f"cost {price_words(self.plan)}: {self._fate()}"]

    def _fate(self) -> str:
        if self.free:
            return f"free: release #{self.release} answers this already"
        if self.personal and self.dear:
            fits = "fits" if self.fits else "does not fit"
            return f"{fits}, but it may exceed a person's account: people who contribute much are left out"
        if self.personal:
            return f"{'fits' if self.fits else 'does not fit'}; {WHO_PAYS}"
        left = f"{self.symbol} = {text_down(self.left)} is left"
        if self.price.then is None:
            return f"does not fit, {left}"
        # In another currency than the budget's, what is left is all that tells what it takes.
        own = isinstance(self.spend, Rho) == (self.symbol == "ρ")
        return f"fits, {left}" if own else f"fits, {left}, and {text_down(self.price.then)} afterwards"


def preview_question(context: AnalystContext, ready: PreparedQuestion) -> Preview:
    """Return the cost of a question and its predicted errors."""
    price = context.gate.price(ready.plan)
    return build_preview(
        ready,
        price,
        context.ledger.budget,
        release=None if price.stored is None else context.ledger.release_of(price.stored),
        dear=context.is_dear(price.cost),
    )


def build_preview(ready: PreparedQuestion, price: Price, budget: Budget, *, release: int | None, dear: bool) -> Preview:
    """Return the preview of a question whose price is known."""
    options = ready.options
    return Preview(
        price=price,
        plan=ready.plan,
        predicted=predict(
            ready.question,
            ready.plan,
            confidence=options.confidence,
            simultaneous=options.simultaneous,
            size=options.size,
        ),
        confidence=options.confidence,
        simultaneous=options.simultaneous,
        symbol=budget.symbol,
        release=release,
        personal=budget.personal,
        dear=dear,
    )


def preview_public_answer(answer: Result, budget: Budget, left: Fraction) -> Preview:
    """Return that an answer which follows from the question and public tables costs nothing, and is exact."""
    names = [column.name for column in answer.columns]
    return Preview(
        price=Price(
            what=f"{', '.join(names)}, of public rows alone",
            cost=Composed(()),
            delta=budget.delta,
            left=left,
            then=left,
            stored=None,
        ),
        plan=None,
        predicted=tuple(Predicted(name, 0.0, "exact") for name in names),
        confidence=Fraction(1),
        simultaneous=True,
        symbol=budget.symbol,
        release=None,
        personal=budget.personal,
    )
