"""One step of training: plain, private in floats, private on the grid, by Opacus, on the same models and batches."""

import argparse
import json
import subprocess
import sys
import warnings
from fractions import Fraction
from pathlib import Path

import torch
from measure import Bar, Contestant, Report, Table, finish, peer, publish, race, ratio, say
from torch import nn
from torch.nn import functional

from discreet.learn.torch.clipping import Clipping, PrivateModel
from discreet.learn.torch.dpsgd import BatchTotal, add_noise, round_to_grid, set_gradients
from discreet.learn.torch.global_settings import keep_settings, seed_generators
from discreet.learn.torch.step_settings import StepSettings
from discreet.noise import SYSTEM

BATCH_SIZES = (1024, 256)
BOUNDS = (Fraction(1),)
#: Noise of σC on the sum.
SIGMA = Fraction(1)
#: Grid steps of a bound.
STEPS = 1 << 16
ROUNDS = 25
#: Whoever takes less than so many seconds takes a step more before each one that counts, as in training.
WARM = 1.0
PLAIN, LAST, FLOAT, EXACT = "plain", "plain, channels last", "discreet, floats", "discreet, exact"
#: Opacus' ways to an example's gradient. Hooks on the MLP take over a hundred times the plain step.
MODES = {"MLP": ("ghost", "ew"), "CNN": ("ghost", "hooks", "ew")}
MOST = {("MLP", 1024): 1.25, ("CNN", 1024): 1.6, ("MLP", 256): 2.0, ("CNN", 256): 2.0}
TERMS = (
    f"Processor time of one thread, best of {ROUNDS} turns; all contestants take turns in one process, with two steps "
    f"each, of which the second counts: as in training, it finds memory and caches as a step of its own has left them. "
    "A step is forward, backward, clipping, noise on every parameter and the optimiser (SGD). MLP: 784-512-256-10, "
    "535,818 parameters. CNN: two convolutions and two linear layers, 26,010 parameters. Ours draws its noise exactly, "
    f"on a grid of {STEPS:,} steps a bound; Opacus draws floats, without its secure mode. Plain is the model as it is "
    "written; ours lays out pictures with the channels last by itself, which PyTorch does for who asks for it."
)


class Cnn(nn.Module):
    """The network of Opacus' MNIST example."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 16, 8, 2, padding=3), nn.Conv2d(16, 32, 4, 2)
        self.third, self.last = nn.Linear(512, 32), nn.Linear(32, 10)

    def forward(self, images):
        hidden = functional.max_pool2d(functional.relu(self.first(images)), 2, 1)
        hidden = functional.max_pool2d(functional.relu(self.second(hidden)), 2, 1)
        return self.last(functional.relu(self.third(hidden.flatten(1))))


def mlp():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 10)
    )


MODELS = {"MLP": mlp, "CNN": Cnn}


def made(name, batch_size):
    torch.manual_seed(0)
    model = MODELS[name]()
    return (
        model,
        torch.optim.SGD(model.parameters(), 0.01),
        torch.randn(batch_size, 1, 28, 28),
        torch.randint(0, 10, (batch_size,)),
    )


def plain_step(name, batch_size, layout=torch.contiguous_format):
    model, optimiser, images, labels = made(name, batch_size)
    model, images = model.to(memory_format=layout), images.to(memory_format=layout)

    def step():
        optimiser.zero_grad()
        functional.cross_entropy(model(images), labels).backward()
        optimiser.step()

    return step


def private_step(name, batch_size, *, exact):
    """Return a step as a plan takes it, without sampling the batch, which the others do not do either."""
    model, optimiser, images, labels = made(name, batch_size)
    trained = PrivateModel(model)
    sums = "exact" if exact else "float"
    settings = StepSettings(
        sampling_rate=Fraction(1),
        batch_size=batch_size,
        microbatch_size=batch_size,
        grid_steps=STEPS,
        noise_ratios=(Fraction(1),),
        style="clip",
        sums=sums,
        adaptive=None,
    )
    clipping = Clipping(bounds=BOUNDS)

    def step():
        optimiser.zero_grad()
        private = trained.copy()  # every pass has fresh values

        def losses(images, labels):
            with keep_settings():
                return functional.cross_entropy(private(images), labels, reduction="none")

        seed_generators(SYSTEM.bits(63))
        if exact:
            sums = private.exact_sums(losses, clipping, STEPS, batch=(images, labels)).sums
        else:
            sums = tuple(
                round_to_grid(
                    private, private.float_sums(losses, clipping, batch=(images, labels)).sums, settings, BOUNDS
                )
            )
        total = BatchTotal(sums, (0,), batch_size)
        add_noise(trained, total, settings, SIGMA, SYSTEM)
        set_gradients(trained, total, settings, BOUNDS)
        optimiser.step()
        if not formed:  # as a rehearsal does
            trained.learn_form(private)
            formed.append(True)

    formed = []
    return step


def opacus_step(name, batch_size, mode):
    from opacus import PrivacyEngine
    from torch.utils.data import DataLoader, TensorDataset

    warnings.simplefilter("ignore")
    model, optimiser, images, labels = made(name, batch_size)
    loader = DataLoader(TensorDataset(images, labels), batch_size=batch_size)
    options = {"criterion": nn.CrossEntropyLoss()} if mode == "ghost" else {}
    wrapped = PrivacyEngine().make_private(
        module=model,
        optimizer=optimiser,
        data_loader=loader,
        noise_multiplier=float(SIGMA),
        max_grad_norm=1.0,
        poisson_sampling=False,
        grad_sample_mode=mode,
        **options,
    )
    criterion = wrapped[2] if mode == "ghost" else nn.CrossEntropyLoss()

    def step():
        wrapped[1].zero_grad()
        criterion(wrapped[0](images), labels).backward()
        wrapped[1].step()

    return step


def step_of(name, batch_size, who):
    if who == PLAIN:
        return plain_step(name, batch_size)
    if who == LAST:
        return plain_step(name, batch_size, torch.channels_last)
    if who in (FLOAT, EXACT):
        return private_step(name, batch_size, exact=who == EXACT)
    return opacus_step(name, batch_size, who.removeprefix("Opacus "))


def contestants(name, *, peers):
    return [
        PLAIN,
        *([LAST] if name == "CNN" else []),
        FLOAT,
        EXACT,
        *(f"Opacus {mode}" for mode in MODES[name] if peers),
    ]


def most_held():
    """Return the most memory that this program held, in KB: the system's own count would include its parent's."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))


def alone(name, batch_size, who):
    """Return the most memory that a process takes for a few steps, in MB."""
    command = [sys.executable, str(Path(__file__)), "--alone", json.dumps([name, batch_size, who])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ourselves
    return float(done.stdout.split()[-1]) / 1024


def timed(name, batch_size, *, peers):
    steps = {who: step_of(name, batch_size, who) for who in contestants(name, peers=peers)}
    for step in steps.values():
        step()
    times = race([Contestant(name=who, work=step) for who, step in steps.items()], rounds=ROUNDS, warm=WARM)
    say(f"{name} at batch size {batch_size}: " + ", ".join(f"{who} {each / 1e6:.1f} ms" for who, each in times.items()))
    return times


def bars_of(name, batch_size, times, memory):
    theirs = min((time for who, time in times.items() if who.startswith("Opacus")), default=None)
    bars = []
    for who in (FLOAT, EXACT):
        bars += [
            Bar(
                claim=f"{name}, batch size {batch_size}, {who} ÷ plain",
                measured=ratio(times[who], times[PLAIN]),
                most=MOST[name, batch_size],
            ),
            Bar(
                claim=f"{name}, batch size {batch_size}, Opacus' fastest ÷ {who}",
                measured=ratio(theirs, times[who]),
                least=1.5,
            ),
            Bar(
                claim=f"{name}, batch size {batch_size}, memory of {who} ÷ plain",
                measured=memory[who] / memory[PLAIN],
                most=1.5,
            ),
        ]
    return bars


def report(*, peers):
    time_rows, memory_rows, bars = [], [], []
    columns = [PLAIN, LAST, FLOAT, EXACT, "Opacus ghost", "Opacus hooks", "Opacus ew"]
    for name in MODELS:
        for batch_size in BATCH_SIZES:
            times = timed(name, batch_size, peers=peers)
            memory = {who: alone(name, batch_size, who) for who in contestants(name, peers=peers)}
            time_rows.append(
                (f"{name}, batch size {batch_size}", *(times[who] / 1e6 if who in times else None for who in columns))
            )
            ratios = (times[who] / times[PLAIN] if who in times else None for who in columns)
            time_rows.append((f"{name}, batch size {batch_size}, ÷ plain", *ratios))
            memory_rows.append((f"{name}, batch size {batch_size}", *(memory.get(who) for who in columns)))
            bars += bars_of(name, batch_size, times, memory)
    head = ("model", *columns)
    tables = (
        Table(title="A step, ms", note="And as a multiple of the plain step.", columns=head, rows=tuple(time_rows)),
        Table(
            title="Peak memory, MB", note="Of a process that takes three steps.", columns=head, rows=tuple(memory_rows)
        ),
    )
    packages = ("discreet", "torch", "numpy", "opacus")
    return Report(
        title="Training",
        command="python benchmarks/training.py",
        packages=packages,
        tables=tables,
        bars=tuple(bars),
        remarks=(TERMS,),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="end with an error when a bar is missed")
    parser.add_argument("--alone", help="take a few steps and print the most memory held")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.alone:
        step = step_of(*json.loads(arguments.alone))
        for _ in range(3):
            step()
        print(most_held())
        return
    found = report(peers=peer("opacus", "opacus") is not None)
    publish(found, "training")
    finish(found, check=arguments.check)


if __name__ == "__main__":
    main()
