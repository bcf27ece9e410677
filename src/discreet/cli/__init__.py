"""The terminal. So far `discreet account …`: what a privacy loss promises, for a person or, with --json, for a program.

A face over the accounting room: it reads words, asks the library and writes words. It sees no rows and holds no budget.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module

from discreet.cli.answers import Answer, as_json
from discreet.cli.arguments import parser
from discreet.cli.refusals import Fault, recorded, told
from discreet.cli.streams import write
from discreet.core import DiscreetError

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

REFUSED, FAILED, INTERRUPTED = 2, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or with those of the process, and return its exit status.

    0: answered. 2: refused, with a fix on standard error. 1: a fault of this package. 130: interrupted.
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        options = parser().parse_args(given)
        answer = _answer(options)
    except SystemExit:  # by --help and --version, which have been answered; a refusal is never one
        return 0
    except DiscreetError as error:
        return _refuse(error, given, REFUSED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the edge of the process: a person is owed a sentence, not a stack)
        return _refuse(Fault.of_exception(error), given, FAILED)
    write(sys.stdout, answer.to_json() if options.json else answer.to_text())
    return 0


def _answer(options: Namespace) -> Answer:
    module = import_module(VERBS[options.verb])
    verb: Callable[[Namespace], Answer] = getattr(module, f"answer_{options.verb}")
    return verb(options)


def _refuse(error: DiscreetError, given: Sequence[str], status: int) -> int:
    # The options may be what could not be read, so that they are not asked which form is wanted.
    write(sys.stderr, as_json({"error": recorded(error)}) if "--json" in given else told(error))
    return status
