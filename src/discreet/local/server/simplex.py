"""The nearest counts that could be counts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core import Number, exact


def on_simplex(counts: NDArray[Any], total: Number) -> NDArray[np.float64]:
    """Return the nearest numbers, in Euclidean distance, that are not negative and add up to `total`.

    All are lowered, or raised, by the same number, and what then is negative becomes 0. Reports are private already:
    this is post-processing, and free. It makes small counts too large and large ones too small, a little.
    Reference: Duchi, Shalev-Shwartz, Singer, Chandra 2008.
    """
    values, amount = np.asarray(counts, np.float64), float(exact(total, "total"))
    falling = np.sort(values)[::-1]
    shifts = (np.cumsum(falling) - amount) / np.arange(1, len(falling) + 1)
    # The last place at which the largest so many, lowered together, are all still positive; the first always is one.
    last = int(np.flatnonzero(falling - shifts > 0)[-1]) if amount > 0 else 0
    return np.asarray(np.maximum(values - shifts[last], 0))
