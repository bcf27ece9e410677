"""Per-example gradients: every example's own gradient, and the proof that a model keeps examples apart."""
