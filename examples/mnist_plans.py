"""Training on MNIST: the pictures, the settings for every ε, and the plans made of them."""

import gzip
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scattering import FEATURES, features
from torch import Tensor, nn

from discreet.gate import Budget, Gate, Ledger
from discreet.learn.torch import Trained, Training

DELTA = 1e-5
FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
#: Pictures whose features are worked out at a time, so that they stay in the cache.
FEW = 50
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a model is trained: the number of iterations, the expected batch size, and the settings of the optimiser."""

    batch_size: int
    iterations: int
    clip: float
    rate: float
    decay: float = 0.0


#: By model and ε. How they were found is told in docs/mnist.md.
SETTINGS = {
    "linear": {
        0.5: Settings(batch_size=4096, iterations=120, clip=0.3, rate=5.0, decay=6e-4),
        1.0: Settings(batch_size=4096, iterations=240, clip=0.3, rate=6.5, decay=1.5e-4),
        2.0: Settings(batch_size=4096, iterations=400, clip=0.3, rate=6.5, decay=1e-4),
        3.0: Settings(batch_size=4096, iterations=400, clip=0.3, rate=6.5, decay=7.5e-5),
    },
    "cnn": {3.0: Settings(batch_size=2048, iterations=700, clip=0.1, rate=4.0)},
}


@dataclass(frozen=True, slots=True)
class Digits:
    """Pictures and labels, to train on and to test with."""

    pictures: Tensor
    labels: Tensor
    others: Tensor
    answers: Tensor


def read(folder: Path) -> Digits:
    """Return MNIST from its four files; pictures have values in [0, 1]."""
    missing = [f"{name}.gz" for name in FILES if not (folder / f"{name}.gz").exists()]
    if missing:
        raise SystemExit(
            f"MNIST is not here: {', '.join(missing)} missing.\n"
            "Pass --data FOLDER with the four files of the original, gzipped."
        )
    found = [_values(folder / f"{name}.gz") for name in FILES]
    return Digits(found[0].float() / 255, found[1].long(), found[2].float() / 255, found[3].long())


def _values(path: Path) -> Tensor:
    raw = gzip.decompress(path.read_bytes())
    axes = raw[3]
    shape = [int.from_bytes(raw[4 * axis : 4 * axis + 4], "big") for axis in range(1, axes + 1)]
    return torch.from_numpy(np.frombuffer(raw, np.uint8, offset=4 * axes + 4).reshape(shape).copy())


def prepared(model: str, digits: Digits, cache: Path | None, progress: Progress) -> tuple[Tensor, Tensor]:
    """Return what the model is given, of both kinds of pictures. Each picture is prepared by itself."""
    if model == "cnn":
        return digits.pictures[:, None], digits.others[:, None]
    return _kept(digits.pictures, "train", cache, progress), _kept(digits.others, "test", cache, progress)


def _kept(pictures: Tensor, name: str, cache: Path | None, progress: Progress) -> Tensor:
    """Return features, rounded to 16 bits so that they are the same from a folder and afresh."""
    path = None if cache is None else cache / f"mnist-{name}-{len(pictures)}.npy"
    if path is not None and path.exists():
        return torch.from_numpy(np.load(path)).float()
    found = torch.empty(len(pictures), FEATURES, dtype=torch.float16)
    for start in range(0, len(pictures), FEW):
        found[start : start + FEW] = features(pictures[start : start + FEW]).half()
        progress(f"features, {name}", min(start + FEW, len(pictures)), len(pictures))
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, found.numpy())
    return found.float()


def linear() -> nn.Module:
    """Return a linear model that starts at zero: 39,700 weights."""
    model = nn.Linear(FEATURES, 10)
    for parameter in model.parameters():
        nn.init.zeros_(parameter)
    return model


def network() -> nn.Module:
    """Return two convolutions and two linear layers with bounded activations, 26,010 weights.

    Reference: Papernot and others 2021 (tempered sigmoids).
    """
    return nn.Sequential(
        *(nn.Conv2d(1, 16, 8, 2, padding=3), nn.Tanh(), nn.MaxPool2d(2, 1)),
        *(nn.Conv2d(16, 32, 4, 2), nn.Tanh(), nn.MaxPool2d(2, 1)),
        *(nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 10)),
    )


MODELS = {"linear": linear, "cnn": network}


def plan(model: str, epsilon: float, how: Settings, examples: int, *, sums: str, run: int) -> Training:
    """Return private training as a plan: the noise is the least that keeps (ε, δ), and the cost is known."""
    rate, decay, iterations = how.rate, how.decay, how.iterations
    return Training(
        model=MODELS[model],
        loss=nn.CrossEntropyLoss(reduction="none"),
        optimiser=lambda weights: torch.optim.SGD(weights, lr=rate, momentum=0.9, weight_decay=decay),
        # The learning rate falls to zero over the second half of the iterations.
        lr_scheduler=lambda optimiser: torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda done: min(1, 2 - 2 * done / iterations)
        ),
        examples=examples,
        batch_size=how.batch_size,
        iterations=how.iterations,
        clip=how.clip,
        epsilon=epsilon,
        delta=DELTA,
        sums=sums,  # type: ignore[arg-type] # checked at birth
        bill="sentence",
        seed=run,
    )


def bought(training: Training, inputs: Tensor, labels: Tensor, progress: Callable[[int, int], None]) -> Trained:
    """Pay for a training from a ledger made for it, and return the model with its guarantee."""
    budget = Budget(training.epsilon, DELTA, reserve=DELTA)
    with (
        tempfile.TemporaryDirectory() as folder,
        Ledger.create(Path(folder) / "mnist.ledger", budget, title="MNIST", anchors=[]) as ledger,
    ):
        return training.fit(Gate(ledger, (inputs, labels)), progress=progress)


def accuracy(model: nn.Module, inputs: Tensor, answers: Tensor) -> float:
    """Return the share of right answers."""
    with torch.no_grad():
        parts = zip(inputs.split(500), answers.split(500), strict=True)
        right = sum(int((model(some).argmax(1) == true).sum()) for some, true in parts)
    return right / len(answers)
