"""Shows ledgers: gauges, payments, changes of limits, proofs and personal accounts."""
