"""Private training becomes plans: DP-SGD, noisy gradient descent, linear models, finite classes.

Still empty. PyTorch will be an extra, imported only here.
"""

__all__: list[str] = []
