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
        group = np.zeros(len(present), np.int64)
        for column in present.T:
            scores, place = np.unique(column, return_inverse=True)
            _, group = np.unique(group * len(scores) + place, return_inverse=True)
        _, counts = np.unique(group, return_counts=True)
        rare += int((counts < key.threshold).sum())
    return rare
