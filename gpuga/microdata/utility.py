"""What a protected file is still worth: codes, bits and pairwise relations that recoding and suppression leave.

The information of a field is its entropy in bits per record that shows it; the relation of two fields is their
mutual information. A score that is missing tells nothing: what is left counts with the share of records that show it.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.microdata.problem import Problem

Codes = NDArray[np.int32]


def utility(problem: Problem, protected: Codes) -> dict[str, Any]:
    """Per field and over all pairs of fields; `protected` int32[records, fields], -1 missing."""
    fields = [_of_field(name, problem.codes[:, f], protected[:, f]) for f, name in enumerate(problem.keys.fields)]
    before = sum(field["bits_before"] for field in fields)
    after = sum(field["bits_after"] for field in fields)
    pairs = list(combinations(range(problem.fields), 2))
    related = sum(relation(problem.codes[:, a], problem.codes[:, b]) for a, b in pairs)
    kept = sum(relation(protected[:, a], protected[:, b]) for a, b in pairs)
    return {
        "information_kept": _share(after, before),
        "relations_kept": _share(kept, related),
        "scores_suppressed": _share(sum(f["suppressed"] for f in fields), int((problem.codes >= 0).sum())),
        "fields": fields,
    }


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole > 0 else None


def _of_field(name: str, before: Codes, after: Codes) -> dict[str, Any]:
    return {
        "field": name,
        "codes_before": len(np.unique(before[before >= 0])),
        "codes_after": len(np.unique(after[after >= 0])),
        "bits_before": round(bits(before), 4),
        "bits_after": round(bits(after), 4),
        "suppressed": int(((before >= 0) & (after < 0)).sum()),
    }


def bits(codes: Codes) -> float:
    """The entropy of the scores shown, in bits per record of the file: records without a score tell nothing."""
    shown = codes[codes >= 0]
    counts = np.bincount(shown)
    counts = counts[counts > 0]
    return float((counts * np.log2(counts.sum() / counts)).sum() / max(len(codes), 1)) if len(counts) else 0.0


def relation(one: Codes, other: Codes) -> float:
    """The mutual information of two fields, in bits per record of the file, from the records that show both.

    Many codes in few records look related by chance; what is expected of that (Miller and Madow) is taken off.
    """
    both = (one >= 0) & (other >= 0)
    if not both.any():
        return 0.0
    width = int(other[both].max()) + 1
    found, joint = np.unique(one[both].astype(np.int64) * width + other[both], return_inverse=True)
    shown = bits(one[both]) + bits(other[both]) - bits(joint.astype(np.int32))
    freedom = len(found) - len(np.unique(one[both])) - len(np.unique(other[both])) + 1
    chance = freedom / (2 * math.log(2) * int(both.sum()))
    return max(shown - chance, 0.0) * float(both.mean())
