"""Workloads of a session: batches of questions, hierarchies of counts, and counters that run as days arrive."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Unpack

from discreet.core import Number
from discreet.core.schema import Value
from discreet.gate import Gate
from discreet.query import Frame, Question, plan_stream, predict_batch, predict_hierarchy, saving_of, view_hierarchy
from discreet.session.context import AnalystContext
from discreet.session.counters import Counter
from discreet.session.options import QuestionOptions, ReleaseOptions, list_options, read_price
from discreet.session.workloads import (
    BatchAnswer,
    HierarchyAnswer,
    HierarchyOptions,
    TreeOptions,
    WorkloadPreview,
    batch_answer,
    batch_plan,
    hierarchy_plan,
)


class WorkloadSession:
    """The part of a session that asks many questions at once, for one price."""

    _context: AnalystContext
    _gate: Gate[Any]

    @list_options(ReleaseOptions)
    def batch(
        self,
        questions: "Sequence[str | Question | Frame]",
        *,
        weights: Sequence[Number] | None = None,
        consistent: bool = True,
        other: bool = False,
        **options: Unpack[ReleaseOptions],
    ) -> BatchAnswer:
        """Return the answers to several questions, for one price: measurements that they share are made once.

        Args:
            questions: The questions: SQL, frames, or questions as values.
            weights: How much the error of each question counts; alike, if left out.
            consistent: Whether counts and sums over public groups add up: see the page on workloads.
            other: Whether to buy the totals of the groups that are not shown, where groups are private.
            options: The options of `sql`; the price is `epsilon` or `rho`, for all questions together.

        Returns:
            The answers, in the order of the questions.

        Raises:
            QueryRefused: A question cannot be answered privately; the error names a fix.
            BudgetExceeded: The price does not fit into the remaining budget. Nothing was paid.
            InvalidInput: No contribution bound is declared, or an option does not fit.

        Example:
            >>> questions = ["SELECT COUNT(*) FROM visits", "SELECT ward, COUNT(*) FROM visits GROUP BY ward"]
            >>> answers = clinic.batch(questions, epsilon=0.5, limit=discreet.Limit(groups=2))
            >>> len(answers)
            2

        """
        checked = self._context.check(options, ReleaseOptions)
        plan = batch_plan(self._context, questions, checked, weights, consistent=consistent, other=other)
        release = self._gate.release(plan, request=checked.request, fresh=checked.fresh)
        saving = saving_of(plan, self._context.delta)
        return batch_answer(
            plan,
            release,
            saving,
            checked.confidence,
            simultaneous=checked.simultaneous,
            personal=self._context.personal,
        )

    @list_options(QuestionOptions)
    def preview_batch(
        self,
        questions: "Sequence[str | Question | Frame]",
        *,
        weights: Sequence[Number] | None = None,
        consistent: bool = True,
        other: bool = False,
        **options: Unpack[QuestionOptions],
    ) -> WorkloadPreview:
        """Return the cost of a batch, its predicted errors, and its saving over single questions. Free; no row is read.

        Args:
            questions: The questions: SQL, frames, or questions as values.
            weights: How much the error of each question counts; alike, if left out.
            consistent: Whether counts and sums over public groups add up.
            other: Whether to buy the totals of the groups that are not shown, where groups are private.
            options: The options of `sql`, without `fresh` and `request`.

        Returns:
            The preview.

        Raises:
            QueryRefused: A question cannot be answered privately; the error names a fix.
            InvalidInput: No contribution bound is declared, or an option does not fit.

        Example:
            >>> clinic.preview_batch(["SELECT COUNT(*) FROM visits"], epsilon=0.5, limit=discreet.Limit()).price.fits
            True

        """
        checked = self._context.check(options)
        plan = batch_plan(self._context, questions, checked, weights, consistent=consistent, other=other)
        predicted = predict_batch(plan, checked.confidence, simultaneous=checked.simultaneous)
        price, saving = self._gate.price(plan), saving_of(plan, self._context.delta)
        return WorkloadPreview(price, plan, predicted, self._context.personal, saving)

    @list_options(HierarchyOptions)
    def hierarchy(
        self, keys: Sequence[str], paths: Sequence[Sequence[Value]], **options: Unpack[HierarchyOptions]
    ) -> HierarchyAnswer:
        """Return counts at every level of a tree, such as nation → state → county, that add up.

        Args:
            keys: The columns, from coarse to fine.
            paths: The public list of all leaves, such as `[("Ohio", "Adams"), …]`.
            options: The options of `sql`, and:

                * `table`: The table, where there are several.
                * `where`: A condition in SQL for the rows that count.
                * `people`: Whether to count people, and not rows.
                * `weights`: How much the errors of each level count, from the top down.
                * `even`: Whether to split the price evenly over the levels.
                * `total`: The number of all, if it is public.

        Returns:
            The counts of each level, with error bars.

        Raises:
            BudgetExceeded: The price does not fit into the remaining budget. Nothing was paid.
            InvalidInput: The paths do not fit the keys, or an option does not fit.

        Example:
            >>> counts = clinic.hierarchy(["ward"], [("A",), ("B",)], people=True, epsilon=0.5, limit=discreet.Limit())
            >>> counts.release.fresh
            True

        """
        plan, checked = hierarchy_plan(self._context, keys, paths, options, HierarchyOptions)
        release = self._gate.release(plan, request=checked.request, fresh=checked.fresh)
        result = view_hierarchy(plan, release.answer, checked.confidence, simultaneous=checked.simultaneous)
        return HierarchyAnswer(plan, release, result, self._context.personal)

    @list_options(TreeOptions)
    def preview_hierarchy(
        self, keys: Sequence[str], paths: Sequence[Sequence[Value]], **options: Unpack[TreeOptions]
    ) -> WorkloadPreview:
        """Return the cost of a hierarchy, and the largest error of each level, from the top down. Free; no row is read.

        Args:
            keys: The columns, from coarse to fine.
            paths: The public list of all leaves, such as `[("Ohio", "Adams"), …]`.
            options: The options of `hierarchy`, without `fresh` and `request`.

        Returns:
            The preview.

        Raises:
            InvalidInput: The paths do not fit the keys, or an option does not fit.

        Example:
            >>> tree = {"keys": ["ward"], "paths": [("A",), ("B",)], "limit": discreet.Limit()}
            >>> clinic.preview_hierarchy(**tree, epsilon=0.5).price.fits
            True

        """
        plan, checked = hierarchy_plan(self._context, keys, paths, options, TreeOptions)
        predicted = predict_hierarchy(plan, checked.confidence, simultaneous=checked.simultaneous)
        levels = tuple((level,) for level in predicted)
        return WorkloadPreview(self._gate.price(plan), plan, levels, self._context.personal)

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
        """Return a count of rows that can be refreshed as days arrive, for one price (continual counting).

        Nothing is paid before the first `refresh`, and nothing after it.

        Args:
            day: The column of dates.
            start: The first day.
            steps: The number of periods that the counter runs for.
            every: The period: "day", "week", "month", "quarter" or "year".
            limit: The number of rows of one person that count, the first ones; with 1, people are counted on the day
                when they were first seen.
            where: A condition in SQL for the rows that count.
            table: The table, where there are several.
            epsilon: The price in ε; or `rho`.
            rho: The price in ρ of zero-concentrated differential privacy.
            request: An id of your own, with which it is safe to retry after any failure.

        Returns:
            The counter.

        Raises:
            InvalidInput: The column has no dates, or a number does not fit.

        Example:
            >>> from datetime import date
            >>> arrivals = clinic.counter("day", start=date(2024, 1, 1), steps=31, epsilon=0.5)
            >>> arrivals.plan.steps
            31

        """
        self._context.need_open()
        name = self._context.dataset.need_table(table)
        plan = plan_stream(
            self._context.known[name],
            day=day,
            start=start,
            steps=steps,
            spend=read_price(epsilon, rho),
            limit=limit,
            where=self._context.condition(name, where),
            every=every,
        )
        return Counter(plan, self._gate, request)
