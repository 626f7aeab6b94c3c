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
        if len(present):
            counts = np.diff(np.flatnonzero(_new_in_order(present)), append=len(present))
            rare += int((counts < key.threshold).sum())
    return rare


def recount_as_known(codes: NDArray[np.int32], shown: NDArray[np.bool_], keys: Keys) -> int:
    """How many rare combinations of the unsuppressed `codes` some record still shows in full.

    This is the count of an attacker for whom `missing` could be anything: a suppressed score does not make
    others rare.
    """
    rare = 0
    for key in keys.keys:
        fields = list(key.fields)
        complete = (codes[:, fields] >= 0).all(axis=1)
        if complete.any():
            order = np.lexsort(codes[complete][:, fields].T)
            scores = codes[complete][order][:, fields]
            first = np.flatnonzero(np.concatenate([[True], (scores[1:] != scores[:-1]).any(axis=1)]))
            counts = np.diff(first, append=len(scores))
            seen = np.maximum.reduceat(shown[complete][order][:, fields].all(axis=1), first)
            rare += int((seen & (counts < key.threshold)).sum())
    return rare


def _new_in_order(scores: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Sort the combinations; whether each differs from the one before it."""
    number, span = np.zeros(len(scores), np.int64), 1
    for column in scores.T:
        size = int(column.max()) + 1
        if span * size >= 2**62:
            known, number = np.unique(number, return_inverse=True)
            span = len(known)
        number, span = number * size + column, span * size
    ordered = np.sort(number)
    return np.concatenate([[True], ordered[1:] != ordered[:-1]])
