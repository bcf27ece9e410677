"""`discreet account compare` and `means`: composition theorems side by side, and what an ε means to a person."""

from discreet.cli.commands.account import delta
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import CommandOutput, Fact, bound_facts, exact_facts
from discreet.cli.parsing import Arguments, command, option
from discreet.core import exact, positive, probability, round_up, whole


@command("compare", "Which composition theorem wins for K mechanisms of (E, D) each?")
@option("--epsilon", "E", "the ε of each mechanism", required=True)
@option("--each-delta", "D", "the δ of each mechanism (0)", default="0")
@option("--times", "K", "the number of mechanisms", required=True)
@delta
def compare_command(arguments: Arguments) -> CommandOutput:
    """Answer what the composition theorems say of so many mechanisms."""
    from discreet.accounting import LaplaceNoise, Repeated
    from discreet.accounting import epsilon as epsilon_of_loss
    from discreet.cli.account.composition_table import Contest, compare_theorems, comparison_lines, find_tightest
    from discreet.cli.account.targets import delta_facts, delta_of, epsilon_of, people_of

    contest = Contest(
        positive(epsilon_of(arguments), "--epsilon"),
        exact(read_number(arguments.each_delta, "--each-delta"), "--each-delta"),
        whole(read_whole(arguments.times, "--times"), "--times"),
        delta_of(arguments),
    )
    epsilons = compare_theorems(contest)
    best = find_tightest(epsilons)
    laplace = (
        None
        if contest.each_delta
        else epsilon_of_loss(Repeated(LaplaceNoise(1 / contest.epsilon), contest.times), contest.delta)
    )
    facts: dict[str, Fact] = {
        **exact_facts("each_epsilon", contest.epsilon, round_up(contest.epsilon)),
        **exact_facts("each_delta", contest.each_delta, round_up(contest.each_delta)),
        "times": contest.times,
        **delta_facts(contest.delta, people_of(arguments)),
        "theorems": [{"name": name, **bound_facts("epsilon", value)} for name, value in epsilons.items()],
        "least": best,
        "laplace_epsilon": laplace,
    }
    return CommandOutput("compare", facts, tuple(comparison_lines(contest, epsilons, best, laplace)))


@command("means", "What does an ε mean to a person: odds, beliefs, tests.")
@option("--epsilon", "E", "the ε", required=True)
@delta
@option("--priors", "P …", "prior beliefs (0.01 0.1 0.5)", multiple=True, greedy=True, default=("0.01", "0.1", "0.5"))
@option(
    "--false-alarms",
    "F …",
    "false-positive rates of a test (0.001 0.01 0.1)",
    multiple=True,
    greedy=True,
    default=("0.001", "0.01", "0.1"),
)
def means_command(arguments: Arguments) -> CommandOutput:
    """Answer what an ε means to a person."""
    from discreet.accounting import advantage, posterior, power
    from discreet.cli.account.composition_table import percent_rows, read_rates
    from discreet.cli.account.targets import delta_facts, delta_of, epsilon_of, people_of
    from discreet.cli.formatting import columns, factor, percent, shorten

    level, slack = epsilon_of(arguments), delta_of(arguments)
    priors = [probability(prior, "--priors") for prior in read_rates(arguments.priors, "--priors")]
    beliefs = [(prior, posterior(prior, level, slack)) for prior in priors]
    tests = [(rate, power(rate, level, slack)) for rate in read_rates(arguments.false_alarms, "--false-alarms")]
    gain = advantage(level, slack)
    facts: dict[str, Fact] = {
        **exact_facts("epsilon", level, round_up(level)),
        **delta_facts(slack, people_of(arguments)),
        "beliefs": [{"before": round_up(prior), "after_at_most": most} for prior, most in beliefs],
        "tests": [{"false_alarms": round_up(rate), "found_at_most": most} for rate, most in tests],
        "advantage_at_most": gain,
    }
    on_average = "" if not slack else ", on average over the outputs"
    lines = [
        f"ε = {shorten(level)}, δ = {shorten(slack)}. An observer suspects that a person is in the table:",
        "",
        *columns([["belief before", f"after, at most{on_average}"], *percent_rows(beliefs)]),
        "",
        *columns([["a test that accuses wrongly", "finds at most"], *percent_rows(tests)]),
        "",
        f"In or out, by a fair coin: guessed right with probability at most {percent((1 + gain) / 2)}.",
    ]
    if not slack:
        lines.append(f"Odds change by a factor of at most {factor(round_up(level))}, whatever the output.")
    return CommandOutput("means", facts, tuple(lines))
