"""Privacy-loss distributions: dominating pairs on a grid of losses, and their composition by Fourier transforms."""
