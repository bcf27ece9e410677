"""Privacy at the source: the client encodes, the server estimates."""

from discreet.local.hadamard import Hadamard
from discreet.local.hashing import LocalHashing
from discreet.local.numbers import NumberResponse
from discreet.local.purse import Purse
from discreet.local.rappor import Rappor
from discreet.local.reports import pack, report_bits, report_bytes, unpack
from discreet.local.response import KaryResponse
from discreet.local.subset import SubsetSelection
from discreet.local.unary import Unary
from discreet.local.vectors import VectorResponse

__all__ = [
    "Hadamard",
    "KaryResponse",
    "LocalHashing",
    "NumberResponse",
    "Purse",
    "Rappor",
    "SubsetSelection",
    "Unary",
    "VectorResponse",
    "pack",
    "report_bits",
    "report_bytes",
    "unpack",
]
