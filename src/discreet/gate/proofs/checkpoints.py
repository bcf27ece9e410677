"""Whether a checkpoint is signed by the ledger's key."""

from dataclasses import replace

from discreet.gate.ledger.chain import Entry
from discreet.gate.ledger.events import Checkpoint, Event, from_body, to_body
from discreet.gate.proofs.signing import CHECKPOINT, checkpoint_message, signed_by


def is_signed(entry: Entry, previous: bytes, public: str) -> bool:
    """Tell whether an entry after this head is a checkpoint that the owner of a key signed."""
    event: Event = from_body(entry.body)
    if not isinstance(event, Checkpoint) or not event.signature:
        return False
    message = checkpoint_message(entry.number, previous, to_body(replace(event, signature="")))
    return signed_by(public, event.signature, CHECKPOINT, message)
