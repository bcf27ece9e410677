"""Reports on paper: answers with error bars, the budget and the ledger, as one HTML page."""
