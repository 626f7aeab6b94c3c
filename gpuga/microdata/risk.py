"""The disclosure risk of a file as it is: how rare its combinations are, by key, and what they would give away.

Figures only, no record's scores. A score that is missing matches nothing: a record without a score of a key is
not counted there. With sampling weights the sum of a combination's weights estimates how many of the population
share it, so that one record of the sample is one of so many; without them the sample is taken for the population.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError
from gpuga.files.notation import Written
from gpuga.microdata.histogram import combine, renumber
from gpuga.microdata.keys import Key, Keys, make_keys
from gpuga.microdata.record_file import code_fields, read_amounts
from gpuga.microdata.records import Records
from gpuga.microdata.unsafe import unsafe_words

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

SIZES = (1, 2, 3, 5, 10)
"""Where the classes of the table of group sizes begin."""


@dataclass(frozen=True)
class RiskParameters:
    """What is asked about a file's risk; fields and columns by their names."""

    fields: tuple[str, ...]
    dimension: int = 3
    threshold: int | dict[int, int] = 3
    keys: tuple[tuple[tuple[str, ...], int], ...] = ()
    weight: str | None = None
    sensitive: str | None = None
    diversity: int = 2
    missing: str = "missing"
    written: Written = field(default_factory=Written)


@dataclass(frozen=True, eq=False)
class CodedFile:
    """A file's codes (int32[records, fields], -1 missing), their numbers, weights with their unit, sensitive scores."""

    codes: Codes
    sizes: Ints
    weight: tuple[Ints, int] | None = None
    sensitive: Codes | None = None


def file_risk(path: str | Path, parameters: RiskParameters) -> dict[str, Any]:
    """The risk of a microdata file, CSV or Parquet."""
    keys = make_keys(parameters.fields, parameters.dimension, parameters.threshold, parameters.keys)
    if parameters.diversity < 1:
        raise InputError(f"{parameters.diversity} is not a number of 1 or more", field="--diversity")
    extra = [name for name in (parameters.weight, parameters.sensitive) if name is not None]
    with Records(path, parameters.written) as records:
        records.load(list(dict.fromkeys([*parameters.fields, *extra])))
        weight = None if parameters.weight is None else read_amounts(records, parameters.weight)
        fields = [*parameters.fields, *([] if parameters.sensitive is None else [parameters.sensitive])]
        codes, labels = code_fields(records, fields, parameters.missing)
    known = len(parameters.fields)
    sizes = np.array([len(names) for names in labels[:known]], np.int64)
    sensitive = None if parameters.sensitive is None else codes[:, known]
    return risk(CodedFile(np.ascontiguousarray(codes[:, :known]), sizes, weight, sensitive), keys, parameters.diversity)


def risk(file: CodedFile, keys: Keys, diversity: int = 2) -> dict[str, Any]:
    """k-anonymity of all fields together and by key, unsafe records, and l-diversity where a field is sensitive."""
    words = unsafe_words(file.codes, file.sizes, keys)
    together = _groups(file, tuple(range(len(keys.fields))))
    return {
        "schema": 1,
        "records": len(file.codes),
        "fields": list(keys.fields),
        "unsafe_records": int(words.any(axis=1).sum()),
        "unsafe_combinations": int(np.bitwise_count(words).sum()),
        "all_fields": _all_fields(file, together, diversity),
        "keys": [_of_key(file, keys, key, diversity) for key in keys.keys],
    }


def _groups(file: CodedFile, fields: tuple[int, ...]) -> Ints:
    """The group of each record by its scores on some fields, numbered from 0; -1 where one is missing."""
    flat, _ = combine(np.ascontiguousarray(file.codes.T), fields, [int(file.sizes[f]) for f in fields])
    return renumber(flat)[0]


def _all_fields(file: CodedFile, group: Ints, diversity: int) -> dict[str, Any]:
    present = group >= 0
    counts = np.bincount(group[present])
    size = counts[group[present]]
    ends = [*SIZES[1:], None]
    return {
        "k": int(counts.min()) if len(counts) else None,
        "incomplete_records": int((~present).sum()),
        "records_by_group_size": {
            _range_name(low, high): int(((size >= low) & (size < (high or size.max(initial=0) + 1))).sum())
            for low, high in zip(SIZES, ends, strict=True)
        },
        **_population(file, group, counts),
        **_diversity(file, group, diversity),
    }


def _range_name(low: int, high: int | None) -> str:
    if high is None:
        return f"{low}+"
    return str(low) if high == low + 1 else f"{low}-{high - 1}"


def _population(file: CodedFile, group: Ints, counts: Ints) -> dict[str, Any]:
    """Expected re-identifications: every record is found with the probability 1 / (those who share its scores)."""
    if not len(counts):
        return {"expected_reidentifications": 0.0}
    present = group >= 0
    amount, unit = file.weight if file.weight is not None else (np.ones(len(group), np.int64), 1)
    if int(amount.max()) * len(amount) >= 2**62:
        raise InputError("the weights are too large for exact arithmetic", field="--weight")
    total = np.zeros(len(counts), np.int64)
    np.add.at(total, group[present], amount[present])
    shared = np.maximum(total / unit, counts)
    found: dict[str, Any] = {"expected_reidentifications": round(float((counts / shared).sum()), 3)}
    if file.weight is not None:
        alone = (counts == 1) & (total < 2 * unit)
        found["estimated_population"] = float(total.sum() / unit)
        found["sample_uniques_likely_unique_in_the_population"] = int(alone.sum())
    return found


def _diversity(file: CodedFile, group: Ints, wanted: int) -> dict[str, Any]:
    """The fewest different sensitive scores of any group (l), and the records of groups with fewer than wanted."""
    if file.sensitive is None:
        return {}
    both = (group >= 0) & (file.sensitive >= 0)
    pairs = np.unique(np.stack([group[both], file.sensitive[both].astype(np.int64)]), axis=1)
    different = np.bincount(pairs[0], minlength=int(group.max(initial=0)) + 1)
    inhabited = np.unique(group[both])
    few = both & (different[np.maximum(group, 0)] < wanted)
    least = int(different[inhabited].min()) if len(inhabited) else None
    return {"l": least, "records_below_l": int(few.sum()), "wanted_l": wanted}


def _of_key(file: CodedFile, keys: Keys, key: Key, diversity: int) -> dict[str, Any]:
    group = _groups(file, key.fields)
    counts = np.bincount(group[group >= 0])
    rare = counts < key.threshold
    return {
        "key": [keys.fields[f] for f in key.fields],
        "threshold": key.threshold,
        "combinations": len(counts),
        "k": int(counts.min()) if len(counts) else None,
        "uniques": int((counts == 1).sum()),
        "unsafe_combinations": int(rare.sum()),
        "unsafe_records": int(counts[rare].sum()),
        **_diversity(file, group, diversity),
    }
