"""The words of `discreet local`. Nothing heavy is imported here, so that help comes at once."""

from discreet.cli.parsers import JSON, Parser, Verbs, added, added_verb

EXAMPLES = """\
For example:

  discreet local encoders --categories 1024 --epsilon 1            variance and size of the reports of each
  discreet local simulate --people 1e6 --categories 1024 --epsilon 1
  discreet local simulate --people 1e5 --epsilon 2 --encoder hadamard --delta 1e-9

Nobody is asked: people are made up. What devices run is discreet.local, which needs nothing but Python.
"""
ENCODERS = ("k-ary", "optimal-unary", "symmetric-unary", "hashing", "hadamard", "subset")


def add_local(rooms: Verbs) -> None:
    """Add the verbs of privacy at the source."""
    room = added(rooms, "local", "Privacy at the source: every device perturbs its own answer.")
    room.epilog = EXAMPLES
    verbs = room.add_subparsers(dest="verb", required=True, metavar="VERB")
    for add in (_encoders, _simulate):
        add(verbs)


def _encoders(verbs: Verbs) -> None:
    one = added_verb(verbs, "encoders", "Which encoder has the least error, and the smallest report?")
    _setting(one)


def _simulate(verbs: Verbs) -> None:
    one = added_verb(verbs, "simulate", "Ask people who do not exist, and compare what is estimated with the truth.")
    one.epilog = f"The second category is half as common as the first, the third a third, and so on.\n\n{JSON}"
    _setting(one)
    one.add_argument(
        "--encoder", choices=ENCODERS, metavar="NAME", help=f"{', '.join(ENCODERS)} (the best one if left out)"
    )
    one.add_argument("--bits", metavar="B", help="choose among encoders whose reports have at most so many bits")
    one.add_argument("--delta", metavar="D", help="tell, too, what a report costs at this δ if somebody shuffles them")


def _setting(one: Parser) -> None:
    one.add_argument("--people", default="1e5", metavar="N", help="how many people answer (1e5)")
    one.add_argument("--categories", default="100", metavar="K", help="how many answers there are (100)")
    one.add_argument("--epsilon", required=True, metavar="E", help="what a report may cost its person")
    one.add_argument("--confidence", default="0.95", metavar="P", help="how sure all error bars are at once (0.95)")
