"""Exact integer randomness. Knows no rows and no budgets.

Every distribution here is exact: floats only decide how fast a draw is, never what comes out. Randomness is AES-256-CTR
keyed from the operating system; there is no seed. A device, which has no NumPy, draws `Coins` from there directly.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.noise.coins import DEVICE, Coins

if TYPE_CHECKING:
    from discreet.noise.choice import ExpChoice, choose, choose_exp, toss_exp
    from discreet.noise.decide import below_exp as below_exp
    from discreet.noise.decide import below_ratio as below_ratio
    from discreet.noise.sampling import (
        below,
        bernoulli,
        bernoulli_exp,
        coin_words,
        gaussian,
        geometric,
        hand_out_rounded,
        laplace,
        rounded_gaussian,
    )
    from discreet.noise.stream import SYSTEM, Entropy, process_mark
    from discreet.noise.stream import need_entropy as need_entropy

# For users. What is imported above as itself (`name as name`) is for other rooms.
__all__ = [
    "DEVICE",
    "SYSTEM",
    "Coins",
    "Entropy",
    "ExpChoice",
    "below",
    "bernoulli",
    "bernoulli_exp",
    "choose",
    "choose_exp",
    "coin_words",
    "gaussian",
    "geometric",
    "hand_out_rounded",
    "laplace",
    "process_mark",
    "rounded_gaussian",
    "toss_exp",
]

#: The modules of names that need NumPy. They are fetched when they are first asked for: a device has no NumPy.
_FETCHED = {
    **dict.fromkeys(("ExpChoice", "choose", "choose_exp", "toss_exp"), "choice"),
    **dict.fromkeys(("below", "bernoulli", "bernoulli_exp", "gaussian", "geometric", "laplace"), "sampling"),
    **dict.fromkeys(("coin_words", "hand_out_rounded", "rounded_gaussian"), "sampling"),
    **dict.fromkeys(("SYSTEM", "Entropy", "need_entropy", "process_mark"), "stream"),
    **dict.fromkeys(("below_exp", "below_ratio"), "decide"),
}


def __getattr__(name: str) -> Any:
    """Fetch a name when it is first asked for."""
    if name not in _FETCHED:
        raise AttributeError(f"module 'discreet.noise' has no attribute {name!r}")
    value = getattr(import_module(f"discreet.noise.{_FETCHED[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
