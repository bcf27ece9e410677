"""The words of the command line. Nothing heavy is imported here, so that help comes at once."""

import argparse

from discreet import __version__
from discreet.cli.anonymity_arguments import add_anonymity
from discreet.cli.ledger_arguments import add_ledger
from discreet.cli.local_arguments import add_local
from discreet.cli.market_arguments import add_market
from discreet.cli.parsers import JSON, Parser, Verbs, added, added_verb, json_option
from discreet.cli.query_arguments import add_questions
from discreet.cli.workload_arguments import add_workloads

LOSS = """\
LOSS is what one release, or a series of them, costs. Quote it, for the brackets mean something to the shell:

  gaussian(sigma=1)  laplace(scale=10)  discrete_gaussian(sigma=10)  discrete_laplace(scale=10)
  pure(0.1)  approximate(0.1, 1e-8)  zcdp(rho=0.1)  gdp(mu=0.5)  exponential(0.1)  renyi([2: 0.1, 8: 0.5])
  randomised_response(3/4)  shuffled(pure(1), 10000)
  'gaussian(10) x 100'                        a hundred times, each with fresh noise
  'laplace(10) x 10 + gaussian(5)'            several releases about the same people
  'subsampled(gaussian(1), 0.01) x 10000'     each on a fresh Poisson lot, one in a hundred
  'group(pure(0.1), 4)'  'parallel(pure(0.1), pure(0.2))'

or its canonical text, 'loss/1 …', or - to read either from standard input. Numbers are exact: 0.1 is 1/10.
"""
EXAMPLES = """\
For example:

  discreet account epsilon 'laplace(10) x 52' --people 100000            what have I promised?
  discreet account noise gaussian --epsilon 2 --delta 1e-6 --rate 0.01 --times 10000
  discreet account compare --epsilon 0.1 --times 100 --delta 1e-6        which theorem wins?
"""
START = """\
To begin:

  discreet demo                                                the whole story, on people who do not exist
  discreet init visits.parquet                                 say what is public, and who is protected
  discreet preview "SELECT COUNT(*) FROM visits" --epsilon 0.1     free
  discreet ask "SELECT COUNT(*) FROM visits" --epsilon 0.1
"""
KINDS = ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace")


def parser() -> Parser:
    """Return the parser of the whole command."""
    title = "Answers questions about people without telling on any of them."
    shape = argparse.RawDescriptionHelpFormatter
    whole = Parser(prog="discreet", description=title, allow_abbrev=False, formatter_class=shape)
    whole.add_argument("--version", action="version", version=f"discreet {__version__}")
    whole.epilog = START
    rooms = whole.add_subparsers(dest="room", required=True, metavar="COMMAND")
    add_questions(rooms)
    add_workloads(rooms)
    account = added(rooms, "account", "What a privacy loss promises, and how much noise a promise takes.")
    account.epilog = EXAMPLES
    verbs = account.add_subparsers(dest="verb", required=True, metavar="VERB")
    for add in (_epsilon, _delta, _curve, _noise, _times, _compare, _means, _picture):
        add(verbs)
    add_ledger(rooms)
    add_anonymity(rooms)
    add_local(rooms)
    add_market(rooms)
    return whole


def _epsilon(verbs: Verbs) -> None:
    one = _with_loss(verbs, "epsilon", "Which ε does a loss promise at a δ?")
    _delta_options(one)
    one.add_argument("--bracket", action="store_true", help="a lower bound as well, below which ε would be false")


def _delta(verbs: Verbs) -> None:
    one = _with_loss(verbs, "delta", "Which δ does a loss promise at an ε?")
    one.add_argument("--epsilon", required=True, metavar="E", help="the ε")
    one.add_argument("--people", metavar="N", help="how many people; a δ that is not far below 1/N is refused")
    one.add_argument("--bracket", action="store_true", help="a lower bound as well, below which δ would be false")


def _curve(verbs: Verbs) -> None:
    one = _with_loss(verbs, "curve", "The whole promise of a loss: δ at every ε.")
    one.add_argument("--epsilons", nargs="+", metavar="E", help="at which ε (chosen for the loss if left out)")
    one.add_argument("--bracket", action="store_true", help="lower bounds as well")
    one.add_argument("--picture", metavar="FILE", help="draw it, too: a .png or .svg")


def _noise(verbs: Verbs) -> None:
    one = added_verb(verbs, "noise", "How much noise does a promise take?")
    one.add_argument("kind", choices=KINDS, metavar="KIND", help=f"of noise: {', '.join(KINDS)}")
    _target_options(one)
    one.add_argument("--times", default="1", metavar="K", help="how many releases in all (1)")
    one.add_argument("--rate", default="1", metavar="Q", help="each on a fresh random lot, this share of the table (1)")
    one.add_argument(
        "--sampling",
        choices=("poisson", "without-replacement"),
        default="poisson",
        help="how a lot is drawn: a coin for each person (poisson), or a fixed number of people",
    )
    one.add_argument("--sensitivity", default="1", metavar="S", help="how far one person moves the exact answer (1)")


def _times(verbs: Verbs) -> None:
    one = _with_loss(verbs, "times", "How many releases of a kind fit in a promise?")
    _target_options(one)


def _compare(verbs: Verbs) -> None:
    one = added_verb(verbs, "compare", "Which composition theorem wins for K mechanisms of (E, D) each?")
    one.add_argument("--epsilon", required=True, metavar="E", help="the ε of each mechanism")
    one.add_argument("--each-delta", default="0", metavar="D", help="the δ of each mechanism (0)")
    one.add_argument("--times", required=True, metavar="K", help="how many mechanisms")
    _delta_options(one)


def _means(verbs: Verbs) -> None:
    one = added_verb(verbs, "means", "What does an ε mean to a person: odds, beliefs, tests.")
    one.add_argument("--epsilon", required=True, metavar="E", help="the ε")
    _delta_options(one)
    one.add_argument("--priors", nargs="+", default=["0.01", "0.1", "0.5"], metavar="P", help="beliefs to start from")
    one.add_argument(
        "--false-alarms",
        nargs="+",
        default=["0.001", "0.01", "0.1"],
        metavar="F",
        help="false-positive rates of a test",
    )


def _picture(verbs: Verbs) -> None:
    one = added_verb(verbs, "picture", "Pictures (with the plot extra: pip install 'discreet[plot]').", json=False)
    which = one.add_subparsers(dest="picture", required=True, metavar="curve|noise|theorems")
    curve = _picture_of(which, "curve", "The privacy curve of a loss: δ against ε.")
    curve.epilog = LOSS
    curve.add_argument("loss", metavar="LOSS")
    noise = _picture_of(which, "noise", "The least noise against ε, for one release and for many.")
    noise.add_argument("--times", default="100", metavar="K", help="how many the many are (100)")
    theorems = _picture_of(which, "theorems", "Where each composition theorem wins: ε against the number of releases.")
    theorems.add_argument("--epsilon", default="0.1", metavar="E", help="the ε of each release (0.1)")
    theorems.add_argument("--times", default="10000", metavar="K", help="up to how many releases (10000)")
    for one in (noise, theorems):
        one.add_argument("--delta", default="1e-6", metavar="D", help="the δ of the whole (1e-6)")


def _picture_of(which: Verbs, name: str, title: str) -> Parser:
    one = added(which, name, title)
    one.add_argument("file", metavar="FILE", help="where to: a .png or .svg")
    json_option(one)
    return one


def _with_loss(verbs: Verbs, name: str, title: str) -> Parser:
    one = added_verb(verbs, name, title)
    one.epilog = f"{LOSS}\n{JSON}"
    one.add_argument("loss", metavar="LOSS", help="see below")
    return one


def _target_options(one: Parser) -> None:
    target = one.add_mutually_exclusive_group(required=True)
    target.add_argument("--epsilon", metavar="E", help="the ε of the whole")
    target.add_argument("--rho", metavar="R", help="the ρ of the whole, for ρ-zCDP; then there is no δ")
    _delta_options(one)


def _delta_options(one: Parser) -> None:
    one.add_argument("--delta", metavar="D", help="the δ of the whole (0; with --people, what is advised for so many)")
    one.add_argument("--people", metavar="N", help="how many people; a δ that is not far below 1/N is refused")
