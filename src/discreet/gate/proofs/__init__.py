"""Proofs about a ledger for others: anchors, signatures, certificates, exports, verification."""
