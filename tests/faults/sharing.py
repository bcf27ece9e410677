"""One of several who have shares: asks all questions, and notes the answers, until it is killed or done."""

import sys
from pathlib import Path

from discreet.accounting import Pure
from discreet.core import BudgetExceeded, DiscreetError
from discreet.gate import Gate, Ledger
from faults.spending import Draw, Notes

QUESTIONS, PRICE = 12, Pure(0.05)


def main(place: str, analyst: str, team: str, notes: str) -> None:
    noted = Notes(Path(notes))
    with Ledger.open(place) as ledger:
        gate = Gate(ledger, [], analyst=analyst, team=team)
        for number in range(QUESTIONS):
            try:
                release = gate.release(Draw(f"q{number}", PRICE), request=f"{analyst}:{number}")
            except BudgetExceeded:
                noted.write("refused", question=number)
            except DiscreetError as error:
                noted.write("error", question=number, error=type(error).__name__)
            else:
                noted.write("answer", question=number, answer=release.stored.hex(), analyst=analyst)


if __name__ == "__main__":
    main(*sys.argv[1:])
