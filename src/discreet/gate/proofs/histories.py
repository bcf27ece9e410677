"""Rules that a history must satisfy besides its chain, its keys and its sums.

`verification` asks it of a store, `exports` of lines of text.
"""

from dataclasses import dataclass, field

from discreet.gate.ledger.chain import LedgerEntry
from discreet.gate.ledger.encoding import Fields
from discreet.gate.proofs.keys import is_signed


@dataclass
class History:
    """Entries that were looked at, one after another; `faults` says what does not follow."""

    #: The ledger's public key, and the head before the next entry.
    key: str
    head: bytes
    #: Whether persons have accounts: then each is charged before an answer is stored.
    personal: bool = False
    requests: set[str] = field(default_factory=set)
    payments: set[int] = field(default_factory=set)
    released: set[int] = field(default_factory=set)
    #: Payments that were continued, and the last step of each; and how many steps that makes.
    steps: dict[int, int] = field(default_factory=dict)
    continued: int = 0
    #: Payments for which persons were charged, and the last entry that did.
    charged: dict[int, int] = field(default_factory=dict)
    #: Runs that were begun: by the entry that began one, its payment and step.
    runs: dict[int, tuple[int, int]] = field(default_factory=dict)
    checkpoints: int = 0
    #: Checkpoints that the key signed, and the last of them.
    signed: int = 0
    vouched: int = 0
    faults: list[str] = field(default_factory=list)

    def look(self, entry: LedgerEntry, fields: Fields) -> None:
        """Look at one more entry."""
        number, kind = entry.number, fields["kind"]
        if kind == "payment":
            if fields["request"] in self.requests:
                self.faults.append(f"entry {number} pays for a request that was paid for before")
            self.requests.add(fields["request"])
            self.payments.add(number)
        elif kind == "release":
            self._release(number, fields["payment"], fields.get("charge"))
            self._run(number, (fields["payment"], 0), fields.get("run"))
        elif kind == "continuation":
            self._continue(number, fields["payment"], fields["step"])
            self._run(number, (fields["payment"], fields["step"]), fields.get("run"))
        elif kind == "begun":
            self._begin(number, fields["payment"], fields["step"])
        elif kind == "charge":
            self._charge(number, fields["payment"])
        elif kind == "checkpoint":
            self._checkpoint(entry, fields["signature"])
        self.head = entry.head

    def _release(self, number: int, payment: int, charge: int | None) -> None:
        if payment not in self.payments:
            self.faults.append(f"entry {number} releases what was not paid for before")
        elif payment in self.released:
            self.faults.append(f"entry {number} releases what was released before")
        elif self.personal and (charge is None or charge != self.charged.get(payment)):
            self.faults.append(f"entry {number} releases what nobody was charged for, or not last")
        self.released.add(payment)

    def _begin(self, number: int, payment: int, step: int) -> None:
        if payment not in self.payments:
            self.faults.append(f"entry {number} begins a run of what was not paid for before")
        elif (payment in self.released) if not step else step <= self.steps.get(payment, 0):
            self.faults.append(f"entry {number} begins a run of what was released before")
        self.runs[number] = (payment, step)

    def _run(self, number: int, subject: tuple[int, int], run: int | None) -> None:
        """Look whether an answer is of a run that was begun for it, where it names one."""
        if run is not None and self.runs.get(run) != subject:
            self.faults.append(f"entry {number} is of a run that was not begun for it")

    def _charge(self, number: int, payment: int) -> None:
        if payment in self.released:
            self.faults.append(f"entry {number} charges for what was released before")
        elif payment not in self.payments:
            self.faults.append(f"entry {number} charges for what was not paid for before")
        self.charged[payment] = number

    def _continue(self, number: int, payment: int, step: int) -> None:
        if payment not in self.released:
            self.faults.append(f"entry {number} continues what was not released before")
        elif step != self.steps.get(payment, 0) + 1:
            self.faults.append(f"entry {number} is not the next step of what it continues")
        self.steps[payment] = step
        self.continued += 1

    def _checkpoint(self, entry: LedgerEntry, signature: str) -> None:
        self.checkpoints += 1
        if is_signed(entry, self.head, self.key):
            self.signed += 1
            self.vouched = entry.number
        elif signature:
            self.faults.append(f"the signature of checkpoint {entry.number} is not by the ledger's key")
