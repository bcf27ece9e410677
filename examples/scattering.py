"""Handcrafted features of small pictures: the scattering transform of two scales and eight directions.

Wavelets that look for edges, moduli, wavelets once more, and averages: 1 + 16 + 64 = 81 pictures of 7 × 7 for each of
28 × 28. Nothing is learned from data, and no picture's features hang on another picture: they cost no privacy.
Reference: Bruna, Mallat 2013; Tramèr, Boneh 2021 (for private training).
"""

import math

import torch
from torch import Tensor

#: Pictures of 28 × 28 are put in the middle of a square of this side.
SIDE, PICTURE = 32, 28
ANGLES = 8
CHANNELS, POINTS = 1 + 2 * ANGLES + ANGLES**2, 7 * 7
#: Each picture's channels are normalised in so many groups, by the picture itself (Tramèr, Boneh 2021).
GROUPS = 27
FEATURES = CHANNELS * POINTS


def features(pictures: Tensor) -> Tensor:
    """Return 3,969 features of each 28 × 28 picture with values in [0, 1], of mean 0 and variance 1 in each group."""
    return torch.nn.functional.group_norm(scattering(pictures), GROUPS).flatten(1)


def scattering(pictures: Tensor) -> Tensor:
    """Return 81 × 7 × 7 averages of each 28 × 28 picture: of itself, of edges by size and direction, of their edges."""
    edge = (SIDE - PICTURE) // 2
    waves = torch.fft.fft2(torch.nn.functional.pad(pictures, (edge,) * 4))[:, None]
    fine, coarse = (torch.stack([_morlet(scale, angle) for angle in range(ANGLES)]) for scale in (0, 1))
    smooth = _gabor(0.8 * 2, 0.0, 0.0, 1.0).real
    first = torch.fft.fft2(torch.fft.ifft2(waves * fine).abs())
    # A coarse wavelet has no fine detail: half as many points along each side say the same.
    again = _folded(torch.cat([waves, first], 1)[:, :, None] * coarse, 2).flatten(1, 2)
    second = torch.fft.fft2(torch.fft.ifft2(again).abs())
    wide = _folded(smooth, 2) * 4  # waves of a mean over a quarter of the points: still 1 where nothing changes
    return torch.cat([_average(waves, smooth), _average(first, smooth), _average(second, wide)], 1)


def _average(waves: Tensor, smooth: Tensor) -> Tensor:
    """Return a picture smoothed and read at every fourth point of the square, without the rim."""
    rough = _folded(waves * smooth, waves.shape[-1] // 8)
    return torch.fft.ifft2(rough).real[..., 1:, 1:]


def _folded(waves: Tensor, times: int) -> Tensor:
    """Return the waves of a picture of which only every so many points are kept: aliases add up."""
    rows = sum(waves.chunk(times, -2)[1:], waves.chunk(times, -2)[0])
    both = sum(rows.chunk(times, -1)[1:], rows.chunk(times, -1)[0])
    return both / times**2


def _morlet(scale: int, angle: int) -> Tensor:
    """Return the waves of a Morlet wavelet: a Gabor wavelet without its mean."""
    width, turn = 0.8 * 2**scale, math.pi * angle / ANGLES
    pitch, slant = 0.75 * math.pi / 2**scale, 4 / ANGLES
    ripple, bump = _gabor(width, turn, pitch, slant), _gabor(width, turn, 0.0, slant)
    return ripple - bump * (ripple[0, 0] / bump[0, 0])


def _gabor(width: float, turn: float, pitch: float, slant: float) -> Tensor:
    """Return the waves of a bump of a width, slanted and turned, times a ripple."""
    place = torch.arange(SIDE, dtype=torch.float64)
    place = torch.where(place < SIDE / 2, place, place - SIDE)
    down, across = torch.meshgrid(place, place, indexing="ij")
    along, beside = across * math.cos(turn) + down * math.sin(turn), down * math.cos(turn) - across * math.sin(turn)
    bump = torch.exp(-(along**2 + (slant * beside) ** 2) / (2 * width**2)) * slant / (2 * math.pi * width**2)
    return torch.fft.fft2(bump * torch.exp(1j * pitch * along)).to(torch.complex64)
