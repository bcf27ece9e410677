"""What proves a ledger to others: anchors, signatures, certificates, exports, verification."""
