"""Planning: from a question to a plan with measurements, contribution bounds, budget shares and prices."""
