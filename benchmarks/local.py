"""Local privacy: a million people, 1024 categories, ε = 1; clients and server, beside pure-ldp and multi-freq-ldpy."""

import argparse
import json
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import peers_venv
from measure import Bar, Report, Table, finish, publish, say

from discreet.local import (
    Hadamard,
    KaryResponse,
    LocalHashing,
    PrefixTree,
    SubsetSelection,
    Unary,
    encode_all,
    encode_texts,
    estimate,
    find_texts,
    variance_of,
)

DOMAIN, PEOPLE = 1024, 10**6
#: People that a peer is asked with; its time grows with them.
FEW = 5_000
ROUNDS = 3
#: Runs of the accuracy, and people in each: the error is that of theory times the number of people, whatever that is.
RUNS, CROWD = 200, 50_000
#: Those whose reports are large make fewer.
FEWER = {"optimal unary": 30, "subset selection": 30}
ENCODERS = {
    "k-ary response": KaryResponse(domain=DOMAIN, epsilon=1),
    "optimal unary": Unary.optimal(domain=DOMAIN, epsilon=1),
    "local hashing": LocalHashing(domain=DOMAIN, epsilon=1),
    "Hadamard": Hadamard(domain=DOMAIN, epsilon=1),
    "subset selection": SubsetSelection(domain=DOMAIN, epsilon=1),
}
#: Seconds of processor time, client and server.
BARS = {"optimal unary": 3.0, "local hashing": 3.0, "Hadamard": 0.2}
SLACK = 0.03


def ours(name: str) -> tuple[float, float]:
    """Return the processor seconds of clients and of the server, the best of several turns."""
    encoder, values = ENCODERS[name], np.arange(PEOPLE) % DOMAIN
    turns = []
    for _ in range(ROUNDS):
        start = time.process_time()
        reports = encode_all(encoder, values)
        middle = time.process_time()
        estimate(encoder, reports)
        turns.append((middle - start, time.process_time() - middle))
    return min(turns, key=sum)


def accuracy(name: str) -> tuple[float, float]:
    """Return the mean squared error times the number of people, over several runs, and what theory says."""
    encoder, values = ENCODERS[name], np.arange(CROWD) % DOMAIN
    truth = np.bincount(values, minlength=DOMAIN)
    errors = [
        np.mean((estimate(encoder, encode_all(encoder, values)).counts - truth) ** 2)
        for _ in range(FEWER.get(name, RUNS))
    ]
    return float(np.mean(errors)) / CROWD, variance_of(encoder, Fraction(1, DOMAIN))


def peer(name: str, folder: Path) -> dict[str, float]:
    """Return what a peer takes, where it is installed."""
    python = peers_venv.python_of(name, folder)
    if python is None:
        say(f"{name} is not installed; it is left out. fix: run python benchmarks/peers_venv.py")
        return {}
    command = [python, Path(__file__).with_name("local_peers.py"), name, str(FEW)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        say(f"{name} does not run here; it is left out.\n{done.stderr[-500:]}")
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def device(name: str) -> float:
    """Return the microseconds that one report takes on a device, in plain Python."""
    encoder = ENCODERS[name]
    start = time.process_time()
    for value in range(1000):
        encoder.encode(value)
    return (time.process_time() - start) * 1e3


def texts() -> tuple[float, float, int]:
    """Return the processor seconds of frequent texts among a million, client and server, and how many were found."""
    tree = PrefixTree(length=8, epsilon=2)
    typed = [f"word{number % 7}" if number % 2 else f"{number:08x}"[::-1] for number in range(PEOPLE)]
    start = time.process_time()
    reports = encode_texts(tree, typed)
    middle = time.process_time()
    found = find_texts(tree, reports)
    return middle - start, time.process_time() - middle, len(found.found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="end with an error when a bar is missed")
    parser.add_argument("--peers", type=Path, default=peers_venv.FOLDER, help="where peers are installed")
    options = parser.parse_args()
    times, errors = {}, {}
    for name in ENCODERS:
        say(name)
        times[name], errors[name] = ours(name), accuracy(name)
    theirs = {name: peer(name, options.peers) for name in peers_venv.LOCAL_PEERS}
    speed = Table(
        title="Processor seconds for a million people",
        note=f"{DOMAIN} categories, ε = 1. Ours is measured on a million, the best of {ROUNDS} turns; the peers, which "
        f"are asked person by person, on {FEW:,}, and their time multiplied. A dash: it is not offered.",
        columns=("encoder", "client", "server", "together", *theirs, *(f"{name} ÷ ours" for name in theirs)),
        rows=tuple(_row(name, times[name], [found.get(name) for found in theirs.values()]) for name in ENCODERS),
    )
    exact = Table(
        title="Mean squared error, times the number of people",
        note=f"Of shares, over {RUNS} runs of {CROWD:,} people and all categories; {min(FEWER.values())} where a "
        "report is a set.",
        columns=("encoder", "measured", "theory", "ratio"),
        rows=tuple((name, *both, both[0] / both[1]) for name, both in errors.items()),
    )
    single = Table(
        title="One report on a device",
        note="In plain Python, without NumPy, with coins from the operating system.",
        columns=("encoder", "µs a report"),
        rows=tuple((name, device(name)) for name in ENCODERS),
    )
    client, server, found = texts()
    frequent = Table(
        title="Frequent texts among a million people",
        note="Texts of eight bytes, ε = 2; half of all people have one of seven, the others each their own.",
        columns=("", "client, s", "server, s", "found"),
        rows=(("PrefixTree", client, server, found),),
    )
    bars = (
        *(Bar(claim=f"{name}: seconds", measured=sum(times[name]), most=most) for name, most in BARS.items()),
        *(
            Bar(claim=f"{name}: error ÷ theory", measured=real / theory, least=1 - SLACK, most=1 + SLACK)
            for name, (real, theory) in errors.items()
        ),
    )
    report = Report(
        title="Local privacy",
        command=f"python benchmarks/{Path(sys.argv[0]).name}",
        packages=("discreet", "numpy", "cryptography"),
        tables=(speed, exact, single, frequent),
        bars=bars,
        remarks=(f"Peers, in environments of their own: {', '.join(sum(peers_venv.LOCAL_PEERS.values(), ()))}.",),
    )
    publish(report, "local")
    finish(report, check=options.check)


def _row(name: str, own: tuple[float, float], others: list[float | None]):
    whole = [None if other is None else other * PEOPLE / FEW for other in others]
    return (name, *own, sum(own), *whole, *(None if each is None else each / sum(own) for each in whole))


if __name__ == "__main__":
    main()
