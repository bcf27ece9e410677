"""The server side of local privacy: estimates from reports, with error bars, and simulations of crowds."""
