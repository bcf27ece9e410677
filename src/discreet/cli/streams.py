"""Writes to a terminal, whatever letters it has."""

from typing import TextIO

#: For streams that have no Greek, and no blocks.
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
        "█": "#",
        "░": ".",
        "·": "-",
        "±": "+/-",
        "×": "x",
        "≈": "~",
    }
)


def write(stream: TextIO, text: str, end: str = "\n") -> None:
    """Write a text and, if not told otherwise, end its line.

    Letters that the stream does not have are spelt out, or become question marks.
    """
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(SPELT_OUT).encode(encoding, "replace").decode(encoding)
    stream.write(f"{text}{end}")
    stream.flush()
