"""MNIST with differential privacy: accuracy against ε, in a table and a picture.

    python examples/mnist.py                       a linear model on features at four ε, and a network; each five times
    python examples/mnist.py --model linear --epsilon 1 --runs 1

Training goes through the gate: every run is a plan, priced beforehand and paid from a ledger made for it. Runs are kept
in a file as they end, and are not made again: stop whenever you like, and go on later. What was tuned on what, and what
is not paid for, is told in docs/mnist.md.
Reference: Abadi and others 2016 (DP-SGD); Tramèr, Boneh 2021 (the features).
"""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from mnist_plans import SETTINGS, Digits, accuracy, bought, plan, prepared, read
from mnist_report import draw, report, table

RUNS = 5
Run = dict[str, Any]


def main(arguments: list[str] | None = None) -> None:
    """Train what has not been trained yet, tell, and draw."""
    chosen = _chosen(arguments)
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    kept: list[Run] = json.loads(chosen.kept.read_text(encoding="utf-8")) if chosen.kept.exists() else []
    asked = _asked(chosen)
    for model in SETTINGS:
        missing = [run for run in asked if run["model"] == model and not _is_in(run, kept)]
        if missing:
            train(missing, kept, chosen)
    print("\n" + table(kept))
    draw(kept, chosen.picture)
    print(f"\n{chosen.picture} shows it.")
    if chosen.report is not None:
        chosen.report.write_text(report(kept), encoding="utf-8")


def train(missing: list[Run], kept: list[Run], chosen: argparse.Namespace) -> None:
    """Make all runs of one model that are missing, and keep each as it ends."""
    digits = read(chosen.data)
    inputs, others = prepared(missing[0]["model"], digits, chosen.cache, bar)
    for number, run in enumerate(missing, 1):
        name = f"[{number}/{len(missing)}] {run['model']}, ε = {run['epsilon']:g}"
        kept.append(run | trained(run, digits, inputs, others, name))
        chosen.kept.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def trained(run: Run, digits: Digits, inputs: torch.Tensor, others: torch.Tensor, name: str) -> Run:
    """Train once, and return what came of it."""
    started = time.process_time()
    how = SETTINGS[run["model"]][run["epsilon"]]
    training = plan(run["model"], run["epsilon"], how, len(inputs), sums=run["sums"], run=run["run"])
    found = bought(training, inputs, digits.labels, lambda done, of: bar(name, done, of))
    right = accuracy(found.model, others, digits.answers)
    print(f"{'':<26} {100 * right:.2f} %, {found.guarantee}", flush=True)
    return {
        "accuracy": right,
        "noise": float(training.segments[0].noise_multiplier),
        "guarantee": str(found.guarantee),
        "seconds": round(time.process_time() - started, 1),
    }


def _asked(chosen: argparse.Namespace) -> list[Run]:
    """Return the runs that were asked for, each ε once before any a second time."""
    found = [
        _named(model, epsilon, number, chosen.sums)
        for model in (SETTINGS if chosen.model == "all" else [chosen.model])
        for number in range(chosen.runs)
        for epsilon in SETTINGS[model]
        if chosen.epsilon is None or epsilon in chosen.epsilon
    ]
    if not found:
        known = "; ".join(f"{model} {', '.join(f'{one:g}' for one in SETTINGS[model])}" for model in SETTINGS)
        raise SystemExit(f"There are no settings for this ε, or no runs are asked for. Known: {known}.")
    return found


def _is_in(run: Run, kept: list[Run]) -> bool:
    return any(run.items() <= old.items() for old in kept)


def _named(model: str, epsilon: float, number: int, sums: str) -> Run:
    """Return what tells a run from others: with other settings it is another run."""
    return {
        "model": model,
        "epsilon": epsilon,
        "run": number,
        "sums": sums,
        "settings": asdict(SETTINGS[model][epsilon]),
    }


def _chosen(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data/mnist"), help="where the four files are")
    parser.add_argument("--model", choices=(*SETTINGS, "all"), default="all")
    parser.add_argument("--epsilon", type=float, nargs="*", help="0.5 1 2 3 for the linear model, 3 for the network")
    parser.add_argument("--runs", type=int, default=RUNS, help="how many at each ε; the noise is never the same")
    parser.add_argument("--sums", choices=("exact", "float"), default="exact", help="how gradients are added up")
    parser.add_argument("--cache", type=Path, help="a folder for features, 560 MB; without one they are made afresh")
    parser.add_argument("--kept", type=Path, default=Path("mnist-runs.json"), help="where runs are kept")
    parser.add_argument("--picture", type=Path, default=Path("mnist-accuracy.png"))
    parser.add_argument("--report", type=Path, help="a file for the table in Markdown")
    parser.add_argument("--threads", type=int, help="how many PyTorch may use")
    return parser.parse_args(arguments)


def bar(name: str, done: int, of: int) -> None:
    """Show how far it is."""
    filled = 30 * done // of
    sys.stdout.write(f"\r{name:<26} {'█' * filled}{'·' * (30 - filled)} {done}/{of}")
    sys.stdout.write("\n" if done == of else "")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
