"""The ledger: state, payments, the only writer of entries, anchors, signing keys and verification."""
