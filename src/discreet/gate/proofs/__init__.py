"""Proofs about a ledger for others: certificates, exports, inspection."""
