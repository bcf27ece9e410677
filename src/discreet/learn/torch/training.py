"""DP-SGD training as a plan: priced before the first iteration, paid once, stored checkpoint by checkpoint."""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn

from discreet.accounting import Approximate, Guarantee, PrivacyLoss, epsilon, guarantee, loss_to_text
from discreet.core import InvalidInput, Number, WrongType, positive, probability, whole
from discreet.core.canonical_text import canonical_text, settle
from discreet.core.exact import flag
from discreet.gate import Gate, Receipt, Release, plan_digest
from discreet.learn.payment import need_rows
from discreet.learn.torch.clipping import PrivateModel, Style
from discreet.learn.torch.dpsgd import default_grid_steps, take_private_step
from discreet.learn.torch.examples import Examples, count_examples, form_of
from discreet.learn.torch.global_settings import keep_generators
from discreet.learn.torch.per_example.passes import GradientMethod
from discreet.learn.torch.rehearsal import Optimisation, build_network, rehearse, take_optimiser_step
from discreet.learn.torch.schedules import (
    AdaptiveClip,
    ClipSchedule,
    Schedule,
    Segment,
    clipping_bounds,
    schedule_values,
    split_iterations,
)
from discreet.learn.torch.states import ITERATIONS, State, capture_state, function_text, model_text, restore_state
from discreet.learn.torch.step_settings import (
    StepSettings,
    Sums,
    calibrate_noise,
    compose_loss,
    most_iterations,
    share_noise,
)
from discreet.noise import Entropy

Bill = Literal["loss", "sentence"]
NOTES = {
    "exact": "Sums are exact integers. Per-example gradients are computed in floats; that they do not depend on the "
    "other examples of the batch is tested, not proved.",
    "float": "Sums are floats: the bound on one example's contribution holds up to rounding, which is not proved. "
    "Train with sums='exact' for a guarantee that does not depend on rounding.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A trained model with its cost and its guarantee.

    Args:
        model: the trained module, in evaluation mode.
        cost: the privacy loss that was paid.
        receipt: the ledger's receipt for the payment.
        guarantee: the (ε, δ) guarantee of the whole training.
        iterations: the number of iterations that were run.
        note: what the guarantee rests on, in words.

    """

    model: nn.Module = field(repr=False)
    cost: PrivacyLoss = field(repr=False)
    receipt: Receipt = field(repr=False)
    guarantee: Guarantee
    iterations: int
    note: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Training:
    """DP-SGD: Poisson-sampled batches, clipped per-example gradients, Gaussian noise, and any optimiser of torch.optim.

    Each iteration samples a batch (every example with probability q = batch_size/examples), clips the gradient of each
    example in it, adds Gaussian noise to their sum, and hands the noisy mean to the optimiser. Abadi and others call
    this batch a *lot*, and the part of it that is in memory at a time a *batch*; here these are `batch_size` and
    `microbatch_size`, as in most libraries. The guarantee depends on `batch_size` alone.

    Of `epsilon`, `noise_multiplier` and the length (`epochs` or `iterations`), pass two; the third follows:

    * `epsilon` and a length: the smallest noise that keeps ε is found.
    * `noise_multiplier` and a length: ε follows.
    * `noise_multiplier` and `epsilon`: training stops when ε is spent; the number of iterations is known beforehand.

    Args:
        model: the module to train, or a function that returns one. It is copied, and never changed.
        loss: a function of (outputs, targets) that returns one loss for each example, such as
            `torch.nn.CrossEntropyLoss(reduction="none")`.
        optimiser: a function that takes the parameters and returns an optimiser, such as `torch.optim.Adam`.
        examples: the number of examples, as a public value. It need not be the true number.
        batch_size: the expected number of examples in a batch, at most `examples`.
        clip: the clipping bound: a number, a schedule (a list with one value for each segment, `Linear` or
            `Geometric`), an `AdaptiveClip`, or a tuple with one of these for each of `groups`.
        delta: δ of the guarantee.
        epsilon: ε of the guarantee, for the whole training.
        epochs: the length as expected passes over the examples; one epoch is examples/batch_size iterations.
        iterations: the length as a number of batches, each with one optimiser step.
        noise_multiplier: the standard deviation of the noise in units of the clipping bound; a number or a schedule.
        sums: "exact" adds gradients as integers; "float" adds floats, whose rounding no proof covers.
        style: "clip" scales g by min(1, C/‖g‖); "automatic" scales every gradient, by C/(‖g‖ + 0.01).
        groups: names of parameters in groups that are clipped separately; all in one group if left out.
        group_noise: relative noise of each group; equal if left out. All groups together cost the same in any case.
        lr_scheduler: a function that takes the optimiser and returns a scheduler of torch.optim.lr_scheduler, which
            takes one step after each iteration.
        example: a made-up example, or a function that returns one. Needed for datasets other than tensors.
        collate: a function that turns a list of examples into a batch (inputs, …, targets). It is called with one
            example at a time.
        microbatch_size: the number of examples in one forward and backward pass. It bounds the memory and has no effect
            on the guarantee.
        grid_steps: the number of grid steps in a clipping bound, to which gradients are rounded. It is chosen by the
            number of parameters if left out.
        checkpoint_every: the number of iterations between two checkpoints, at which a state is stored in the ledger;
            one epoch if left out.
        sampling: "poisson", the only sampling that is priced.
        bill: "loss" charges the composed privacy loss, which composes tightly with other releases; "sentence" charges
            the (ε, δ) guarantee.
        one_row_each: declare that each person has at most one example. Ledgers that protect persons require it.
        seed: a public seed for the first weights and for made-up examples. It has no effect on noise or sampling.

    Raises:
        DiscreetError: if a setting is out of range, two settings exclude each other, or the model, the loss or the
            optimiser cannot be used for private training.

    Example:
        >>> import torch
        >>> from discreet.learn.torch import Training
        >>> plan = Training(
        ...     model=torch.nn.Linear(8, 2),
        ...     loss=torch.nn.CrossEntropyLoss(reduction="none"),
        ...     optimiser=torch.optim.Adam,
        ...     examples=2000,
        ...     batch_size=200,
        ...     epochs=4,
        ...     epsilon=2,
        ...     delta=1e-6,
        ... )
        >>> plan.checkpoints, plan.segments[0].iterations, round(float(plan.segments[0].noise_multiplier), 2)
        (4, 10, 1.81)

    Guarantee: for one example that is added or removed, all stored states together cost `cost`. With sums="float" this
    holds up to the rounding of floats.
    Reference: Abadi and others 2016, Algorithm 1; the parts cite their own.

    """

    model: nn.Module | Callable[[], nn.Module] = field(repr=False)
    loss: Callable[..., Tensor] = field(repr=False)
    optimiser: Callable[[Any], Any] = field(repr=False)
    examples: int
    batch_size: int
    clip: ClipSchedule = 1
    delta: Number
    epsilon: Number | None = None
    epochs: int | None = None
    iterations: int | None = None
    noise_multiplier: Schedule | None = None
    sums: Sums = "exact"
    style: Style = "clip"
    groups: Sequence[Sequence[str]] | None = field(default=None, repr=False)
    group_noise: Sequence[Number] | None = None
    lr_scheduler: Callable[[Any], Any] | None = field(default=None, repr=False)
    example: Any = field(default=None, repr=False)
    collate: Callable[[list[Any]], Any] | None = field(default=None, repr=False)
    microbatch_size: int = 256
    grid_steps: int | None = None
    checkpoint_every: int | None = None
    sampling: str = "poisson"
    bill: Bill = "loss"
    one_row_each: bool = False
    seed: int = 0
    network: nn.Module = field(init=False, repr=False)
    segments: tuple[Segment, ...] = field(init=False, repr=False)
    step_settings: StepSettings = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._need_choices()
        batch_size = whole(self.batch_size, "batch_size", most=whole(self.examples, "examples"))
        settle(self, network=build_network(self.model, whole(self.seed, "seed", least=0)))
        private = PrivateModel(copy.deepcopy(self.network), groups=self.groups)
        groups = len(private.groups)
        settle(self, step_settings=self._make_step_settings(batch_size, private))
        settle(self, segments=self._make_segments(groups))
        adaptive = self.step_settings.adaptive
        if adaptive is not None:  # or counts that cannot be paid for would be found after the payment
            most = max(segment.noise_multiplier for segment in self.segments)
            adaptive.gradient_noise(most, batch_size, groups)
        self._optimisation.try_step()

    def _need_choices(self) -> None:
        """Refuse settings that are unknown, too few or too many."""
        if self.sampling != "poisson":
            raise InvalidInput(
                "Only Poisson sampling is priced: shuffled batches have no such amplification.",
                fix="leave sampling out; batches are sampled for you, and microbatch_size may be any size",
            )
        if self.sums not in ("exact", "float") or self.bill not in ("loss", "sentence"):
            raise InvalidInput(
                f"Unknown sums {self.sums!r} or bill {self.bill!r}.",
                fix="pass sums='exact' or 'float', and bill='loss' or 'sentence'",
            )
        if self.style not in ("clip", "automatic"):
            raise InvalidInput(f"Unknown style {self.style!r}.", fix="pass style='clip' or style='automatic'")
        self._need_functions()
        probability(self.delta, "delta")
        if self.epochs is not None and self.iterations is not None:
            raise InvalidInput("Both epochs and iterations are given.", fix="pass one of them")
        settings = (self.epsilon, self.noise_multiplier, self.epochs or self.iterations)
        if sum(setting is not None for setting in settings) != 2:
            raise InvalidInput(
                "Of epsilon, noise_multiplier and epochs (or iterations), two determine the third.",
                fix="pass exactly two, such as epsilon and epochs",
            )

    def _need_functions(self) -> None:
        """Refuse an optimiser that is already made, and a loss that is summed over the examples."""
        if not callable(self.optimiser):
            raise WrongType(
                "optimiser must be a function that takes the parameters and returns an optimiser of torch.optim.",
                fix="pass optimiser=lambda weights: torch.optim.SGD(weights, lr=0.1)",
            )
        if getattr(self.loss, "reduction", "none") != "none":
            raise InvalidInput(
                "The loss is summed or averaged over the examples.",
                fix='pass reduction="none", as in torch.nn.CrossEntropyLoss(reduction="none")',
            )

    def _make_step_settings(self, batch_size: int, private: PrivateModel) -> StepSettings:
        groups = len(private.groups)
        weights = (1,) * groups if self.group_noise is None else tuple(self.group_noise)
        if len(weights) != groups:
            raise InvalidInput("group_noise is not one number for each group.", fix=f"list {groups} numbers")
        if self.grid_steps is None:
            grid_steps = default_grid_steps(sum(parameter.numel() for _, parameter in private.parameters))
        else:
            grid_steps = whole(self.grid_steps, "grid_steps")
        return StepSettings(
            sampling_rate=Fraction(batch_size, self.examples),
            batch_size=batch_size,
            microbatch_size=whole(self.microbatch_size, "microbatch_size"),
            grid_steps=grid_steps,
            noise_ratios=share_noise([positive(weight, "group_noise") for weight in weights]),
            style=self.style,
            sums=self.sums,
            adaptive=self.clip if isinstance(self.clip, AdaptiveClip) else None,
        )

    def _make_segments(self, groups: int) -> tuple[Segment, ...]:
        """Return all iterations, divided into segments, with their bounds and noise."""
        sampling_rate = self.step_settings.sampling_rate
        every = whole(self.checkpoint_every or math.ceil(self.examples / self.batch_size), "checkpoint_every")
        lengths = split_iterations(self._count_iterations(sampling_rate), every)
        noise = 1 if self.noise_multiplier is None else self.noise_multiplier
        noises = schedule_values(noise, len(lengths), "noise_multiplier")
        if self.noise_multiplier is None:
            shape = list(zip(noises, lengths, strict=True))
            delta = Fraction(probability(self.delta, "delta"))
            noises = calibrate_noise(sampling_rate, shape, positive(self.epsilon, "epsilon"), delta)
        bounds = clipping_bounds(self.clip, groups, len(lengths))
        parts = zip(lengths, bounds, noises, strict=True)
        return tuple(Segment(iterations=n, bounds=bound, noise_multiplier=noise) for n, bound, noise in parts)

    def _count_iterations(self, sampling_rate: Fraction) -> int:
        if self.iterations is not None:
            return whole(self.iterations, "iterations")
        if self.epochs is not None:
            return math.ceil(whole(self.epochs, "epochs") / sampling_rate)
        noise = schedule_values(self.noise_multiplier, 1, "noise_multiplier")[0]
        allowed = positive(self.epsilon, "epsilon"), probability(self.delta, "delta")
        return most_iterations(sampling_rate, noise, *allowed)

    @property
    def _optimisation(self) -> Optimisation:
        return Optimisation(self.network, self.optimiser, self.lr_scheduler)

    @property
    def checkpoints(self) -> int:
        """The number of checkpoints: states that are stored, one at the end of each segment."""
        return len(self.segments)

    @property
    def steps(self) -> int:
        """The number of checkpoints, by the name that the gate has for answers that are stored one by one."""
        return self.checkpoints

    @property
    def cost(self) -> PrivacyLoss:
        """The privacy loss of all iterations together; known before the first."""
        loss = self.loss_after(self.checkpoints)
        if self.bill == "loss":
            return loss
        return Approximate(Fraction(epsilon(loss, self.delta)), self.delta)

    def loss_after(self, checkpoints: int) -> PrivacyLoss:
        """Return the privacy loss up to a checkpoint.

        Args:
            checkpoints: the number of checkpoints, from 1 to that of the whole training.

        Returns:
            The composed loss of all iterations up to there.

        Raises:
            DiscreetError: if there are not so many checkpoints.

        """
        done = self.segments[: whole(checkpoints, "checkpoints", most=self.checkpoints)]
        pairs = [(segment.noise_multiplier, segment.iterations) for segment in done]
        return compose_loss(self.step_settings.sampling_rate, pairs)

    def epsilon_after(self, checkpoints: int) -> float:
        """Return ε at δ up to a checkpoint. The payment is that of the whole training.

        Args:
            checkpoints: the number of checkpoints; 0 is before the first iteration.

        Returns:
            The ε of all iterations up to there.

        Raises:
            DiscreetError: if there are not so many checkpoints.

        """
        return epsilon(self.loss_after(checkpoints), self.delta) if checkpoints else 0.0

    @property
    def guarantee(self) -> Guarantee:
        """The (ε, δ) guarantee of the whole training."""
        return guarantee(self.loss_after(self.checkpoints), self.delta)

    def describe(self) -> str:
        """Return a description of the training in words, for the ledger."""
        total = sum(segment.iterations for segment in self.segments)
        return (
            f"DP-SGD training of {type(self.network).__name__}: {total} iterations, Poisson batches of "
            f"{self.batch_size} in {self.examples} examples, {self.sums} sums, {self.guarantee}"
        )

    def canonical(self) -> str:
        """Return a text of all that determines the distribution of the states."""
        parts = [
            "training",
            model_text(self.network),
            function_text(self.loss),
            self._optimisation.text(),
            canonical_text((self.examples, self.step_settings, self.segments, self.groups, self.seed)),
            loss_to_text(self.cost),
        ]
        if self.collate is not None:
            parts.append(f"collate {function_text(self.collate)}")
        return "\n".join(parts)

    def run_step(self, data: Any, entropy: Entropy, segment: int, before: Sequence[State], /) -> State:
        """Train for one segment, starting at the last checkpoint, and return the next. Called by a gate, once paid."""
        model, optimiser, lr_scheduler = self._optimisation.start()
        current, done = self.segments[segment], 0
        bounds = current.bounds
        if segment:
            last = before[segment - 1]
            restore_state(last, model, optimiser, lr_scheduler)
            done, bounds = last[ITERATIONS], tuple(last["bounds"]) if self.step_settings.adaptive else bounds
        private = PrivateModel(model, groups=self.groups)
        form = self._rehearse_form(private, data)
        read, count = partial(self._reader.take, data, form=form), count_examples(data)
        with keep_generators():
            for _ in range(current.iterations):
                bounds = take_private_step(
                    private,
                    self.loss,
                    read,
                    count,
                    settings=self.step_settings,
                    bounds=bounds,
                    noise_multiplier=current.noise_multiplier,
                    entropy=entropy,
                )
                take_optimiser_step(optimiser, lr_scheduler)
        return capture_state(model, optimiser, lr_scheduler, bounds, done + current.iterations)

    def check(self, data: Any, /) -> None:
        """Rehearse on made-up examples of the data's form, before anything is paid; a gate calls it.

        Nothing of the data is read except its type and, of tensors, their dtypes and their shapes without the first
        axis.

        Args:
            data: the data that a gate holds: a tuple of tensors, a `TensorDataset`, or another dataset.

        Raises:
            DiscreetError: if the data has no known form or the rehearsal fails.

        """
        self._rehearse_form(PrivateModel(copy.deepcopy(self.network), groups=self.groups), data)

    def rehearse(self, data: Any) -> None:
        """Run all of a step but the noise on examples that you make up, at no cost.

        A gate does the same on examples that it makes up itself (see `check`).

        Args:
            data: made-up examples, in the form of the data to train on.

        Raises:
            DiscreetError: if training on such examples would fail.

        """
        private = PrivateModel(copy.deepcopy(self.network), groups=self.groups)
        form = form_of(self._reader.make_up(data, 1, self.seed))
        count = count_examples(data)
        if not count:
            raise InvalidInput("There are no examples.", fix="make some up, in the form of the data to train on")
        generator = torch.Generator().manual_seed(self.seed)
        drawn = torch.randint(count, (2, self.microbatch_size), generator=generator).numpy()
        first, second = (self._reader.take(data, indices, form) for indices in drawn)
        rehearse(private, self.loss, first, second, self.step_settings, self.segments[0].bounds)

    def gradient_methods(self, data: Any) -> dict[str, GradientMethod]:
        """Return how the per-example gradients of each parameter are computed on data of this form.

        "batched rule" is one backward pass of a whole microbatch; "vmap" and "one by one" treat each example alone. The
        method is determined by code and shapes, in a rehearsal on made-up examples; no row is read.

        Args:
            data: the data to train on, or made-up examples of its form.

        Returns:
            The method of each trainable parameter, by the parameter's name.

        Raises:
            DiscreetError: if the data has no known form or the rehearsal fails.

        """
        private = PrivateModel(copy.deepcopy(self.network), groups=self.groups)
        self._rehearse_form(private, data)
        return private.gradient_methods()

    def _rehearse_form(self, private: PrivateModel, data: Any) -> object:
        """Rehearse on made-up examples of the data's form, and return the form; no row is read."""
        first, second = (self._reader.make_up(data, self.microbatch_size, self.seed + which) for which in range(2))
        if form_of(first) != form_of(second):
            raise InvalidInput(
                "Made-up examples differ in shape or dtype.",
                fix="give all examples one shape: pad to a public length in the dataset, or in collate=",
            )
        rehearse(private, self.loss, first, second, self.step_settings, self.segments[0].bounds)
        return form_of(first)

    @property
    def _reader(self) -> Examples:
        return Examples(example=self.example, collate=self.collate)

    def fit(
        self, gate: Gate[Any], *, request: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Trained:
        """Pay, train, and return the model. A second call resumes after the last checkpoint, at no further cost.

        Args:
            gate: a gate on the data, which pays from its ledger.
            request: a name for this training in the ledger. If left out it follows from the settings, so that the same
                training is paid once. A second model with the same settings needs a name of its own, and is paid again.
            progress: a function that is called after each checkpoint with the numbers of checkpoints done and in all.

        Returns:
            The trained model with its cost, receipt and guarantee.

        Raises:
            DiscreetError: if the data cannot be trained on, or the ledger does not allow the payment.

        """
        if not isinstance(gate, Gate):
            raise WrongType("Training is paid through a Gate.", fix="pass Gate(ledger, (inputs, targets))")
        need_rows(gate.ledger, one_row_each=flag(self.one_row_each, "one_row_each"))
        name = f"training {plan_digest(self)[:32]}" if request is None else request
        for segment in range(self.checkpoints):
            release = gate.advance(self, segment, request=name)
            if progress is not None:
                progress(segment + 1, self.checkpoints)
        return self.read_release(release)

    def read_release(self, release: Release) -> Trained:
        """Return the model of a release with its cost.

        Args:
            release: the gate's release of a checkpoint of this training.

        Returns:
            The model at that checkpoint, with the cost, receipt and guarantee of the whole training.

        """
        return Trained(
            model=self.load_model(release.answer),
            cost=release.cost,
            receipt=release.receipt,
            guarantee=self.guarantee,
            iterations=release.answer[ITERATIONS],
            note=NOTES[self.sums],
        )

    def load_model(self, state: State) -> nn.Module:
        """Return the model of a stored state, in evaluation mode.

        Args:
            state: a checkpoint of this training.

        Returns:
            A copy of the network with the trained weights of the state.

        """
        model = copy.deepcopy(self.network)
        restore_state(state, model)
        return model.eval()
