"""From a question to a plan: measurements, contribution limits, shares of the budget, prices."""
