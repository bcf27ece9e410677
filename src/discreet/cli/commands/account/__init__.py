"""`discreet account`: what a privacy loss promises, and how much noise a promise takes."""

from discreet.cli.parsing import CommandGroup, argument, option, several

LOSS = """\
LOSS is the privacy loss of one release, or of a series of releases. Quote it, because the shell reads brackets:

  gaussian(sigma=1)  laplace(scale=10)  discrete_gaussian(sigma=10)  discrete_laplace(scale=10)
  pure(0.1)  approximate(0.1, 1e-8)  zcdp(rho=0.1)  gdp(mu=0.5)  exponential(0.1)  renyi([2: 0.1, 8: 0.5])
  randomised_response(3/4)  shuffled(pure(1), 10000)
  'gaussian(10) x 100'                        a hundred times, each with fresh noise
  'laplace(10) x 10 + gaussian(5)'            several releases about the same people
  'subsampled(gaussian(1), 0.01) x 10000'     each on a fresh Poisson sample, one row in a hundred
  'group(pure(0.1), 4)'  'parallel(pure(0.1), pure(0.2))'

LOSS may also be the canonical text, 'loss/1 …', or - to read either from standard input. Numbers are exact: 0.1 is
1/10.
"""
EXAMPLES = """\
For example:

  discreet account epsilon 'laplace(10) x 52' --people 100000            what have I promised?
  discreet account noise gaussian --epsilon 2 --delta 1e-6 --rate 0.01 --times 10000
  discreet account compare --epsilon 0.1 --times 100 --delta 1e-6        which theorem wins?
"""
FOLDER = "discreet.cli.commands.account"
VERBS = {
    **dict.fromkeys(("epsilon", "delta", "curve"), f"{FOLDER}.epsilon"),
    **dict.fromkeys(("noise", "times"), f"{FOLDER}.noise"),
    **dict.fromkeys(("compare", "means"), f"{FOLDER}.compare"),
    "picture": f"{FOLDER}.picture",
}

account_command = CommandGroup(
    "account",
    "What a privacy loss promises, and how much noise a promise takes.",
    modules=VERBS,
    metavar="VERB",
    epilog=EXAMPLES,
)

#: The privacy loss that is asked about.
loss = argument("loss", "LOSS", "the privacy loss; see below")
#: The number of people, against which a δ is checked.
people = option("--people", "N", "the number of people; a δ that is not far below 1/N is refused")
#: The δ of all releases together.
delta = several(option("--delta", "D", "the δ of all releases together (0; with --people, an advised δ)"), people)
