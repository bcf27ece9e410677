"""`discreet ledger anchor`, `export`, `certificate` and `check`: proof outside of the ledger."""

import json
import sys

from discreet.cli.commands.ledger import placed
from discreet.cli.console import Palette
from discreet.cli.output import CommandOutput, Fact
from discreet.cli.parsing import Arguments, argument, command, flag, option
from discreet.core import InvalidInput

EXPORT = """\
One JSON object a line: an entry's number, its head, its body and, with --answers, the answer of a release in base64.
With --output, --json prints what was written; without, the lines are all that is printed.
"""


@command("anchor", "Write the newest head, signed, to one more file, best on another machine.")
@placed
@option("--to", "FILE", "the file; lines are added to it", required=True)
def anchor_command(arguments: Arguments) -> CommandOutput:
    """Write the newest head to one more place."""
    from discreet.cli.formatting import columns
    from discreet.cli.ledger.views import ledger_facts, need_apart, open_ledger
    from discreet.gate import one_line
    from discreet.gate.ledger.views import title_of

    need_apart(arguments.to, arguments.place)
    with open_ledger(arguments) as ledger:
        anchor = ledger.anchor(arguments.to)
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "file": arguments.to,
            "entry": anchor.number,
            "head": anchor.head,
            "signed": bool(anchor.signature),
        }
        rows = [
            ["ledger", title_of(ledger)],
            ["entry", f"{anchor.number:,}"],
            ["head", anchor.head],
            ["signed", "yes" if anchor.signature else "no: the key is not at hand (see --key)"],
        ]
    ending = f"Open the ledger with --anchor {one_line(arguments.to)}, and a copy older than this will be refused."
    return CommandOutput("anchor", facts, (*columns(rows), "", ending))


@command("export", "All entries as lines of JSON, which `check` follows without the ledger.", epilog=EXPORT)
@placed
@flag("--answers", "with the answers of all releases")
@option("--output", "FILE", "a new file (standard output, if left out)")
def export_command(arguments: Arguments) -> CommandOutput:
    """Write all entries as lines."""
    from discreet.cli.formatting import columns
    from discreet.cli.ledger.proofs import CountedLines, stream_export
    from discreet.cli.ledger.views import ledger_facts, new_file, open_ledger
    from discreet.gate import export_lines, one_line

    if arguments.output is None:
        return CommandOutput("export", {}, (), stream=stream_export(arguments))
    with open_ledger(arguments) as ledger:
        last = CountedLines(export_lines(ledger, answers=arguments.answers), ledger.state.number, arguments)
        new_file(arguments.output, last, arguments.place)
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "file": arguments.output,
            "entries": last.count,
            "head": last.head,
            "signed": ledger.can_sign,
            "answers": arguments.answers,
        }
        rows = [
            ["file", one_line(arguments.output)],
            ["entries", f"{last.count:,}"],
            ["head", last.head],
            [
                "signed",
                "yes" if ledger.can_sign else "no: the key is not at hand (see --key)",
            ],
        ]
        how = f"Check it with: discreet ledger check --export {one_line(arguments.output)} --ledger {ledger.identity}"
    return CommandOutput("export", facts, (*columns(rows), "", how))


@command("certificate", "A certificate for a release, which `check` verifies without the ledger.")
@placed
@option("--request", "ID", "the request that was released", required=True)
@option("--output", "FILE", "a new file (standard output, if left out)")
def certificate_command(arguments: Arguments) -> CommandOutput:
    """Certify a release."""
    from discreet.cli.formatting import columns
    from discreet.cli.ledger.views import ledger_facts, new_file, open_ledger
    from discreet.gate import certificate, one_line

    with open_ledger(arguments) as ledger:
        text = certificate(ledger, arguments.request)
        name = ledger.identity
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "request": arguments.request,
            "file": arguments.output,
            "certificate": json.loads(text),
        }
        if arguments.output is None:
            return CommandOutput("certificate", facts, (text,))
        new_file(arguments.output, [text], arguments.place)
    how = f"Check it with: discreet ledger check {one_line(arguments.output)} --ledger {name}"
    rows = [["file", one_line(arguments.output)], ["request", one_line(arguments.request)]]
    return CommandOutput("certificate", facts, (*columns(rows), "", how))


@command("check", "Check a certificate or an export, without the ledger.")
@argument("file", "CERTIFICATE", "a file from `certificate`", required=False)
@option("--ledger", "NAME", "the ledger's name, as `show` tells it", required=True)
@option("--answer", "FILE", "the answer that the certificate is about, as it was stored")
@option("--export", "FILE", "a file from `export`; the certificate's entries must be in it")
def check_command(arguments: Arguments) -> CommandOutput:
    """Check a certificate, an export, or both, without the ledger."""
    from discreet.cli.ledger.proofs import (
        NAME,
        certificate_facts,
        certificate_lines,
        export_facts,
        export_summary,
        follow_export,
        read_certificate,
    )
    from discreet.cli.ledger.summary import UNSOUND

    name = arguments.ledger.lower()
    if not NAME.fullmatch(name):
        raise InvalidInput(
            "The name of a ledger has 64 hexadecimal digits.", fix="pass --ledger as discreet ledger show tells it"
        )
    if arguments.file is None and arguments.export is None:
        raise InvalidInput("There is nothing to check.", fix="pass the file of a certificate, or --export, or both")
    if arguments.file is None and arguments.answer is not None:
        raise InvalidInput("An answer is checked by its certificate.", fix="pass the certificate's file as well")
    certified = None if arguments.file is None else read_certificate(arguments, name)
    exported = None if arguments.export is None else follow_export(arguments, name, certified)
    facts: dict[str, Fact] = {
        "ledger": name,
        "sound": exported is None or exported.whole,
        "certificate": None if certified is None else certificate_facts(certified, answer=arguments.answer is not None),
        "export": None if exported is None else export_facts(exported),
    }
    palette = Palette.of(sys.stdout)
    if exported is None or exported.whole:
        lines = [palette.good("True of this ledger, as far as it goes:")]
    else:
        lines = [palette.bad("Not vouched for by the ledger's key:")]
    if certified is not None:
        lines += ["", *certificate_lines(certified, answer=arguments.answer is not None)]
    if exported is not None:
        lines += ["", *export_summary(exported, both=certified is not None)]
    return CommandOutput("check", facts, tuple(lines), status=0 if facts["sound"] else UNSOUND)
