"""The words of `discreet ledger`. Nothing heavy is imported here, so that help comes at once."""

from discreet.cli.parsers import Parser, Verbs, accounts, added, added_verb

EXAMPLES = """\
For example:

  discreet ledger create clinic.ledger --epsilon 3 --people 100000 --person patient_id --title clinic
  discreet ledger show clinic.ledger                     what was spent, by whom, on what, and what is left
  discreet ledger verify clinic.ledger                   everything that is stored, from the first entry on
  discreet ledger check answer.certificate --ledger NAME     without the ledger
  discreet ledger person clinic.ledger p17               with personal accounts: what one person was charged

No verb spends, and none gives anything back. PLACE is a path, or an address postgresql://….
"""
PERSON = """\
For that person, or for the steward: it is made of that person's rows, and nobody else may see it.

The ledger keeps hashes of names, and no kinds of columns. So ID is the text that the name is made of: a whole number as
7, not 007 or +7; a day as 2025-03-01; true or false; a text as it stands in the rows, capitals and blanks too. After
-- it may begin with a dash. Whoever was never charged has no account: that is an answer, too, and status 0.
"""
PEOPLE = """\
For the steward. How far accounts are used is made of people's rows: it may not be shown to anybody who sees answers,
and nobody may act on it, such as by taking people out of the tables.
"""
VERIFY = """\
Exit status: 0 if the ledger is sound, 3 if it is not (the faults are listed), 2 if it could not be looked at.
"""
EXPORT = """\
One JSON object a line: an entry's number, its head, its body and, with --answers, the answer of a release in base64.
With --output, --json prints what was written; without, the lines are all that is printed.
"""


def add_ledger(rooms: Verbs) -> None:
    """Add the verbs of the ledger."""
    room = added(rooms, "ledger", "The account of a dataset: what may be spent, what was, and proof of it.")
    room.epilog = EXAMPLES
    verbs = room.add_subparsers(dest="verb", required=True, metavar="VERB")
    for add in (_create, _show, _verify, _raise, _lower, _allow, _disclose, _annotate, _review, _excuse):
        add(verbs)
    for add in (_anchor, _export, _certificate, _check, _person, _people):
        add(verbs)


def _create(verbs: Verbs) -> None:
    one = _placed(verbs, "create", "Begin a ledger. What is said here is fixed for life, but for the limit.")
    limit = one.add_mutually_exclusive_group(required=True)
    limit.add_argument("--epsilon", metavar="E", help="the most that may ever be learned, as an ε")
    limit.add_argument("--rho", metavar="R", help="the same as a ρ of zCDP")
    one.add_argument("--delta", metavar="D", help="the δ (0; with --epsilon and --people, what is advised for so many)")
    one.add_argument("--reserve", metavar="D", help="the part of δ for releases that may fail (a tenth)")
    one.add_argument("--people", metavar="N", help="how many people; a δ that is not far below 1/N is refused")
    one.add_argument("--person", metavar="COLUMN", help="whose rows are one person's (each row is one, if left out)")
    one.add_argument(
        "--replace", action="store_true", help="the number of people is public (it is hidden, if left out)"
    )
    accounts(one)
    one.add_argument(
        "--least",
        metavar="E",
        help="the least price of a question (a ten-thousandth of the limit, or 0.001 if that is less)",
    )
    one.add_argument("--title", default="", metavar="TEXT", help="what people call it")
    one.add_argument(
        "--policy",
        choices=("shared", "separate"),
        default="shared",
        help="what several analysts may learn: all together no more than the limit (shared), or each (separate)",
    )


def _show(verbs: Verbs) -> None:
    one = _placed(verbs, "show", "What was spent, by whom, on what, and what is left.")
    one.add_argument("--last", default="10", metavar="N", help="how many payments, newest first (10)")
    one.add_argument("--analyst", metavar="NAME", help="of this analyst only")


def _verify(verbs: Verbs) -> None:
    one = _placed(verbs, "verify", "Check all that is stored: chain, sums, answers, signatures, anchors.")
    one.epilog = VERIFY


def _raise(verbs: Verbs) -> None:
    one = _placed(verbs, "raise", "Promise less: raise the limit, for a reason that stays on record.")
    one.add_argument("--to", required=True, metavar="E", help="the new ε or ρ")
    _signed_off(one)


def _lower(verbs: Verbs) -> None:
    one = _placed(verbs, "lower", "Allow less than now. What is spent stays spent.")
    one.add_argument("--to", required=True, metavar="E", help="the new ε or ρ")
    _signed_off(one)


def _allow(verbs: Verbs) -> None:
    one = _placed(verbs, "allow", "Set how much of the budget one analyst may spend.")
    one.add_argument("--analyst", required=True, metavar="NAME", help="who")
    limit = one.add_mutually_exclusive_group(required=True)
    limit.add_argument("--to", metavar="E", help="the ε or ρ that this analyst may spend")
    limit.add_argument("--no-limit", action="store_true", help="as much as the budget allows everybody")
    _signed_off(one)


def _disclose(verbs: Verbs) -> None:
    one = _placed(verbs, "disclose", "Charge what became known elsewhere: a report, a leak, another system's answers.")
    cost = one.add_mutually_exclusive_group(required=True)
    cost.add_argument("--cost", metavar="LOSS", help="what it cost: see discreet account epsilon --help")
    cost.add_argument("--all", action="store_true", help="all there is; this closes the account for good")
    _signed_off(one)


def _annotate(verbs: Verbs) -> None:
    one = _placed(verbs, "annotate", "Note something, for whoever reads the ledger.")
    one.add_argument("text", metavar="TEXT", help="the note")
    _by(one)


def _review(verbs: Verbs) -> None:
    one = _placed(verbs, "review", "Note that you looked at the runs that failed: they are counted anew from here.")
    one.add_argument("--analyst", metavar="NAME", help="those of this analyst only (all, if left out)")
    _signed_off(one)


def _excuse(verbs: Verbs) -> None:
    one = _placed(verbs, "excuse", "Before runs are stopped for a public reason, note it: they are no failures then.")
    one.add_argument("--run", metavar="N", help="the open run, as `show` tells it (all that are open, if left out)")
    _signed_off(one)


def _anchor(verbs: Verbs) -> None:
    one = _placed(verbs, "anchor", "Write the newest head to one more file, best on another machine, signed.")
    one.add_argument("--to", required=True, metavar="FILE", help="where to; lines are added to it")


def _export(verbs: Verbs) -> None:
    one = _placed(verbs, "export", "All entries as lines of JSON, which `check` follows without the ledger.")
    one.epilog = EXPORT
    one.add_argument("--answers", action="store_true", help="with the answers of all releases")
    one.add_argument("--output", metavar="FILE", help="a new file (standard output, if left out)")


def _certificate(verbs: Verbs) -> None:
    one = _placed(verbs, "certificate", "A certificate for a release, which `check` verifies without the ledger.")
    one.add_argument("--request", required=True, metavar="ID", help="the request that was released")
    one.add_argument("--output", metavar="FILE", help="a new file (standard output, if left out)")


def _check(verbs: Verbs) -> None:
    one = added_verb(verbs, "check", "Check a certificate or an export, without the ledger.")
    one.add_argument("file", nargs="?", metavar="CERTIFICATE", help="a file from `certificate`")
    one.add_argument("--ledger", required=True, metavar="NAME", help="the ledger's name, as `show` tells it")
    one.add_argument("--answer", metavar="FILE", help="the answer that the certificate is about, as it was stored")
    one.add_argument("--export", metavar="FILE", help="a file from `export`; the certificate's entries must be in it")


def _person(verbs: Verbs) -> None:
    one = _placed(verbs, "person", "With personal accounts: what one person was charged, for what, and what is left.")
    one.epilog = PERSON
    one.add_argument("id", metavar="ID", help="the person, as the column of persons has it; see below")
    one.add_argument("window", nargs="?", metavar="WINDOW", help="the first day of the stretch, where a window is kept")


def _people(verbs: Verbs) -> None:
    one = _placed(verbs, "people", "With personal accounts: how many people have used which part of their limit.")
    one.epilog = PEOPLE


def _placed(verbs: Verbs, name: str, title: str) -> Parser:
    one = added_verb(verbs, name, title)
    one.add_argument("place", metavar="PLACE", help="the ledger: a path, or an address postgresql://…")
    one.add_argument("--key", metavar="FILE", help="the signing key (PLACE.key, if left out)")
    one.add_argument(
        "--anchor",
        nargs="+",
        action="extend",
        metavar="FILE",
        help="files that hold its anchors (two in the user's state, if left out); write PLACE before them",
    )
    return one


def _signed_off(one: Parser) -> None:
    one.add_argument("--reason", required=True, metavar="TEXT", help="why; it stays on record")
    _by(one)


def _by(one: Parser) -> None:
    one.add_argument("--by", metavar="NAME", help="who does this (the name of the user, if left out)")
