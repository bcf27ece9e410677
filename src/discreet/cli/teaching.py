"""The verbs for whoever learns: which composition theorem wins, and what an ε means to a person."""

from argparse import Namespace
from fractions import Fraction

from discreet.accounting import LaplaceNoise, Repeated, advantage, posterior, power
from discreet.accounting import epsilon as epsilon_of_loss
from discreet.cli.answers import Answer, Fact, bound, exactly
from discreet.cli.contest import Contest, results, winner
from discreet.cli.typed import read_number, read_whole
from discreet.cli.wanted import delta_facts, delta_of, epsilon_of, people_of
from discreet.cli.words import columns, factor, percent, shown
from discreet.core import exact, positive, probability, round_up, whole
from discreet.core.exact import text_up


def answer_compare(arguments: Namespace) -> Answer:
    """Answer what the composition theorems say of so many mechanisms."""
    contest = Contest(
        positive(epsilon_of(arguments), "--epsilon"),
        exact(read_number(arguments.each_delta, "--each-delta"), "--each-delta"),
        whole(read_whole(arguments.times, "--times"), "--times"),
        delta_of(arguments),
    )
    found = results(contest)
    best = winner(found)
    laplace = (
        None
        if contest.each_delta
        else epsilon_of_loss(Repeated(LaplaceNoise(1 / contest.epsilon), contest.times), contest.delta)
    )
    facts: dict[str, Fact] = {
        **exactly("each_epsilon", contest.epsilon, round_up(contest.epsilon)),
        **exactly("each_delta", contest.each_delta, round_up(contest.each_delta)),
        "times": contest.times,
        **delta_facts(contest.delta, people_of(arguments)),
        "theorems": [{"name": name, **bound("epsilon", value)} for name, value in found.items()],
        "least": best,
        "laplace_epsilon": laplace,
    }
    return Answer("compare", facts, tuple(_told(contest, found, best, laplace)))


def _told(contest: Contest, found: dict[str, float], best: str | None, laplace: float | None) -> list[str]:
    own = f" and δ = {shown(contest.each_delta)}" if contest.each_delta else ""
    each = f"{contest.times:,} mechanisms of ε = {shown(contest.epsilon)}{own} each"
    rows = [["theorem", "epsilon", ""]]
    rows += [[name, text_up(value), "least" if name == best else ""] for name, value in found.items()]
    lines = [
        f"{each}; together, at δ = {shown(contest.delta)}:",
        "",
        *columns(rows),
    ]
    if laplace is not None:
        lines += ["", f"Whoever knows that they add Laplace noise may say {text_up(laplace)}."]
    return lines


def answer_means(arguments: Namespace) -> Answer:
    """Answer what an ε means to a person."""
    level, slack = epsilon_of(arguments), delta_of(arguments)
    priors = [probability(prior, "--priors") for prior in _rates(arguments.priors, "--priors")]
    beliefs = [(prior, posterior(prior, level, slack)) for prior in priors]
    tests = [(rate, power(rate, level, slack)) for rate in _rates(arguments.false_alarms, "--false-alarms")]
    gain = advantage(level, slack)
    facts: dict[str, Fact] = {
        **exactly("epsilon", level, round_up(level)),
        **delta_facts(slack, people_of(arguments)),
        "beliefs": [{"before": round_up(prior), "after_at_most": most} for prior, most in beliefs],
        "tests": [{"false_alarms": round_up(rate), "found_at_most": most} for rate, most in tests],
        "advantage_at_most": gain,
    }
    on_average = "" if not slack else ", on average over the outputs"
    lines = [
        f"ε = {shown(level)}, δ = {shown(slack)}. Somebody suspects that a person is in the table:",
        "",
        *columns([["belief before", f"after, at most{on_average}"], *_percents(beliefs)]),
        "",
        *columns([["a test that accuses wrongly", "finds at most"], *_percents(tests)]),
        "",
        f"In or out, by a fair coin: guessed right with probability at most {percent((1 + gain) / 2)}.",
    ]
    if not slack:
        lines.append(f"Odds change by a factor of at most {factor(round_up(level))}, whatever the output.")
    return Answer("means", facts, tuple(lines))


def _rates(texts: list[str], name: str) -> list[Fraction]:
    return [exact(read_number(text, name), name) for text in texts]


def _percents(rows: list[tuple[Fraction, float]]) -> list[list[str]]:
    return [[f"{shown(100 * before)} %", percent(after)] for before, after in rows]
