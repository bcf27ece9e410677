"""The whole story on a hospital that does not exist, as `discreet demo` tells it; its acts are in `discreet.cli`."""

import sys

from discreet.cli import main

if __name__ == "__main__":
    sys.exit(main(["demo", *sys.argv[1:]]))
