"""`discreet account …`: what a person reads, what a program reads, and what is refused."""

import io
import json
import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from command_line import options_of
from discreet import accounting
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
    loss_from_text,
    loss_to_text,
)
from discreet.cli import main
from discreet.cli.account.composition_table import Contest, compare_theorems, find_tightest
from discreet.cli.account.loss_syntax import KINDS, read_loss
from discreet.cli.account.picture_data import CurveSeries, PlotLine, Span, sensible_epsilons, winners
from discreet.cli.commands.account import VERBS, account_command
from discreet.cli.commands.account.epsilon import epsilon_command
from discreet.cli.console import write
from discreet.cli.formatting import factor, format_exact
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import Misspelt, as_json, error_text
from discreet.core import DiscreetError, InvalidInput, Sensitivity
from discreet.core.exact import text_down, text_up
from loss_strategies import WIDE, losses

#: What `run` and `facts` say before all else.
ROOM = ("account",)
ROOT = Path(__file__).resolve().parents[2]
STEPS = "subsampled(gaussian(1), 0.01) x 10000"

#: One call of each verb, short enough for every test; those without a picture.
CALLS = {
    "epsilon": ["epsilon", "pure(0.1) x 10"],
    "delta": ["delta", "gaussian(2)", "--epsilon", "1"],
    "curve": ["curve", "gaussian(2)", "--epsilons", "0", "1"],
    "noise": ["noise", "gaussian", "--rho", "0.5"],
    "times": ["times", "pure(0.1)", "--epsilon", "1"],
    "compare": ["compare", "--epsilon", "0.1", "--times", "100", "--delta", "1e-6"],
    "means": ["means", "--epsilon", "1"],
}


# What a person reads.

PERSON = {
    "epsilon": """\
epsilon     1 at δ = 0
neighbours  those that the sensitivities were stated for

In words: the probability of any event on one of two neighbouring tables is at most
2.72 times that on the other.
""",
    "delta": """\
delta       0.0068296 at ε = 1
neighbours  those that the sensitivities were stated for

In words: the probability of any event on one of two neighbouring tables is at most
2.72 times that on the other, plus 0.0068296.
""",
    "curve": """\
epsilon  delta
0        0.197413
1        0.0068296

neighbours  those that the sensitivities were stated for
""",
    "noise": """\
least sigma  1 (standard deviation)
loss         gaussian(sigma=1)
promises     ρ = 0.5
neighbours   those that the sensitivities were stated for
""",
    "times": """\
10 fit       ε = 1 at δ = 0
11 would be  ε = 1.1 at δ = 0
neighbours   those that the sensitivities were stated for

For releases fixed beforehand. A session that chooses as it goes needs a privacy filter.
""",
    "compare": """\
100 mechanisms of ε = 0.1 each; together, at δ = 1e-06:

theorem            epsilon
basic              10
advanced           6.30824
advanced, sharper  5.75611
zCDP               5.22154
optimal            4.77457  least

If the noise is known to be Laplace noise, ε is 4.69…
""",
    "means": """\
ε = 1, δ = 0. An observer suspects that a person is in the table:

belief before  after, at most
1 %            2.673 %
10 %           23.2 %
50 %           73.11 %

a test that accuses wrongly  finds at most
0.1 %                        0.2719 %
1 %                          2.719 %
10 %                         27.19 %

In or out, by a fair coin: guessed right with probability at most 73.11 %.
Odds change by a factor of at most 2.72, whatever the output.
""",
}


@pytest.mark.parametrize("verb", PERSON)
def test_a_person_reads_this(run, verb):
    status, out, err = run(*CALLS[verb])
    # Laplace noise many times over is bracketed, not closed: its last digits are the grid's.
    assert (status, re.sub(r"4\.69[0-9]+\.", "4.69…", out), err) == (0, PERSON[verb], "")


def test_a_bracket_tells_both_ends(run):
    status, out, _ = run("epsilon", STEPS, "--delta", "1e-5", "--bracket")
    found = re.search(r"epsilon +([0-9.]+) at δ = 1e-05\nat least +([0-9.]+): less would be false", out)
    assert status == 0
    # The true ε lies in [6.1857, 6.1877], by other accountants.
    assert 6.185 < float(found[2]) <= float(found[1]) < 6.19


def test_a_loss_that_is_tied_to_neighbours_says_so(run):
    assert "add/remove: one of the two tables" in run("epsilon", "subsampled(pure(1), 0.1)")[1]
    assert "replace: one person's rows" in run("epsilon", "shuffled(pure(1), 1000)", "--delta", "1e-6")[1]
    assert "and so up to 3 times, for a group" in run("epsilon", "group(pure(0.1), 3)")[1]


def test_a_bound_that_is_not_known_is_not_shown_as_one(run):
    assert "none is known" in run("epsilon", "zcdp(0.1)", "--delta", "1e-6", "--bracket")[1]


def test_no_promise_is_told_as_none(run):
    status, out, _ = run("epsilon", "gaussian(1)")
    assert (status, out.splitlines()[0]) == (0, "epsilon     ∞ at δ = 0")
    assert "try --delta 1e-9" in out
    assert "there is no guarantee" in run("delta", "approximate(2, 0.9) x 1000", "--epsilon", "1")[1]


def test_perfect_privacy_is_told_in_words(run):
    assert "every event has the same probability" in run("epsilon", "composed()")[1]


@pytest.mark.parametrize("number", [1.0, 2.67, 1 / 3, 1e-9, 6.189661466876336, 1e300, 0.1 + 0.2, 0.0])
def test_a_number_that_is_shown_is_on_the_safe_side(number):
    assert Fraction(text_down(number)) <= Fraction(repr(number)) <= Fraction(text_up(number))
    assert float(text_up(number)) <= number * (1 + 1e-5)


def test_the_factor_is_not_below_e_to_the_epsilon():
    assert factor(1.0) == "2.72"
    assert float(factor(2.5)) >= math.exp(2.5)
    assert factor(31.25) == "e^31.25"


def test_an_exact_number_can_be_typed_again():
    for number in (Fraction(1, 3), Fraction(47129, 20000), Fraction(5), Fraction(1, 2**30)):
        assert read_number(format_exact(number), "it") == number


# What a program reads.

KEYS = {
    "epsilon": "loss neighbours epsilon epsilon_infinite epsilon_lower delta delta_exact people",
    "delta": "loss neighbours epsilon epsilon_exact delta delta_lower people",
    "curve": "loss neighbours points picture",
    "noise": "kind parameter noise noise_exact target_epsilon target_epsilon_exact target_delta target_delta_exact "
    "target_rho target_rho_exact epsilon rho rho_exact people loss neighbours",
    "times": "times target_epsilon target_epsilon_exact target_delta target_delta_exact target_rho target_rho_exact "
    "epsilon rho rho_exact people loss neighbours",
    "compare": "each_epsilon each_epsilon_exact each_delta each_delta_exact times delta delta_exact people theorems "
    "least laplace_epsilon",
    "means": "epsilon epsilon_exact delta delta_exact people beliefs tests advantage_at_most",
}


@pytest.mark.parametrize("verb", KEYS)
def test_the_keys_of_an_object_are_pinned(facts, verb):
    assert list(facts(*CALLS[verb])) == ["version", "verb", *KEYS[verb].split()]


def test_a_program_reads_this(run):
    assert (
        run("epsilon", "pure(0.1) x 10", "--people", "1", "--delta", "0", "--json")[1]
        == """\
{
  "version": 1,
  "verb": "epsilon",
  "loss": "loss/1 repeated(pure(epsilon=1/10), times=10)",
  "neighbours": null,
  "epsilon": 1.0,
  "epsilon_infinite": false,
  "epsilon_lower": null,
  "delta": 0.0,
  "delta_exact": "0",
  "people": 1
}
"""
    )


def test_the_numbers_are_the_librarys(facts):
    loss = Repeated(Subsampled(GaussianNoise(1), 0.01), 10_000)
    found = facts("epsilon", STEPS, "--delta", "1e-5")
    assert found["epsilon"] == accounting.epsilon(loss, 1e-5)
    assert loss_from_text(found["loss"]) == loss
    assert found["neighbours"] == "add/remove"
    both = accounting.bracket(LaplaceNoise(2), 1e-5)
    found = facts("epsilon", "laplace(2)", "--delta", "1e-5", "--bracket")
    assert (found["epsilon_lower"], found["epsilon"]) == (both.lower, both.upper)
    assert facts("delta", "gaussian(2)", "--epsilon", "1")["delta"] == accounting.delta(GaussianNoise(2), 1)


def test_a_curve_is_the_librarys_at_every_point(facts):
    points = facts("curve", "laplace(2) x 3", "--epsilons", "0", "1/3", "1", "--bracket")["points"]
    loss = Repeated(LaplaceNoise(2), 3)
    assert [point["epsilon_exact"] for point in points] == ["0", "1/3", "1"]
    for point, target in zip(points, (0, Fraction(1, 3), 1), strict=True):
        both = accounting.bracket_delta(loss, target)
        assert (point["delta_lower"], point["delta"]) == (both.lower, both.upper)


def test_infinity_is_null_with_a_flag(facts):
    found = facts("epsilon", "gaussian(1)")
    assert (found["epsilon"], found["epsilon_infinite"]) == (None, True)
    named = {one["name"]: one for one in facts("compare", "--epsilon", "1", "--times", "2")["theorems"]}
    assert named["advanced"]["epsilon_infinite"]
    assert named["basic"]["epsilon"] == 2


def test_what_is_no_json_cannot_be_printed():
    with pytest.raises(ValueError, match="JSON"):
        as_json({"epsilon": math.inf})


def test_a_target_comes_back_exactly(facts):
    found = facts("times", "zcdp(0.1)", "--rho", "1/3")
    assert (found["target_rho_exact"], found["times"]) == ("1/3", 3)
    assert (found["rho_exact"], found["epsilon"]) == ("3/10", None)
    assert found["target_epsilon"] is None
    assert found["target_delta"] is None


def test_a_kind_of_which_none_fits_promises_nothing(facts, run):
    found = facts("times", "gaussian(1)", "--epsilon", "1")
    assert (found["times"], found["epsilon"]) == (0, None)
    assert "none fits" in run("times", "gaussian(1)", "--epsilon", "1")[1]


# How much noise.

TARGET = ["--epsilon", "2", "--delta", "1e-6"]


@pytest.mark.parametrize("kind", ["gaussian", "laplace", "discrete-gaussian", "discrete-laplace"])
@pytest.mark.parametrize("more", [[], ["--times", "7"], ["--rate", "0.1", "--times", "20"], ["--sensitivity", "3"]])
def test_the_least_noise_keeps_the_target_and_less_does_not(facts, kind, more):
    found = facts("noise", kind, *TARGET, *more)
    assert accounting.epsilon(loss_from_text(found["loss"]), 1e-6) == found["epsilon"] <= 2
    # Searched to one part in 10⁴; in one part in 10³ a grid's rounding cannot matter.
    less = Fraction(found["noise_exact"]) * Fraction(999, 1000)
    spelt = f"{kind.replace('-', '_')}({less}, {3 if '--sensitivity' in more else 1})"
    lot = f"subsampled({spelt}, 0.1)" if "--rate" in more else spelt
    times = {0: 1, 2: 7 if "--times" in more else 1, 4: 20}[len(more)]
    assert accounting.epsilon(read_loss(f"{lot} x {times}"), 1e-6) > 2


def test_the_loss_that_is_shown_can_be_pasted_back(run, facts):
    words = ["noise", "laplace", "--epsilon", "1", "--rate", "0.1", "--sampling", "without-replacement"]
    shown = re.search(r"^loss +(.*)$", run(*words, "--sensitivity", "1/3", "--times", "4")[1], re.MULTILINE)[1]
    found = facts(*words, "--sensitivity", "1/3", "--times", "4")
    assert loss_to_text(read_loss(shown)) == found["loss"]
    assert found["neighbours"] == "replace"


# Which theorem, and what it means.


def test_the_optimal_theorem_is_never_beaten():
    for times in (1, 5, 30, 300):
        for each in (Fraction(0), Fraction(1, 10**9)):
            found = compare_theorems(Contest(Fraction(1, 10), each, times, Fraction(1, 10**6)))
            assert found["optimal"] == min(found.values())


def test_each_theorem_is_the_librarys():
    found = compare_theorems(Contest(Fraction(1, 10), Fraction(1, 10**9), 50, Fraction(1, 10**6)))
    slack = Fraction(1, 10**6) - 50 * Fraction(1, 10**9)
    assert found == {
        "basic": 5.0,
        "advanced": accounting.advanced_composition(0.1, 1e-9, 50, slack).epsilon,
        "advanced, sharper": accounting.advanced_composition_sharp(0.1, 1e-9, 50, slack).epsilon,
        "zCDP": accounting.epsilon(Repeated(Concentrated(0.005, 1e-9), 50), 1e-6),
        "optimal": accounting.optimal_epsilon(0.1, 1e-9, 50, 1e-6),
    }


def test_a_total_below_the_mechanisms_own_deltas_promises_nothing(facts):
    found = facts("compare", "--epsilon", "0.1", "--each-delta", "1e-6", "--times", "10", "--delta", "1e-9")
    assert found["least"] is None
    assert all(one["epsilon_infinite"] for one in found["theorems"])
    assert found["laplace_epsilon"] is None


def test_of_equals_the_simplest_wins():
    assert find_tightest(compare_theorems(Contest(Fraction(1, 10), Fraction(0), 1, Fraction(0)))) == "basic"


def test_the_spans_of_the_winners_meet_where_they_change():
    spans = winners(Fraction(1, 10), Fraction(1, 10**6), 1000)
    assert [span.name for span in spans] == ["basic", "zCDP"]
    last, first = spans[0].last, spans[1].first
    for count, name in ((last, "basic"), (first, "zCDP")):
        found = compare_theorems(Contest(Fraction(1, 10), Fraction(0), count, Fraction(1, 10**6)))
        assert find_tightest({one: found[one] for one in ("basic", "advanced", "zCDP")}) == name


def test_beliefs_and_tests_are_the_librarys(facts):
    found = facts("means", "--epsilon", "2", "--delta", "1e-5", "--priors", "0.2", "--false-alarms", "0", "0.05")
    assert found["beliefs"] == [{"before": 0.2, "after_at_most": accounting.posterior(0.2, 2, 1e-5)}]
    assert [one["found_at_most"] for one in found["tests"]] == [accounting.power(rate, 2, 1e-5) for rate in (0, 0.05)]
    assert found["advantage_at_most"] == accounting.advantage(2, 1e-5)


def test_with_a_delta_beliefs_are_bounded_on_average_and_odds_not_at_all(run):
    out = run("means", "--epsilon", "1", "--delta", "1e-6")[1]
    assert "on average over the outputs" in out
    assert "Odds" not in out


# The people behind a δ.


@pytest.mark.parametrize(
    "words",
    [
        ["epsilon", "gaussian(1)"],
        ["noise", "gaussian", "--epsilon", "1"],
        ["times", "gaussian(9)", "--epsilon", "1"],
        ["compare", "--epsilon", "0.1", "--times", "9"],
        ["means", "--epsilon", "1"],
    ],
)
def test_a_delta_that_is_not_far_below_one_in_the_people_is_refused(run, words):
    status, out, err = run(*words, "--delta", "1e-5", "--people", "100000")
    assert (status, out) == (2, "")
    assert "is not far below 1/n for n = 100000 people" in err
    assert "fix: pass --delta 3.1e-06" in err
    assert run(*words, "--delta", "1e-9", "--people", "100000")[0] == 0


def test_people_alone_choose_the_delta_that_is_advised(facts):
    found = facts("epsilon", "gaussian(1)", "--people", "1e6")
    assert (found["delta"], found["people"]) == (2.5e-7, 10**6)
    assert Fraction(found["delta_exact"]) <= Fraction(accounting.advised_delta(10**6))


def test_a_delta_that_comes_out_too_large_for_the_people_is_refused_with_the_epsilon_to_ask_at(run):
    status, _, err = run("delta", "gaussian(1)", "--epsilon", "1", "--people", "1e6")
    assert (status, "not far below 1/n" in err) == (2, True)
    enough = re.search(r"ask at ε = ([0-9.]+) or more", err)[1]
    assert run("delta", "gaussian(1)", "--epsilon", enough, "--people", "1e6")[0] == 0
    assert run("delta", "approximate(1, 0.5)", "--epsilon", "2", "--people", "10")[0] == 2


def test_a_tiny_answer_is_an_answer(run):
    assert run("epsilon", "group(laplace(1e100), 1) + laplace(1e99)")[0] == 0
    assert run("delta", "gaussian(1)", "--epsilon", "40", "--people", "1e6")[0] == 0
    assert run("delta", "pure(1e-100)", "--epsilon", "0")[0] == 0


# How a loss is written.

SPELLINGS = {
    "pure(0.1)": Pure(0.1),
    " pure ( epsilon = .1 ) ": Pure(0.1),
    "approximate(0.1, 1e-8)": Approximate(0.1, 1e-8),
    "approximate(delta=1e-8, epsilon=1/10)": Approximate(0.1, 1e-8),
    "bounded_range(1)": BoundedRange(1),
    "exponential(1)": BoundedRange(1),
    "zcdp(0.1)": Concentrated(0.1),
    "concentrated(0.1, 1E-9)": Concentrated(0.1, 1e-9),
    "renyi([2: 0.1, 8: 0.5])": Renyi([(2, 0.1), (8, 0.5)]),
    "renyi(curve = [8:0.5,2:0.1])": Renyi([(2, 0.1), (8, 0.5)]),
    "gdp(0.5)": GaussianDP(0.5),
    "gaussian(sigma=1)": GaussianNoise(1),
    "gaussian(1, 2)": GaussianNoise(1, 2),
    "gaussian(1, sensitivity=2)": GaussianNoise(1, 2),
    "laplace(scale=10)": LaplaceNoise(10),
    "discrete_laplace(10, 3)": DiscreteLaplaceNoise(10, 3),
    "discrete_gaussian(3/2)": DiscreteGaussianNoise(Fraction(9, 4), Sensitivity.box(l0=1, linf=1)),
    "discrete_gaussian(10, sensitivity=4)": DiscreteGaussianNoise(100, Sensitivity.box(l0=1, linf=4)),
    "randomised_response(3/4)": RandomisedResponse(0.75),
    "randomised_response(0.5, 4)": RandomisedResponse(0.5, 4),
    "dominating_pair([1/3, 2/3], [0.5, 0.5])": DominatingPair([Fraction(1, 3), Fraction(2, 3)], [0.5, 0.5]),
    "gaussian(1) x 10_000": Repeated(GaussianNoise(1), 10_000),
    "gaussian(1)x1e4": Repeated(GaussianNoise(1), 10_000),
    "gaussian(1) * 3 x 2": Repeated(Repeated(GaussianNoise(1), 3), 2),
    "repeated(gaussian(1), 10)": Repeated(GaussianNoise(1), 10),
    "pure(1) + pure(2) x 3": Composed([Pure(1), Repeated(Pure(2), 3)]),
    "(pure(1) + pure(2)) x 3": Repeated(Composed([Pure(1), Pure(2)]), 3),
    "((pure(1)))": Pure(1),
    "composed()": Composed([]),
    "composed(pure(1), pure(2) + pure(3))": Composed([Pure(1), Composed([Pure(2), Pure(3)])]),
    "parallel(pure(1), pure(2))": Parallel([Pure(1), Pure(2)]),
    "group(pure(0.1), 4)": Group(Pure(0.1), 4),
    "subsampled(gaussian(1), 0.01)": Subsampled(GaussianNoise(1), 0.01),
    "subsampled(gaussian(1), rate=256/60000, sampling=without_replacement)": Subsampled(
        GaussianNoise(1), Fraction(256, 60000), Sampling.WITHOUT_REPLACEMENT
    ),
    "subsampled(pure(1) x 2, 0.1)\n": Subsampled(Repeated(Pure(1), 2), 0.1),
    "shuffled(pure(1), 10000)": Shuffled(Pure(1), 10_000),
    " loss/1 pure(epsilon=1/10)\n": Pure(0.1),
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_spelling_means_this_loss(text):
    assert read_loss(text) == SPELLINGS[text]


def test_every_kind_can_be_spelt_as_its_example_shows():
    for name, kind in KINDS.items():
        read_loss(kind.example)
        assert kind.example.split("(")[0] in KINDS, name


@given(losses(WIDE))
@settings(max_examples=60, deadline=None)
def test_a_canonical_text_is_read_whole_or_without_its_head(loss):
    text = loss_to_text(loss)
    assert read_loss(text) == loss
    if len(text) < 50_000:
        assert read_loss(text.removeprefix("loss/1 ")) == loss


def test_a_loss_may_come_from_standard_input(monkeypatch, facts, run):
    monkeypatch.setattr(sys, "stdin", io.StringIO("pure(0.1)\n x 10\n"))
    assert facts("epsilon", "-")["epsilon"] == 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), encoding="utf-8"))
    assert run("epsilon", "-")[0] == 2


# What is refused.

#: The words, the character that is pointed at (None: no loss is to blame), and part of the reason.
BAD = [
    (["epsilon", ""], 1, "The name of a loss"),
    (["epsilon", "   "], 4, "The name of a loss"),
    (["epsilon", "100 x gaussian(1)"], 1, "The name of a loss"),
    (["epsilon", "pure(1) + gausian(1)"], 11, "No kind of loss"),
    (["epsilon", "Pure(1)"], 1, "No kind of loss"),
    (["epsilon", "pure"], 5, "'(' is wanted"),
    (["epsilon", "pure(1"], 7, "',' or ')' is wanted"),
    (["epsilon", "pure(1))"], 8, "The end"),
    (["epsilon", "pure(1) pure(1)"], 9, "The end"),
    (["epsilon", "pure(1) xpure(1)"], 9, "The end"),
    (["epsilon", "(pure(1)"], 9, "')' is wanted"),
    (["epsilon", "pure()"], 6, "epsilon is missing"),
    (["epsilon", "pure(,)"], 6, "A number for epsilon"),
    (["epsilon", "gaussian(1,)"], 12, "A number for sensitivity"),
    (["epsilon", "gaussian(1, 1, 1)"], 16, "No such field"),
    (["epsilon", "gaussian(variance=1)"], 10, "No such field"),
    (["epsilon", "gaussian(sigma=1, sigma=2)"], 19, "no second one"),
    (["epsilon", "gaussian(sensitivity=1, 2)"], 25, "No such field"),
    (["epsilon", "pure(-1)"], 6, "A number for epsilon"),
    (["epsilon", "pure(inf)"], 6, "A number for epsilon"),
    (["epsilon", "pure(nan)"], 6, "A number for epsilon"),
    (["epsilon", "pure(١)"], 6, "A number for epsilon"),
    (["epsilon", "pure(pure(1))"], 6, "A number for epsilon"),
    (["epsilon", "pure(0)"], 1, "epsilon must be above 0"),
    (["epsilon", "pure(1/0)"], 6, "denominator of 0"),
    (["epsilon", "pure(1e9999999999)"], 6, "too many digits"),
    (["epsilon", f"pure(1{'0' * 2000})"], 6, "too many digits"),
    (["epsilon", "pure(1e101)"], 1, "beyond the range"),
    (["epsilon", "pure(1) x 0"], 1, "times must be at least 1"),
    (["epsilon", "pure(1) x 1.5"], 11, "A whole number"),
    (["epsilon", "pure(1) x"], 10, "A number for the number after 'x'"),
    (["epsilon", "discrete_laplace(1, 0.5)"], 21, "A whole number"),
    (["epsilon", "randomised_response(0.1)"], 1, "less often than each lie"),
    (["epsilon", "subsampled(pure(1), 2)"], 1, "at most 1"),
    (["epsilon", "subsampled(pure(1), 0.1, cyclic)"], 26, "A way of sampling"),
    (["epsilon", "subsampled(0.1, pure(1))"], 12, "The name of a loss"),
    (["epsilon", "shuffled(gaussian(1), 100)"], 1, "purely private"),
    (["epsilon", "pure(1) + (parallel(pure(1)) + shuffled(pure(1), 9))"], 12, "different neighbours"),
    (["epsilon", "renyi([1: 1])"], 1, "order must be above 1"),
    (["epsilon", "renyi([2, 1])"], 9, "':' is wanted"),
    (["epsilon", "dominating_pair([0.5, 0.4], [0.5, 0.5])"], 1, "not a distribution"),
    (["epsilon", "(" * 1000], 65, "No more than 64"),
    (["epsilon", "pure(1)" + " x 1" * 70], 1, "nested more than 64 deep"),
    (["epsilon", "pure(1)+" * 20_000], None, "more than 100000 characters"),
    (["epsilon", "\x1b[31mpure(1)"], 1, "The name of a loss"),
    (["epsilon", "pure(1)\udcff"], 8, "The end"),
    (["epsilon", "loss/2 pure(epsilon=1)"], None, "version 2"),
    (["epsilon", "loss/1 pure(epsilon=0.1)"], None, "goes astray"),
    (["epsilon", "pure(1)", "--delta", "-1"], None, "--delta is not a number"),
    (["epsilon", "pure(1)", "--delta", "1"], None, "--delta must lie in [0, 1)"),
    (["epsilon", "pure(1)", "--delta", "1e-101"], None, "--delta is beyond"),
    (["epsilon", "pure(1)", "--people", "0"], None, "people must be at least 1"),
    (["epsilon", "pure(1)", "--people", "1.5"], None, "--people is not a whole number"),
    (["epsilon", "pure(1)", "pure(1)"], None, "unexpected extra argument (pure(1))"),
    (["epsilon", "pure(1)", "--del", "0"], None, "no option --del"),
    (["epsilon"], None, "LOSS"),
    (["delta", "pure(1)"], None, "--epsilon"),
    (["delta", "pure(1)", "--epsilon", "x"], None, "--epsilon is not a number"),
    (["curve", "pure(1)", "--epsilons", "1", "x"], None, "--epsilons is not a number"),
    (["curve", "pure(1)", "--picture", "curve.jpg"], None, "neither a .png nor a .svg"),
    (["noise", "uniform", "--epsilon", "1"], None, "uniform"),
    (["noise", "gaussian"], None, "--epsilon or --rho"),
    (["noise", "gaussian", "--epsilon", "1"], None, "no ε at δ = 0"),
    (["noise", "discrete-gaussian", "--epsilon", "1"], None, "no ε at δ = 0"),
    (["noise", "gaussian", "--epsilon", "0", "--delta", "1e-6"], None, "--epsilon must be above 0"),
    (["noise", "gaussian", "--epsilon", "1", "--rho", "1"], None, "not allowed with"),
    (["noise", "gaussian", "--rho", "1", "--delta", "1e-6"], None, "A ρ has no δ"),
    (["noise", "gaussian", "--rho", "1", "--people", "10"], None, "A ρ has no δ"),
    (["noise", "laplace", "--epsilon", "1", "--rate", "2"], None, "--rate must be at most 1"),
    (["noise", "laplace", "--epsilon", "1", "--times", "0"], None, "--times must be at least 1"),
    (["noise", "laplace", "--epsilon", "1", "--sensitivity", "0"], None, "--sensitivity must be above 0"),
    (["noise", "discrete-laplace", "--epsilon", "1", "--sensitivity", "1.5"], None, "must be whole"),
    (["times", "pure(1)"], None, "--epsilon or --rho"),
    (["times", "renyi([2: 0.1])", "--rho", "1"], None, "no ρ of its own"),
    (["times", "composed()", "--epsilon", "1"], None, "More than a billion"),
    (["compare", "--epsilon", "0", "--times", "3"], None, "--epsilon must be above 0"),
    (["compare", "--epsilon", "1", "--times", "0"], None, "--times must be at least 1"),
    (["compare", "--epsilon", "1", "--times", "3", "--each-delta", "1"], None, "delta lie in [0, 1)"),
    (["compare", "--epsilon", "1", "--times", "1e9"], None, "times must be at most"),
    (["means", "--epsilon", "1", "--priors", "1"], None, "--priors must lie strictly between"),
    (["means", "--epsilon", "1", "--false-alarms", "2"], None, "must lie in [0, 1]"),
    (["picture", "noise", "noise.png", "--times", "1"], None, "--times must be at least 2"),
    (["picture", "theorems", "theorems.png", "--delta", "0"], None, "--delta must lie strictly"),
    (["picture", "curve", "no/such/directory/curve.png", "pure(1)"], None, "cannot be written"),
    (["picture", "curve", "curve\0.png", "pure(1)"], None, "cannot be written"),
    (["picture", "theorems", "theorems.png", "--epsilon", "0"], None, "from 1e-06 to 20"),
    (["picture", "theorems", "theorems.png", "--epsilon", "700"], None, "from 1e-06 to 20"),
    (["picture", "sky", "sky.png"], None, "sky"),
    (["spend"], None, "spend"),
    ([], None, "VERB"),
]


@pytest.mark.parametrize(("words", "character", "reason"), BAD, ids=lambda value: ascii(value)[:60])
def test_bad_input_is_refused_with_its_reason_and_a_fix(run, words, character, reason):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert reason in err
    assert re.search(r"\n  fix: .", err)
    assert "Traceback" not in err
    assert all(sign.isprintable() or sign == "\n" for sign in err)
    status, out, err = run(*words, "--json")
    if "picture" not in words and words:
        assert (status, out) == (2, "")
        error = json.loads(err)["error"]
        assert reason in error["problem"]
        assert error["fix"]
        assert error["character"] == character


def test_the_mark_stands_below_the_place(run):
    lines = run("epsilon", "laplace(10) x 52 + gausian(5)")[2].splitlines()
    assert lines[1][lines[2].index("^") :].startswith("gausian(5)")
    lines = run("epsilon", "pure(1) + " * 50 + "gausian(5) + " + "pure(1) + " * 50 + "pure(1)")[2].splitlines()
    assert lines[1][lines[2].index("^") :].startswith("gausian(5)")
    assert max(map(len, lines[1:3])) < 100
    assert "did you mean gaussian?" in lines[3]


def test_what_would_command_a_terminal_is_not_repeated():
    shown = error_text(Misspelt("It goes astray.", fix="mend it", text="\x1b[2J\x9b\u202e", at=1))
    assert "?[2J??" in shown
    assert shown.isprintable() is False
    assert set(shown) <= {chr(code) for code in range(32, 127)} | {"\n"}


def refused(text):
    """Read a text; return its refusal, if it is refused as it should be."""
    try:
        read_loss(text)
    except DiscreetError as error:
        return error
    return None


PIECES = st.sampled_from(
    [
        "pure(",
        "gaussian(",
        "x",
        "*",
        "+",
        "(",
        ")",
        "[",
        "]",
        ",",
        "=",
        ":",
        "/",
        "1",
        "0.1",
        "1e-9",
        "sigma",
        "loss/1 ",
        " ",
    ]
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join)))
@example("pure(1)" * 10)
@example("[" * 5000)
@settings(max_examples=400, deadline=None)
def test_a_hostile_text_is_read_or_refused_and_nothing_else(text):
    refusal = refused(text)
    assert refusal is None or (refusal.problem and refusal.fix)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_text_is_read_or_refused_and_nothing_else(data):
    text = data.draw(st.sampled_from(list(SPELLINGS)))
    at = data.draw(st.integers(0, len(text)))
    length = data.draw(st.integers(0, 3))
    damaged = text[:at] + data.draw(st.text(max_size=3)) + text[at + length :]
    refusal = refused(damaged)
    assert not isinstance(refusal, Misspelt) or 0 <= refusal.at <= len(damaged)


@pytest.mark.parametrize(
    "text", ["", " ", "+1", "-1", "1 ", "0x10", "1e", "1_", "_1", "1__0", "1/", "/1", "1/2/3", "½", "1,5"]
)
def test_what_is_no_number_is_refused(text):
    with pytest.raises(InvalidInput):
        read_number(text, "it")


@pytest.mark.parametrize(("text", "number"), [("1e4", 10_000), ("10_000", 10_000), ("6/3", 2), ("2.0", 2)])
def test_a_whole_number_may_be_written_in_several_ways(text, number):
    assert read_whole(text, "it") == number


# The command as a process.


def test_help_comes_without_numpy_or_the_accounting_room():
    code = (
        "import sys; from discreet.cli import main; print(main(['account', '--help']));"
        "print(main(['account', 'epsilon', '--help'])); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert not {"numpy", "matplotlib", "discreet.accounting"} & set(loaded)
    assert "gaussian(sigma=1)" in done.stdout


def test_the_package_runs_as_a_module():
    words = ["-m", "discreet", "account", "epsilon", "pure(0.1)", "--json"]
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["epsilon"] == 0.1
    done = subprocess.run([sys.executable, *words[:4], "pure("], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


def test_help_and_version_are_answers(run, capsys):
    assert run("--help")[0] == 0
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("discreet ")


def test_a_terminal_without_greek_reads_the_words():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    write(stream, "ε = ∞ at δ = 0, Rényi 漢 \udcff")
    assert raw.getvalue() == b"epsilon = infinite at delta = 0, Renyi ? ?\n"


def test_a_fault_is_told_as_one_and_not_as_a_stack(monkeypatch, run):
    def broken(**_):
        raise OverflowError("secret")

    monkeypatch.setattr(epsilon_command, "callback", broken)
    status, out, err = run("epsilon", "pure(1)")
    assert (status, out) == (1, "")
    assert "discreet failed on this input (OverflowError)" in err
    assert "secret" not in err
    assert json.loads(run("epsilon", "pure(1)", "--json")[2])["error"]["kind"] == "Fault"


def test_an_interruption_is_one_sentence_and_no_traceback(monkeypatch, run):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(epsilon_command, "callback", interrupted)
    status, out, err = run("epsilon", "pure(1)")
    assert (status, out) == (130, "")
    assert err.startswith("error: Interrupted.\n  fix: ")
    assert len(err.splitlines()) == 2


# Pictures.


def test_pictures_without_matplotlib_are_refused_with_the_extra_to_install(monkeypatch, run, tmp_path):
    monkeypatch.delitem(sys.modules, "discreet.cli.account.pictures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, _, err = run("picture", "curve", str(tmp_path / "curve.png"), "pure(1)")
    assert status == 2
    assert "pip install 'discreet[plot]'" in err


def test_the_same_numbers_give_the_same_file(tmp_path):
    from discreet.cli.account import pictures

    lines = [PlotLine("optimal", (1, 10, 100), (0.1, 1, 5)), PlotLine("basic", (1, 10, 100), (0.1, 1, 10))]
    noise = [PlotLine("Laplace, exact", (0.1, 1), (14, 1.4)), PlotLine("Gaussian, exact", (0.1, 1), (36, 4))]
    curve = CurveSeries((0.0, 1.0, 2.0, 3.0), (0.5, 0.1, 1e-3, 0.0), (0.4, 0.09, 0.0, 0.0))
    drawn = []
    for turn in ("first", "second"):
        paths = [tmp_path / f"{turn}-{name}" for name in ("curve.svg", "noise.png", "theorems.png")]
        pictures.draw_curve(paths[0], curve, "a $ loss")
        pictures.draw_noise(paths[1], [("one", noise)], "noise")
        pictures.draw_theorems(paths[2], lines, [Span("basic", 1, 20), Span("zCDP", 21, 100)], "theorems")
        drawn.append([path.read_bytes() for path in paths])
    assert drawn[0] == drawn[1]
    assert all(len(picture) > 5000 for picture in drawn[0])


def test_a_curve_is_drawn_beside_its_table_and_by_itself(facts, run, tmp_path):
    file = tmp_path / "curve.png"
    found = facts("curve", "gaussian(2)", "--epsilons", "1", "--picture", str(file))
    assert found["picture"] == str(file)
    first = file.read_bytes()
    assert first.startswith(b"\x89PNG")
    assert facts("picture", "curve", str(file), "gaussian(2)") == {
        "version": 1, "verb": "picture", "picture": "curve", "file": str(file),
    }  # fmt: skip
    assert file.read_bytes() == first
    assert run("curve", "zcdp(0.1)", "--epsilons", "1", "--picture", str(file))[1].endswith(f"picture: {file}\n")


def test_theorems_that_promise_everything_are_drawn_all_the_same(run, tmp_path):
    """At δ = 1/2 the optimal ε is 0, of which nothing is a multiple."""
    file = tmp_path / "theorems.svg"
    assert run("picture", "theorems", str(file), "--times", "3", "--delta", "0.5")[0] == 0
    assert file.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize("text", ["gaussian(2)", "pure(1)", "approximate(1, 0.01)", "composed()", "laplace(1e9)"])
def test_the_numbers_chosen_for_a_curve_are_round_and_reach_its_end(text):
    loss = read_loss(text)
    chosen = sensible_epsilons(loss, 8)
    assert chosen[0] == 0
    assert 2 <= len(chosen) <= 10
    step = chosen[1]
    assert f"{float(step):e}"[0] in "125"
    if text not in ("approximate(1, 0.01)", "composed()"):
        assert accounting.delta(loss, chosen[-1]) <= 1e-12


# The page.


def test_the_page_shows_every_verb_every_option_and_every_key():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"`{verb}`" not in page] == []
    assert {option for option in options_of(account_command) if option not in page} <= {"--help"}
    keys = {key for listed in KEYS.values() for key in listed.split()} - {"name"}
    shortened = {key for key in keys if key.endswith("_exact") and key.startswith(("target_", "each_"))}
    assert [key for key in sorted(keys - shortened) if f"`{key}`" not in page] == []
