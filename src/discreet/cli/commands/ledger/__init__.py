"""`discreet ledger`: the account of a dataset, for its steward."""

from discreet.cli.parsing import CommandGroup, argument, option, several

EXAMPLES = """\
For example:

  discreet ledger create clinic.ledger --epsilon 3 --people 100000 --person patient_id --title clinic
  discreet ledger show clinic.ledger                     what was spent, by whom, on what, and what is left
  discreet ledger verify clinic.ledger                   everything that is stored, from the first entry on
  discreet ledger check answer.certificate --ledger NAME     without the ledger
  discreet ledger person clinic.ledger p17               with personal accounts: what one person was charged

No verb spends, and none gives anything back. PLACE is a path, or an address postgresql://….
"""
FOLDER = "discreet.cli.commands.ledger"
VERBS = {
    "create": f"{FOLDER}.create",
    **dict.fromkeys(("show", "verify"), f"{FOLDER}.show"),
    **dict.fromkeys(("raise", "lower", "disclose", "annotate"), f"{FOLDER}.limits"),
    **dict.fromkeys(("allow", "requests", "grant", "decline"), f"{FOLDER}.shares"),
    **dict.fromkeys(("review", "excuse"), f"{FOLDER}.runs"),
    **dict.fromkeys(("anchor", "export", "certificate", "check"), f"{FOLDER}.proofs"),
    **dict.fromkeys(("person", "people"), f"{FOLDER}.people"),
}

ledger_command = CommandGroup(
    "ledger",
    "The account of a dataset: what may be spent, what was spent, and proof of it.",
    modules=VERBS,
    metavar="VERB",
    epilog=EXAMPLES,
)

#: The ledger that a verb is about, and the files that belong to it.
placed = several(
    argument("place", "PLACE", "the ledger: a path, or an address postgresql://…"),
    option("--key", "FILE", "the signing key (PLACE.key, if left out)"),
    option(
        "--anchor",
        "FILE …",
        "files that hold its anchors (two in the user's state folder, if left out); write PLACE before them",
        multiple=True,
        greedy=True,
        extends=True,
    ),
)
#: The person who makes an entry.
by = option("--by", "NAME", "who does this (the name of the user, if left out)")
#: Why an entry is made, and by whom.
signed_off = several(option("--reason", "TEXT", "the reason; it stays on record", required=True), by)
