"""discreet answers questions about people without telling on any of them."""
