"""Continual counting: counts that are refreshed at every step, for one price that covers all steps."""
