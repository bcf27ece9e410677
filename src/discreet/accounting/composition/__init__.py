"""Composition theorems in closed form: classical, advanced, and the optimal one for (ε, δ) promises."""
