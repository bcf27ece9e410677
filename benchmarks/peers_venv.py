"""An environment of its own for each peer that answers queries or looks at tables: their pins exclude each other's.

`python benchmarks/peers_venv.py` makes them, from PyPI, in the folder `peers` of the environment it runs in.
"""

import argparse
import subprocess
import sys
from pathlib import Path

FOLDER = Path(sys.prefix) / "peers"
#: What is installed for each. OpenDP names the one Polars that it works with; the two others read Parquet by PyArrow.
PEERS = {
    "opendp": ("opendp[polars]==0.16.0",),
    "pipelinedp": ("pipeline-dp==0.3.1", "pyarrow>=17"),
    "smartnoise": ("smartnoise-sql==1.0.10", "pyarrow>=17"),
}
#: Those that are asked on Spark; it brings a Spark of its own.
SPARK_PEERS = {"tumult": ("tmlt.analytics==0.21.0",)}
#: Those that look at tables as one did before; both in one, as one is built on the other.
ANONYMITY_PEERS = {"anonymity": ("pycanon==1.3.5", "anjana==1.2.3")}
#: Those of local privacy, each with what it imports and does not ask for, or asks for too openly.
LOCAL_PEERS = {
    "pure-ldp": ("pure-ldp==1.2.0", "scikit-learn", "statsmodels", "xxhash<4"),
    "multi-freq-ldpy": ("multi-freq-ldpy==0.2.5", "xxhash<4"),
}
EVERY = {**PEERS, **SPARK_PEERS, **ANONYMITY_PEERS, **LOCAL_PEERS}


def python_of(peer: str, folder: Path = FOLDER) -> Path | None:
    """Return the Python of a peer's environment, or None where it is not installed."""
    place = folder / peer / "bin" / "python"
    return place if (folder / peer / "done").exists() else None


def make(peer: str, folder: Path = FOLDER) -> None:
    """Make a peer's environment, unless there is one with just these packages."""
    done, wanted = folder / peer / "done", "\n".join(EVERY[peer])
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return
    subprocess.run([sys.executable, "-m", "venv", "--clear", folder / peer], check=True)  # noqa: S603
    pip = [folder / peer / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *EVERY[peer]], check=True)  # noqa: S603
    done.write_text(wanted, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to put them (%(default)s)")
    options = parser.parse_args()
    for peer in EVERY:
        try:
            make(peer, options.folder)
        except subprocess.CalledProcessError as error:
            print(f"{peer} cannot be installed here; it is left out. ({error})", flush=True)


if __name__ == "__main__":
    main()
