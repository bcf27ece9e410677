"""Relations of a question: their public schemas, their one form, and what may be asked of them."""
