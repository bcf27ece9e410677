"""Plans of every kind for the golden texts of canonical forms, `golden/canonical_forms.json`.

A canonical text is what a ledger knows a plan by, and what its choice of rows is seeded with. A case has a name and a
function that returns a text. The names are those of the day on which the case was added: they do not follow when a
class or a function is renamed.

`python tests/canonical_cases.py` adds the texts of new cases to the golden file, and never changes one that is there.
Where a text has to change because its meaning has, its case is taken out of the file by hand, and the CHANGELOG says
what is paid again.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from canonical_query_cases import FACTS, HALF, LIMITED, query_plans
from discreet import local
from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    Group,
    LaplaceNoise,
    Parallel,
    Pure,
    RandomisedResponse,
    Renyi,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
    loss_to_text,
)
from discreet.accounting.filter_texts import filter_to_text
from discreet.accounting.filters import ConcentratedFilter, PureFilter, RenyiFilter
from discreet.accounting.pld.dominating_pairs import flatten_loss
from discreet.core import Bounds, DiscreetError, Neighbours, PrivacyUnit, Sensitivity, Window
from discreet.core.canonical_text import canonical_text
from discreet.gate import Budget
from discreet.gate.entries.budget import budget_fields
from discreet.gate.plans import plan_digest
from discreet.learn import Conjunctions, DecisionLists, FinitePlan, Hypotheses, Thresholds
from discreet.learn.clusters import ClusterPlan
from discreet.learn.descent import DescentPlan
from discreet.learn.features import Features
from discreet.learn.moments import GroupPlan, ProductPlan
from discreet.learn.objective import ObjectivePlan
from discreet.learn.private_selection import PrivateSelection
from discreet.market import (
    AttributeAuction,
    Auction,
    FacilityLine,
    LargeGame,
    Mediator,
    Plane,
    PostedPrices,
    PriceGrid,
    Sale,
    TruthfulChoice,
    entry_game,
    routing_game,
)
from discreet.query.planning.planning import plan_question
from discreet.query.planning.spending import Epsilon, Rho
from sql_corpus import asked, pairs
from step_plans import Steps

GOLDEN = Path(__file__).parent / "golden" / "canonical_forms.json"
Texts = dict[str, Callable[[], str]]
WITH_TORCH = find_spec("torch") is not None


@dataclass(frozen=True)
class OwnClass:
    """A finite class that somebody wrote: known by its own `repr`."""

    cut: float
    size: int = 2


@dataclass(frozen=True)
class OwnSetting(FacilityLine):
    """A setting that somebody wrote: known by its own `repr`."""

    def __init__(self) -> None:
        super().__init__(4)


def learn_cases() -> dict[str, Any]:
    box = Features((-1, 1), 3, centred=True)
    wide = Features(([0, -1e-9, 5], [0.1, 1e9, 6]), 3, centred=False)
    descent = {"features": box, "classes": 3, "rho": HALF, "clip": Fraction(1, 3), "steps": 9, "rate": 0.1}
    own = Hypotheses((("all", lambda x: x[:, 0] > -9), ("none", lambda x: x[:, 0] > 9)))
    classes = {
        "thresholds": Thresholds([1, 0.25, 7], both=True),
        "conjunctions": Conjunctions(3),
        "decision lists": DecisionLists(2),
        "own functions": own,
        "own class": OwnClass(0.5),
    }
    return {
        "products": ProductPlan(features=box, norm=None, rho=HALF),
        "products of short rows": ProductPlan(features=wide, norm=Fraction(3, 4), rho=HALF),
        "groups": GroupPlan(features=wide, groups=2, rho=HALF),
        "clusters": ClusterPlan(features=box, clusters=2, steps=5, rho=HALF),
        "descent": DescentPlan(**descent, momentum=0.9, rows=None),
        "descent of so many rows": DescentPlan(**descent, momentum=0.0, rows=1000),
        "descent at a rate of NumPy": DescentPlan(**{**descent, "rate": np.float64(0.25)}, momentum=0.0, rows=1000),
        "objective": ObjectivePlan.within(box, Fraction(2), 1, Fraction(1, 10**6), penalty=None),
        **{f"finite {name}": FinitePlan(hypotheses=one, epsilon=HALF) for name, one in classes.items()},
        "selection": PrivateSelection(
            candidates=[Steps(cost=Concentrated(0.1)), Steps(name="other", cost=Concentrated(0.1))],
            score=lambda which, _: which,
            mean_runs=5,
            name="accuracy",
        ),
    }


def market_cases() -> dict[str, Any]:
    game = LargeGame(3, actions=["a", "b"], types=["t"], base=[[0.5, 0.25]], crowding=[[0.1, 0], [0, 0.1]])
    grid = PriceGrid(4, top=Fraction(5, 2))
    return {
        "auction": Auction(grid=grid, epsilon=1),
        "segments": AttributeAuction(["a", "b"], grid=grid, epsilon=1, verified=True),
        "pricings": AttributeAuction(["a"], grid=grid, epsilon=1, verified=False, pricings=[(1,), (4,)]),
        "line": TruthfulChoice(FacilityLine(5), epsilon=1),
        "plane": TruthfulChoice(Plane(3, 2), epsilon=1),
        "sale": TruthfulChoice(Sale(4), epsilon=1, margin=0.001),
        "own setting": TruthfulChoice(OwnSetting(), epsilon=1),
        "game": Mediator(game, rho=Fraction(1, 10), rounds=4),
        "entry": Mediator(entry_game(20), rho=Fraction(1, 10), rounds=16),
        "routes": Mediator(routing_game(20), rho=Fraction(1, 10), rounds=16),
        "posted prices": PostedPrices(grid=grid, rounds=5, epsilon=Fraction(1, 10)),
    }


LOSSES = {
    "pure": Pure(0.1),
    "bounded range": BoundedRange(0.1),
    "approximate": Approximate(0.1, 1e-9),
    "concentrated": Concentrated(0.1),
    "renyi": Renyi([(2, 0.1), (4, 0.3)]),
    "gaussian dp": GaussianDP(0.1),
    "laplace": LaplaceNoise(10),
    "gaussian": GaussianNoise(10),
    "discrete laplace": DiscreteLaplaceNoise(10, 1),
    "discrete gaussian": DiscreteGaussianNoise(10, Sensitivity.box(l0=2, linf=1)),
    "randomised response": RandomisedResponse(0.9, 3),
    "pair": DominatingPair([0.5, 0.5], [0.25, 0.75]),
    "sampled": Subsampled(GaussianNoise(3), 0.01, Sampling.POISSON),
    "without replacement": Subsampled(GaussianNoise(3), 0.01, Sampling.WITHOUT_REPLACEMENT),
    "group": Group(Pure(0.2), 3),
    "shuffled": Shuffled(Pure(1), 1000),
}
#: For replaced rows alone, and for added ones.
REPLACED, ADDED = ("without replacement", "shuffled"), ("sampled", "pair")


def loss_cases() -> Texts:
    """In which order losses are listed decides how floats are rounded that they are added up in."""
    more = [Repeated(Pure(0.1), 3), Pure(0.01), GaussianNoise(2)]
    added = Composed([*(LOSSES[name] for name in LOSSES if name not in REPLACED), *more])
    replaced = Composed([*(LOSSES[name] for name in LOSSES if name not in ADDED), *more])
    filters = {
        "pure": PureFilter(1),
        "concentrated": ConcentratedFilter(1, 1e-9, neighbours=Neighbours.REPLACE),
        "renyi": RenyiFilter(1, 1e-9),
    }
    budgets = {
        "of persons": Budget(rho=1, unit=PrivacyUnit(column="who"), per="person"),
        "replaced": Budget(1, 1e-9, unit=PrivacyUnit(column="who", neighbours=Neighbours.REPLACE)),
        "in windows": Budget(1, unit=PrivacyUnit(column="who", window=Window.of("week of day"))),
    }
    return {
        "losses in order": lambda: loss_to_text(flatten_loss(added)),
        "losses of replaced rows in order": lambda: loss_to_text(flatten_loss(replaced)),
        **{f"loss {name}": lambda one=one: canonical_text(one) for name, one in LOSSES.items()},
        "loss in parallel": lambda: canonical_text(Parallel([Repeated(Pure(0.1), 3), Composed([Pure(1), Pure(2)])])),
        **{f"filter {name}": lambda one=one: filter_to_text(one) for name, one in filters.items()},
        **{f"budget {name}": lambda one=one: json.dumps(budget_fields(one)) for name, one in budgets.items()},
    }


def encoder_cases() -> Texts:
    """Return by what a device's purse knows its encoders: as it stands in the purse's file."""
    bounds = Bounds(0, 10)
    encoders: dict[str, tuple[Any, Any]] = {
        "k-ary": (local.KaryResponse(domain=4, epsilon=1), 1),
        "hadamard": (local.Hadamard(domain=4, epsilon=1), 1),
        "hashing": (local.LocalHashing(domain=40, epsilon=1), 1),
        "subset": (local.SubsetSelection(domain=40, epsilon=1), 1),
        "unary": (local.Unary(domain=4, epsilon=1, symmetric=True), 1),
        "rappor": (local.Rappor(domain=4, flip=Fraction(1, 4)), 1),
        "number": (local.NumberResponse.duchi(bounds=bounds, epsilon=1), 5),
        "vector": (local.VectorResponse(size=3, bounds=bounds, epsilon=1), [0, 0.5, 9]),
        "prefixes": (local.PrefixTree(length=3, epsilon=1), b"abc"),
        "survey": (local.Survey(attributes={"a": 2, "b": 3}, epsilon=1), {"a": 1, "b": 2}),
        "own": (OwnEncoder(HALF), 1),
    }
    return {f"encoder {name}": lambda one=one: encoder_text(*one) for name, one in encoders.items()}


@dataclass(frozen=True)
class OwnEncoder:
    """An encoder that somebody wrote: known by its own `repr`."""

    epsilon: Fraction

    def encode(self, value: int, coins: object) -> int:
        return value


def encoder_text(encoder: Any, value: Any) -> str:
    """Return the text that a purse writes for an encoder."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "purse"
        local.Purse.create(path, epsilon=20).answer("question", encoder, value)
        records = [json.loads(line.partition(" ")[2]) for line in path.read_text().splitlines()]
    (text,) = {record["encoder"] for record in records if "encoder" in record}
    return str(text)


def training_cases() -> Texts:
    """Return what a training says of itself; lines on PyTorch's own classes are those of the installed release."""
    from torch import nn, optim

    from discreet.learn.torch import AdaptiveClip, Linear, Training

    def training(**settings: Any) -> Callable[[], str]:
        plain: dict[str, Any] = {
            "model": lambda: nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)),
            "loss": nn.CrossEntropyLoss(reduction="none"),
            "optimiser": lambda parameters: optim.SGD(parameters, lr=0.1),
            "examples": 60,
            "batch_size": 20,
            "delta": 1e-5,
            "microbatch_size": 16,
            "noise_multiplier": 2,
            "iterations": 9,
        }
        return lambda: own_lines(Training(**{**plain, **settings}).canonical())

    groups = [["0.weight", "0.bias"], ["2.weight", "2.bias"]]
    return {
        "training": training(),
        "training in floats": training(sums="float", style="automatic", seed=7),
        "training by groups": training(groups=groups, group_noise=[1, 2], clip=Linear(1, 2), checkpoint_every=3),
        "training with an adaptive clip": training(clip=AdaptiveClip(0.5, quantile=0.4, rate=0.3, count_noise=5)),
        "training of a number of NumPy": training(examples=np.int64(60)),
    }


def own_lines(text: str) -> str:
    """Return the lines of a training's text that name no class of PyTorch: its head, its terms and its cost."""
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(("(60, ", "(np.int64(60), ")))
    return "\n".join([lines[0], *lines[start:]])


def question_digests(file: str, text: str) -> dict[str, str]:
    """Return the digests of a question of the corpus: at an ε without a limit, and at a ρ with one."""
    question = asked(text, file)
    return {
        "epsilon": plan_digest(plan_question(question, FACTS, Epsilon(1))),
        "rho": plan_digest(plan_question(question, LIMITED, Rho(HALF))),
    }


def corpus_digests(known: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the digests of those questions of the corpus that are new, and can be planned."""
    found = {}
    for pair in pairs("accepted"):
        if (name := f"{pair.file}: {pair.question}") not in known:
            with suppress(DiscreetError):
                found[name] = question_digests(pair.file, pair.question)
    return found


def plans() -> dict[str, Any]:
    """Return all plans by name, but for those that need PyTorch."""
    return {**query_plans(), **learn_cases(), **market_cases()}


def texts() -> Texts:
    """Return what writes the text of each case."""
    found: Texts = {name: plan.canonical for name, plan in plans().items()}
    trained = training_cases() if WITH_TORCH else {}
    return {**found, **loss_cases(), **encoder_cases(), **trained}


def add_new_texts() -> None:
    """Add the texts of new cases to the golden file; those that are there stay."""
    known = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {"texts": {}, "questions": {}}
    known["texts"] |= {name: text() for name, text in texts().items() if name not in known["texts"]}
    known["questions"] |= corpus_digests(known["questions"])
    GOLDEN.write_text(json.dumps(known, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    add_new_texts()
