"""The terminal, for a person or, with --json, for a program; and a file for the operator's log.

`discreet init`, `ask`, `preview` and their kin ask about tables: a face over the session. Of them only `ask`, `batch`,
`hierarchy`, `counter` and `buy-bounds` spend. `discreet account …` says what a privacy loss promises: a face over the
accounting room. `discreet ledger …` is for the steward of a ledger: a face over the gate; `discreet people …` for the
steward of a service. `discreet anonymity …` looks at tables with the methods before differential privacy, and
`discreet local …` tries privacy at the source on people who do not exist: faces over those rooms. `discreet market
auction` spends, too: a face over markets and the gate. All read words, ask the library and write words.

The commands are in `discreet.cli.commands`; the folders beside it read and show what they share.
"""

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING

import click
from click.shell_completion import shell_complete

from discreet.cli.commands import discreet_command
from discreet.cli.console import write
from discreet.cli.output import CommandOutput, Fault, Interrupted, as_json, error_facts, error_text
from discreet.cli.parsing import refuse_usage
from discreet.core import DiscreetError
from discreet.core.errors import is_interrupt
from discreet.core.operator_log import HOW_TO_READ, OPERATOR
from discreet.core.private_files import PRIVATE_FOLDER, open_private, state_folder

if TYPE_CHECKING:
    from pathlib import Path


# A file for the operator's log: details of failures that the output of a command must not show.

LOG_NAME = "operator.log"


class OperatorFile(logging.Handler):
    """Appends records to a file that only its owner may read; it is made when there is something to write."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self.place: Path | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; a log that fails has nothing to tell."""
        with suppress(Exception):
            place = state_folder() / LOG_NAME
            place.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            handle = open_private(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{self.format(record)}\n")
            self.place = place

    def name_file_in(self, error: DiscreetError) -> DiscreetError:
        """Return an error that names the file in place of the logger, if something was written to it."""
        if self.place is not None and HOW_TO_READ in error.fix:
            where = f"details are in {self.place}, which only its owner may read; they may quote rows"
            error.fix = error.fix.replace(HOW_TO_READ, where)
        return error


@contextmanager
def operator_file() -> Iterator[OperatorFile]:
    """Listen to the operator's log while a command runs."""
    handler = OperatorFile()
    OPERATOR.addHandler(handler)
    try:
        yield handler
    finally:
        OPERATOR.removeHandler(handler)


__all__ = ["main"]

NAME = "discreet"
#: The variable by which a shell asks for completions.
COMPLETE = "_DISCREET_COMPLETE"
REFUSED, FAILED, INTERRUPTED = 2, 1, 130
#: Lines of a stream that are written at once.
TOGETHER = 1000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, or with those of the process, and return its exit status.

    0: answered. 2: refused, with a fix on standard error. 3: a ledger is not sound. 1: a fault of this package. 130:
    interrupted, or the reader of the output went away.
    """
    if arguments is None and (instruction := os.environ.get(COMPLETE)):
        return shell_complete(discreet_command, {}, NAME, COMPLETE, instruction)
    words = sys.argv[1:] if arguments is None else list(arguments)
    with operator_file() as log:
        return _run(words, log)


def _run(words: list[str], log: OperatorFile) -> int:
    try:
        answer, json = _run_command(words)
        _write(answer, json=json)
    except click.exceptions.Exit:  # by --help and --version, which have been answered; a refusal is never one
        return 0
    except DiscreetError as error:
        return _refuse(log.name_file_in(error), words, REFUSED)
    except KeyboardInterrupt as error:
        return _refuse(Interrupted.of_interrupt(error), words, INTERRUPTED)
    except BrokenPipeError:
        _hush()
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the edge of the process: a person is owed a sentence, not a stack)
        if is_interrupt(error):  # and an engine made another error of it
            return _refuse(Interrupted.of_interrupt(KeyboardInterrupt()), words, INTERRUPTED)
        return _refuse(Fault.of_exception(error), words, FAILED)
    return answer.status


def _run_command(words: list[str]) -> tuple[CommandOutput, bool]:
    """Return the answer, and whether it is wanted as JSON. Click's own `main` would make other errors of ours."""
    with discreet_command.make_context(NAME, list(words)) as context:
        try:
            output: tuple[CommandOutput, bool] = discreet_command.invoke(context)
        except click.UsageError as error:  # of words that click looks at only now, such as --
            raise refuse_usage(error, error.ctx or context) from None
    return output


def _write(answer: CommandOutput, *, json: bool) -> None:
    if answer.stream is None:
        write(sys.stdout, answer.to_json() if json else answer.to_text())
        return
    lines = iter(answer.stream)
    while block := list(islice(lines, TOGETHER)):
        write(sys.stdout, "\n".join(block))


def _hush() -> None:
    """Leave nothing to be flushed to a reader that went away, or the interpreter would complain as it ends."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _refuse(error: DiscreetError, words: Sequence[str], status: int) -> int:
    # The options may be what could not be read, so that they are not asked which form is wanted.
    write(sys.stderr, as_json({"error": error_facts(error)}) if "--json" in words else error_text(error))
    return status
