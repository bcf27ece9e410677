"""The terminal, for a person or, with --json, for a program.

`discreet init`, `ask`, `preview` and their kin ask about tables: a face over the session. Of them only `ask`, `batch`,
`hierarchy`, `counter` and `buy-bounds` spend. `discreet account …` says what a privacy loss promises: a face over the
accounting room. `discreet ledger …` is for the steward of a ledger: a face over the gate. `discreet anonymity …` looks
at tables as one did before, and `discreet local …` tries privacy at the source on people who do not exist: faces over
those rooms. `discreet market auction` spends, too: a face over markets and the gate. All read words, ask the library
and write words.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import islice

from discreet.cli.answers import Answer, as_json
from discreet.cli.arguments import parser
from discreet.cli.operator_file import OperatorFile, operator_file
from discreet.cli.refusals import Fault, Interrupted, recorded, told
from discreet.cli.streams import write
from discreet.core import DiscreetError
from discreet.core.errors import is_interrupt

__all__ = ["main"]

#: What a verb is answered by. Its module, and with it NumPy, is imported when it is asked: help comes at once.
VERBS = {
    "epsilon": "discreet.cli.promises",
    "delta": "discreet.cli.promises",
    "curve": "discreet.cli.promises",
    "noise": "discreet.cli.planning",
    "times": "discreet.cli.planning",
    "compare": "discreet.cli.teaching",
    "means": "discreet.cli.teaching",
    "picture": "discreet.cli.drawing",
}
LEDGER_VERBS = {
    "create": "discreet.cli.creation",
    "show": "discreet.cli.showing",
    "verify": "discreet.cli.showing",
    "raise": "discreet.cli.stewarding",
    "lower": "discreet.cli.stewarding",
    "allow": "discreet.cli.stewarding",
    "disclose": "discreet.cli.stewarding",
    "annotate": "discreet.cli.stewarding",
    "review": "discreet.cli.reviewing",
    "excuse": "discreet.cli.reviewing",
    "anchor": "discreet.cli.papers",
    "export": "discreet.cli.papers",
    "certificate": "discreet.cli.papers",
    "check": "discreet.cli.papers",
    "person": "discreet.cli.persons",
    "people": "discreet.cli.persons",
}
ANONYMITY_VERBS = {
    **dict.fromkeys(("find", "check", "risk", "make"), "discreet.cli.anonymity"),
    "deidentify": "discreet.cli.deidentification",
}
LOCAL_VERBS = dict.fromkeys(("encoders", "simulate"), "discreet.cli.simulating")
MARKET_VERBS = dict.fromkeys(("preview", "auction"), "discreet.cli.selling")
#: Commands that are room and verb in one.
QUERY_VERBS = {
    "init": "discreet.cli.beginning",
    "ask": "discreet.cli.querying",
    "preview": "discreet.cli.querying",
    "explain": "discreet.cli.querying",
    "schema": "discreet.cli.querying",
    "buy-bounds": "discreet.cli.querying",
    "batch": "discreet.cli.workloads",
    "hierarchy": "discreet.cli.workloads",
    "counter": "discreet.cli.workloads",
    "demo": "discreet.cli.demo",
}
ROOMS = {
    "account": VERBS,
    "ledger": LEDGER_VERBS,
    "local": LOCAL_VERBS,
    "anonymity": ANONYMITY_VERBS,
    "market": MARKET_VERBS,
    **dict.fromkeys(QUERY_VERBS, QUERY_VERBS),
}

REFUSED, FAILED, INTERRUPTED = 2, 1, 130
#: Lines of a stream that are written at once.
TOGETHER = 1000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or with those of the process, and return its exit status.

    0: answered. 2: refused, with a fix on standard error. 3: a ledger is not sound. 1: a fault of this package. 130:
    interrupted, or nobody reads on.
    """
    if arguments is None:
        _travel_light()
    given = sys.argv[1:] if arguments is None else list(arguments)
    with operator_file() as log:
        return _run(given, log)


def _run(given: list[str], log: OperatorFile) -> int:
    try:
        options = parser().parse_args(given)
        answer = _answer(options)
        _write(answer, json=options.json)
    except SystemExit:  # by --help and --version, which have been answered; a refusal is never one
        return 0
    except DiscreetError as error:
        return _refuse(log.named_in(error), given, REFUSED)
    except KeyboardInterrupt as error:
        return _refuse(Interrupted.of_interrupt(error), given, INTERRUPTED)
    except BrokenPipeError:
        _hush()
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the edge of the process: a person is owed a sentence, not a stack)
        if is_interrupt(error):  # and an engine made another error of it
            return _refuse(Interrupted.of_interrupt(KeyboardInterrupt()), given, INTERRUPTED)
        return _refuse(Fault.of_exception(error), given, FAILED)
    return answer.status


def _travel_light() -> None:
    """Spare this process pandas, which DuckDB loads as soon as a parameter is bound, if there is one.

    No verb takes or gives a frame, and loading it takes longer than an answer.
    """
    sys.modules.setdefault("pandas", None)  # type: ignore[arg-type]  # what Python takes for: not to be had


def _answer(options: Namespace) -> Answer:
    module = import_module(ROOMS[options.room][options.verb])
    verb: Callable[[Namespace], Answer] = getattr(module, f"answer_{options.verb.replace('-', '_')}")
    return verb(options)


def _write(answer: Answer, *, json: bool) -> None:
    if answer.stream is None:
        write(sys.stdout, answer.to_json() if json else answer.to_text())
        return
    lines = iter(answer.stream)
    while some := list(islice(lines, TOGETHER)):
        write(sys.stdout, "\n".join(some))


def _hush() -> None:
    """Leave nothing to be flushed to a reader that went away, or the interpreter would complain as it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _refuse(error: DiscreetError, given: Sequence[str], status: int) -> int:
    # The options may be what could not be read, so that they are not asked which form is wanted.
    write(sys.stderr, as_json({"error": recorded(error)}) if "--json" in given else told(error))
    return status
