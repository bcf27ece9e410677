"""Clients of the group commit: each joins a queue, and commits for all who wait where it leads."""

from contextlib import nullcontext

from discreet.gate.stores.protocol import Accepted, CommitBatch


def accepted(proposals):
    """Answer each proposal by its own length."""
    return [Accepted(len(body), body.hex(), fresh=True) for body, _ in proposals]


def submitted(queue, proposals, commit):
    """Join the processes' queue, and return the outcomes of these proposals."""
    with queue.join(proposals) as batch:
        if batch.outcomes is None:
            batch.outcomes = commit(batch.proposals)
    return batch.need_outcomes()[: len(proposals)]


def asked(queue, proposal, commit):
    """Join the threads' queue, and return the outcome of one proposal."""
    with queue.join(proposal) as ticket:
        if ticket.batch is not None:
            ticket.batch.outcomes = commit(ticket.batch.proposals)
    return ticket.outcome


def joined(proposals):
    """Be the only process."""
    return nullcontext(CommitBatch(proposals))
