"""Private selection: the exponential mechanism, permute-and-flip, report noisy max, and the best k."""
