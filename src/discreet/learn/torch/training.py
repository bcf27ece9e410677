"""Training as a plan: priced before the first lot, paid in one piece, stored stretch by stretch."""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

from discreet.accounting import Approximate, Guarantee, PrivacyLoss, epsilon, guarantee, loss_to_text
from discreet.core import InvalidInput, Number, WrongType, positive, whole
from discreet.core.canonical_text import canonical_text
from discreet.core.exact import flag
from discreet.core.frozen import settle
from discreet.gate import Gate, Receipt, Release
from discreet.gate.plans import plan_digest
from discreet.learn.payment import need_rows
from discreet.learn.torch.adaptive import AdaptiveClip
from discreet.learn.torch.clipping import PrivateModel, Style
from discreet.learn.torch.examples import Examples, count_examples, form_of
from discreet.learn.torch.identities import function_text, model_text
from discreet.learn.torch.machinery import built, machinery, optimiser_text, step_forward, try_optimiser
from discreet.learn.torch.per_example.passes import Way
from discreet.learn.torch.pricing import Stretch, lots_loss, noise_ratios
from discreet.learn.torch.private_steps import Sums, Terms, grid_steps, train_lot
from discreet.learn.torch.rehearsal import rehearse
from discreet.learn.torch.schedules import Schedule
from discreet.learn.torch.settings import kept_generators
from discreet.learn.torch.states import State, restore, state_of
from discreet.learn.torch.stretches import need_choices, stretches_of
from discreet.noise import Entropy

Bill = Literal["loss", "sentence"]
NOTES = {
    "exact": "Sums are exact integers. An example's own gradient is computed in floats; that these do not depend on "
    "who else is in the batch is tested, and not proved.",
    "float": "Sums are floats: that one example moves them by no more than the bound holds up to rounding, which is "
    "not proved. Train with sums='exact' for a guarantee that does not rest on it.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A model with its guarantee."""

    model: nn.Module = field(repr=False)
    cost: PrivacyLoss = field(repr=False)
    receipt: Receipt = field(repr=False)
    guarantee: Guarantee
    lots: int
    note: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Training:
    """DP-SGD: Poisson lots, clipped gradients, Gaussian noise, any optimiser of torch.optim as post-processing.

    `examples` is a public number, `lot` the mean size of lots; q = lot/examples. Say `epsilon` and `epochs` (or
    `lots`), and the least noise is found; `noise` and `epochs`, and it costs what it costs; `noise` and `epsilon`, and
    training stops when ε is spent. `model` is a module, or a function that makes one; `loss(outputs, targets)` gives
    one number for each example; `optimiser` is given the parameters. `one_row_each` says that nobody has more than one
    example, which a ledger asks for that protects persons. `example` is a made-up example (or a function that makes
    one), which datasets other than tensors need; `collate` makes a batch (inputs, …, targets) of a list of examples.

    Guarantee: for one example that is added or removed, all stored states together cost `cost`. With sums="float" this
    holds up to the rounding of floats.
    Reference: Abadi and others 2016, Algorithm 1; the parts cite their own.
    """

    model: nn.Module | Callable[[], nn.Module] = field(repr=False)
    loss: Callable[..., Tensor] = field(repr=False)
    optimiser: Callable[[Any], Any] = field(repr=False)
    examples: int
    lot: int
    clip: "Schedule | AdaptiveClip | tuple[Schedule, ...]" = 1
    delta: Number
    epsilon: Number | None = None
    epochs: int | None = None
    lots: int | None = None
    noise: Schedule | None = None
    sums: Sums = "exact"
    style: Style = "clip"
    groups: Sequence[Sequence[str]] | None = field(default=None, repr=False)
    group_noise: Sequence[Number] | None = None
    rates: Callable[[Any], Any] | None = field(default=None, repr=False)
    example: Any = field(default=None, repr=False)
    collate: Callable[[list[Any]], Any] | None = field(default=None, repr=False)
    batch: int = 256
    steps_per_bound: int | None = None
    stretch: int | None = None
    sampling: str = "poisson"
    bill: Bill = "loss"
    one_row_each: bool = False
    seed: int = 0
    network: nn.Module = field(init=False, repr=False)
    stretches: tuple[Stretch, ...] = field(init=False, repr=False)
    terms: Terms = field(init=False, repr=False)

    def __post_init__(self) -> None:
        need_choices(self)
        lot = whole(self.lot, "lot", most=whole(self.examples, "examples"))
        settle(self, network=built(self.model, whole(self.seed, "seed", least=0)))
        private = PrivateModel(copy.deepcopy(self.network), groups=self.groups)
        kinds = len(private.groups)
        dimension = sum(parameter.numel() for _, parameter in private.parameters)
        weights = (1,) * kinds if self.group_noise is None else tuple(self.group_noise)
        if len(weights) != kinds:
            raise InvalidInput("group_noise is not one number for each group.", fix=f"list {kinds} numbers")
        steps = (
            grid_steps(dimension) if self.steps_per_bound is None else whole(self.steps_per_bound, "steps_per_bound")
        )
        adaptive = self.clip if isinstance(self.clip, AdaptiveClip) else None
        terms = Terms(
            rate=Fraction(lot, self.examples),
            lot=lot,
            batch=whole(self.batch, "batch"),
            steps=steps,
            ratios=noise_ratios([positive(one, "group_noise") for one in weights]),
            style=self.style,
            sums=self.sums,
            adaptive=adaptive,
        )
        settle(self, terms=terms)
        settle(self, stretches=stretches_of(self, kinds))
        if adaptive is not None:  # or counts that cannot be paid for would be found out after the payment
            adaptive.gradient_noise(max(one.noise for one in self.stretches), lot, kinds)
        try_optimiser(self)

    @property
    def steps(self) -> int:
        """How many stretches of lots there are; the state after each is stored."""
        return len(self.stretches)

    @property
    def cost(self) -> PrivacyLoss:
        """What all lots cost together; known before the first."""
        loss = self.loss_after(self.steps)
        if self.bill == "loss":
            return loss
        return Approximate(Fraction(epsilon(loss, self.delta)), self.delta)

    def loss_after(self, stretches: int) -> PrivacyLoss:
        """Return what the first stretches cost."""
        done = self.stretches[: whole(stretches, "stretches", most=self.steps)]
        return lots_loss(self.terms.rate, [(one.noise, one.lots) for one in done])

    def epsilon_after(self, stretches: int) -> float:
        """Return the ε at δ that the first stretches cost: ε so far. What was paid is that of all."""
        return epsilon(self.loss_after(stretches), self.delta) if stretches else 0.0

    @property
    def guarantee(self) -> Guarantee:
        """The sentence that the whole training implies."""
        return guarantee(self.loss_after(self.steps), self.delta)

    def describe(self) -> str:
        """Return what is trained, in words."""
        total = sum(one.lots for one in self.stretches)
        return (
            f"training of {type(self.network).__name__}: {total} Poisson lots of {self.lot} in {self.examples} "
            f"examples, {self.sums} sums, {self.guarantee}"
        )

    def canonical(self) -> str:
        """Return all that decides how states are distributed."""
        parts = [
            "training",
            model_text(self.network),
            function_text(self.loss),
            optimiser_text(self),
            canonical_text((self.examples, self.terms, self.stretches, self.groups, self.seed)),
            loss_to_text(self.cost),
        ]
        if self.collate is not None:
            parts.append(f"collate {function_text(self.collate)}")
        return "\n".join(parts)

    def run_step(self, data: Any, entropy: Entropy, step: int, before: Sequence[State], /) -> State:
        """Train for one stretch of lots, from the last stored state on."""
        model, optimiser, rates = machinery(self)
        stretch, bounds, done = self.stretches[step], self.stretches[step].bounds, 0
        if step:
            last = before[step - 1]
            restore(last, model, optimiser, rates)
            done, bounds = last["lots"], tuple(last["bounds"]) if self.terms.adaptive else bounds
        private = PrivateModel(model, groups=self.groups)
        form = self._rehearsed(private, data)
        read, count = partial(self._reader.take, data, form=form), count_examples(data)
        with kept_generators():
            for _ in range(stretch.lots):
                bounds = train_lot(
                    private,
                    self.loss,
                    read,
                    count,
                    terms=self.terms,
                    bounds=bounds,
                    noise=stretch.noise,
                    entropy=entropy,
                )
                step_forward(optimiser, rates)
        return state_of(model, optimiser, rates, bounds, done + stretch.lots)

    def check(self, data: Any, /) -> None:
        """Refuse, before anything is paid, data that the model cannot be trained on: by a rehearsal.

        Made-up examples of the data's form take the place of the data, of which nothing is read: only its type, and of
        tensors the kinds of numbers and the shapes without the first axis. A gate calls it before a payment.

        Raises:
            DiscreetError: in full words, if the data has no known form or the rehearsal fails.

        """
        self._rehearsed(PrivateModel(copy.deepcopy(self.network), groups=self.groups), data)

    def rehearse(self, data: Any) -> None:
        """Do all but the noise, on examples that you make up: what would fail after the payment fails now, for nothing.

        The gate does the same by itself, on examples that are drawn (see `check`).
        """
        private = PrivateModel(copy.deepcopy(self.network), groups=self.groups)
        form = form_of(self._reader.make_up(data, 1, self.seed))
        count = count_examples(data)
        if not count:
            raise InvalidInput("There are no examples.", fix="make some up, in the form of the data to train on")
        drawn = torch.randint(count, (2, self.batch), generator=torch.Generator().manual_seed(self.seed)).numpy()
        batches = [self._reader.take(data, places, form) for places in drawn]
        rehearse(private, self.loss, batches[0], batches[1], self.terms, self.stretches[0].bounds)

    def ways(self, data: Any) -> dict[str, Way]:
        """Return how each parameter's gradients are found on data of this form, by a rehearsal on made-up examples.

        "batched rule" is one backward pass of a whole batch, "vmap" and "one by one" are passes in which every example
        is alone. It is told by code and shapes; nothing of the data is read.
        """
        private = PrivateModel(copy.deepcopy(self.network), groups=self.groups)
        self._rehearsed(private, data)
        return private.ways()

    def _rehearsed(self, private: PrivateModel, data: Any) -> object:
        """Rehearse on made-up examples of the data's form, and return the form; nothing of the data is read."""
        first, second = (self._reader.make_up(data, self.batch, self.seed + which) for which in range(2))
        if form_of(first) != form_of(second):
            raise InvalidInput(
                "Made-up examples differ in shape or in kind.",
                fix="give all examples one shape: pad to a public length in the dataset, or in collate=",
            )
        rehearse(private, self.loss, first, second, self.terms, self.stretches[0].bounds)
        return form_of(first)

    @property
    def _reader(self) -> Examples:
        return Examples(example=self.example, collate=self.collate)

    def fit(
        self, gate: Gate[Any], *, request: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Trained:
        """Pay, train, and return the model; asked again, go on after the last stored state, at no further cost.

        Without a request, it is the plan's own, so that the same training is paid for once; a second model of it needs
        a request of its own, and is paid for. `progress` is told how many stretches are done, of how many.
        """
        if not isinstance(gate, Gate):
            raise WrongType("Training is paid through a Gate.", fix="pass Gate(ledger, (inputs, targets))")
        need_rows(gate.ledger, one_row_each=flag(self.one_row_each, "one_row_each"))
        name = f"training {plan_digest(self)[:32]}" if request is None else request
        for step in range(self.steps):
            release = gate.advance(self, step, request=name)
            if progress is not None:
                progress(step + 1, self.steps)
        return self.trained(release)

    def trained(self, release: Release) -> Trained:
        """Return the model of a release, with what it cost."""
        return Trained(
            model=self.model_of(release.answer),
            cost=release.cost,
            receipt=release.receipt,
            guarantee=self.guarantee,
            lots=release.answer["lots"],
            note=NOTES[self.sums],
        )

    def model_of(self, state: State) -> nn.Module:
        """Return the model of a stored state, ready for use."""
        model = copy.deepcopy(self.network)
        restore(state, model)
        return model.eval()
