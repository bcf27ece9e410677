"""Writes to a terminal, whatever letters it has."""

from typing import TextIO

#: For streams that have no Greek.
SPELT_OUT = str.maketrans(
    {
        "ε": "epsilon",
        "δ": "delta",
        "ρ": "rho",
        "σ": "sigma",
        "μ": "mu",
        "α": "alpha",
        "∞": "infinite",
        "…": "...",
        "−": "-",
        "√": "root ",
        "²": "^2",
        "é": "e",
    }
)


def write(stream: TextIO, text: str) -> None:
    """Write a text and end its line; letters that the stream does not have are spelt out, or become question marks."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(SPELT_OUT).encode(encoding, "replace").decode(encoding)
    stream.write(f"{text}\n")
    stream.flush()
