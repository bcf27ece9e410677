"""One piece of work in this process, by names that every version has; prints its processor seconds as JSON."""

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

#: Rows and people of the large table, and questions about the small one.
ROWS, PEOPLE, QUESTIONS = 1_000_000, 100_000, 40


def used() -> float:
    """Return the processor seconds of this process and its children so far."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


def timed(work: Callable[[], object]) -> float:
    """Return the processor seconds that a call takes."""
    begin = used()
    work()
    return used() - begin


@contextmanager
def opened(rows: int, people: int) -> Iterator[object]:
    """Open a made-up table of visits by a session."""
    import numpy as np
    import pyarrow as pa

    import discreet

    draw = np.random.default_rng(1)
    table = pa.table(
        {
            "who": draw.integers(0, people, rows),
            "ward": pa.array(np.array(["A", "B", "C", "D"])[draw.integers(0, 4, rows)]),
            "age": draw.integers(0, 100, rows),
            "stay": draw.exponential(5, rows),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        session = discreet.open(
            table,
            person="who",
            bounds={"stay": (0, 60), "age": (0, 110)},
            groups={"ward": ["A", "B", "C", "D"]},
            limit=discreet.Limit(groups=2, rows_per_group=3),
            budget=discreet.Budget(epsilon=1000, delta=1e-9),
            ledger=Path(folder) / "versions.ledger",
            anchors=(),
        )
        try:
            yield session
        finally:
            session.close()


def importing() -> float:
    """Load the package."""
    return timed(lambda: __import__("discreet"))


def large_question() -> float:
    """Answer one grouped question about a million rows that are imported already."""
    with opened(ROWS, PEOPLE) as session:
        session.sql("SELECT COUNT(*) FROM data", epsilon=1)
        text = "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM data WHERE age >= {} GROUP BY ward"
        return min(timed(lambda age=age: session.sql(text.format(age), epsilon=1)) for age in range(20, 25))


def small_questions() -> float:
    """Plan, pay for and answer one question about two hundred rows; the mean of forty."""
    with opened(200, 50) as session:
        text = "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM data WHERE age >= {} GROUP BY ward"
        session.sql(text.format(0), epsilon=1)
        return timed(lambda: [session.sql(text.format(age), epsilon=1) for age in range(1, QUESTIONS + 1)]) / QUESTIONS


def previews() -> float:
    """Preview one question; the mean of forty."""
    with opened(200, 50) as session:
        text = "SELECT ward, COUNT(*) AS n FROM data WHERE age >= {} GROUP BY ward"
        session.preview(text.format(0), epsilon=1)
        return timed(lambda: [session.preview(text.format(age), epsilon=1) for age in range(QUESTIONS)]) / QUESTIONS


def noise() -> float:
    """Draw four million values of each kind of noise."""
    from discreet.noise import gaussian, laplace

    gaussian(10, 10), laplace(10, 10)
    return timed(lambda: (gaussian(Fraction(10**4), 4 * 10**6), laplace(Fraction(100), 4 * 10**6)))


def accounting() -> float:
    """Find the ε of a thousand steps of noise on random samples."""
    from discreet.accounting import GaussianNoise, Repeated, Subsampled, epsilon

    loss = Repeated(Subsampled(GaussianNoise(Fraction(1)), Fraction(1, 100)), 1000)
    return timed(lambda: epsilon(loss, Fraction(1, 10**6)))


def training() -> float:
    """Train a small network for twenty steps of DP-SGD."""
    import torch
    from torch import nn

    from discreet import Budget, Gate, Ledger
    from discreet.learn.torch import Training

    torch.set_num_threads(1)
    inputs = torch.randn(4096, 64)
    targets = (inputs[:, 0] > 0).long()
    settings = {
        "model": nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 2)),
        "loss": nn.CrossEntropyLoss(reduction="none"),
        "optimiser": lambda weights: torch.optim.SGD(weights, lr=0.1),
        "examples": 4096,
        "epochs": 5,
        "epsilon": 2,
        "delta": 1e-6,
    }
    names = Training.__dataclass_fields__
    sizes = {"batch_size": 1024, "microbatch_size": 256} if "batch_size" in names else {"lot": 1024, "batch": 256}
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.create(
            Path(folder) / "versions.ledger", Budget(epsilon=3, delta=1e-5), title="versions", anchors=[]
        )
        plan = Training(**settings, **sizes)
        gate = Gate(ledger, (inputs, targets))
        begin = time.process_time()
        plan.fit(gate)
        return time.process_time() - begin


WORK = {
    work.__name__: work for work in (importing, large_question, small_questions, previews, noise, accounting, training)
}

if __name__ == "__main__":
    print(json.dumps({"seconds": WORK[sys.argv[1]]()}))
