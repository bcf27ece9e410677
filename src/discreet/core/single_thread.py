"""Libraries of linear algebra start threads when they are loaded, which no fork has, unless they are told not to."""

import os

#: Of OpenBLAS, OpenMP and MKL.
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
ONE_THREAD = dict.fromkeys(VARIABLES, "1")


def keep_to_one_thread() -> None:
    """Let libraries that are loaded from now on start no threads: this process is going to be forked."""
    os.environ.update(ONE_THREAD)
