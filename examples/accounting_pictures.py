"""Three pictures of accounting: the privacy curve, the least noise against ε, and where each theorem wins.

Into the directory given, or the current one; about ten seconds.
"""

import sys
from pathlib import Path

from discreet.cli import main as discreet


def main() -> int:
    """Draw them as a person at a terminal would."""
    into = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    pictures = (
        ("curve", "privacy-curve.png", "subsampled(gaussian(1), 0.01) x 10000"),
        ("noise", "least-noise.png"),
        ("theorems", "composition-theorems.png"),
    )
    return max(discreet(["account", "picture", kind, str(into / name), *rest]) for kind, name, *rest in pictures)


if __name__ == "__main__":
    sys.exit(main())
