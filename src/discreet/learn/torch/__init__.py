"""Private training of PyTorch models: DP-SGD as a plan. Needs PyTorch, an extra: `pip install discreet[torch]`."""

from discreet.learn.torch.clipping import ClippedSums, Clipping, PrivateModel
from discreet.learn.torch.schedules import AdaptiveClip, Geometric, Linear
from discreet.learn.torch.training import Trained, Training

__all__ = [
    "AdaptiveClip",
    "ClippedSums",
    "Clipping",
    "Geometric",
    "Linear",
    "PrivateModel",
    "Trained",
    "Training",
]
