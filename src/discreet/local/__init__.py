"""Privacy at the source: the client encodes, the server estimates.

Each device has its own purse; there is no ledger on the server. A client needs plain Python only: names that need
NumPy are fetched when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discreet.local.device.categories import Hadamard, KaryResponse, SubsetSelection, Unary
from discreet.local.device.hashing import LocalHashing
from discreet.local.device.numbers import NumberResponse, VectorResponse
from discreet.local.device.prefixes import PrefixTree
from discreet.local.device.purse import Purse
from discreet.local.device.rappor import Rappor
from discreet.local.device.reports import pack, report_bits, report_bytes, unpack
from discreet.local.device.surveys import Survey, best_encoder

if TYPE_CHECKING:
    from discreet.local.server.averages import MeanEstimate, errors_of_mean, estimate_mean
    from discreet.local.server.costs import cost_of, shuffled_cost
    from discreet.local.server.crowd import encode_all, instant_all
    from discreet.local.server.frequencies import (
        Frequencies,
        Simulation,
        error_of,
        estimate,
        from_supports,
        on_simplex,
        simulate,
        skewed,
        variance_of,
    )
    from discreet.local.server.heavy_hitters import FrequentText, FrequentTexts, encode_texts, find_texts
    from discreet.local.server.marginals import Marginals, encode_survey, estimate_marginals
    from discreet.local.server.supports import supports_of

__all__ = [
    "Frequencies",
    "FrequentText",
    "FrequentTexts",
    "Hadamard",
    "KaryResponse",
    "LocalHashing",
    "Marginals",
    "MeanEstimate",
    "NumberResponse",
    "PrefixTree",
    "Purse",
    "Rappor",
    "Simulation",
    "SubsetSelection",
    "Survey",
    "Unary",
    "VectorResponse",
    "best_encoder",
    "cost_of",
    "encode_all",
    "encode_survey",
    "encode_texts",
    "error_of",
    "errors_of_mean",
    "estimate",
    "estimate_marginals",
    "estimate_mean",
    "find_texts",
    "from_supports",
    "instant_all",
    "on_simplex",
    "pack",
    "report_bits",
    "report_bytes",
    "shuffled_cost",
    "simulate",
    "skewed",
    "supports_of",
    "unpack",
    "variance_of",
]

#: The modules of the server's names, which need NumPy; a device has none.
_FETCHED = {
    **dict.fromkeys(("MeanEstimate", "errors_of_mean", "estimate_mean"), "averages"),
    **dict.fromkeys(("cost_of", "shuffled_cost"), "costs"),
    **dict.fromkeys(("encode_all", "instant_all"), "crowd"),
    **dict.fromkeys(
        ("Frequencies", "error_of", "estimate", "from_supports", "on_simplex", "variance_of"), "frequencies"
    ),
    **dict.fromkeys(("FrequentText", "FrequentTexts", "encode_texts", "find_texts"), "heavy_hitters"),
    **dict.fromkeys(("Marginals", "encode_survey", "estimate_marginals"), "marginals"),
    **dict.fromkeys(("Simulation", "simulate", "skewed"), "frequencies"),
    "supports_of": "supports",
}


def __getattr__(name: str) -> Any:
    """Fetch a name when it is first asked for."""
    if name not in _FETCHED:
        raise AttributeError(f"module 'discreet.local' has no attribute {name!r}")
    value = getattr(import_module(f"discreet.local.server.{_FETCHED[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
