"""An independent re-count: unsafe combinations of a protected file, straight from the definition.

Shares no code with the search for them: per key, the scores that are present are sorted and counted by NumPy.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gpuga.microdata.keys import Keys


def recount(codes: NDArray[np.int32], keys: Keys) -> int:
    """How many combinations of present scores (-1: missing) occur less often than their key's threshold."""
    rare = 0
    for key in keys.keys:
        scores = codes[:, list(key.fields)]
        present = scores[(scores >= 0).all(axis=1)]
        order = np.lexsort(present.T[::-1])
        ordered = present[order]
        new = np.ones(len(ordered), bool)
        new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        counts = np.diff(np.append(np.flatnonzero(new), len(ordered)))
        rare += int((counts < key.threshold).sum())
    return rare
