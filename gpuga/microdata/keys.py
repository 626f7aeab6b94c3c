"""Keys: the sets of identifying fields whose rare score combinations are unsafe, each with its threshold.

A combination of scores on a key is unsafe when fewer records than the key's threshold share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable

MOST_FIELDS = 63
"""Sets of fields are kept as the bits of an int64."""


@dataclass(frozen=True)
class Key:
    """A set of fields (positions, ascending) and the frequency below which a combination is unsafe."""

    fields: tuple[int, ...]
    threshold: int


@dataclass(frozen=True)
class Keys:
    """All keys of a file, by size and then by fields."""

    fields: tuple[str, ...]
    keys: tuple[Key, ...]

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def masks(self) -> NDArray[np.int64]:
        """Each key as bits over the fields (int64[keys])."""
        return np.array([sum(1 << f for f in key.fields) for key in self.keys], np.int64)

    @cached_property
    def thresholds(self) -> NDArray[np.int64]:
        """int64[keys]."""
        return np.array([key.threshold for key in self.keys], np.int64)

    @cached_property
    def supersets(self) -> NDArray[np.uint64]:
        """For each key the bits of its proper supersets among the keys (uint64[keys, W])."""
        return _bits((self.masks & self.masks[:, None]) == self.masks[:, None])

    def name(self, key: int) -> str:
        """A key's fields, for messages."""
        return " x ".join(printable(self.fields[f]) for f in self.keys[key].fields)


def _bits(related: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Truth values (bool[keys, keys], the diagonal left out) as bits of 64-bit words (uint64[keys, W])."""
    words = np.zeros((len(related), (len(related) + 63) // 64), np.uint64)
    for key, other in zip(*np.nonzero(related), strict=True):
        if key != other:
            words[key, other // 64] |= np.uint64(1) << np.uint64(other % 64)
    return words


def make_keys(
    fields: Sequence[str],
    dimension: int,
    threshold: int | Mapping[int, int],
    extra: Iterable[tuple[Sequence[str], int]] = (),
) -> Keys:
    """All keys of up to `dimension` fields with one threshold (or one per size), and extra ones by name."""
    if not fields or len(set(fields)) != len(fields):
        raise InputError("give the identifying fields, each once", field="--fields")
    if len(fields) > MOST_FIELDS:
        raise InputError(f"at most {MOST_FIELDS} identifying fields are supported", field="--fields")
    found: dict[tuple[int, ...], int] = {}
    for size in range(1, min(dimension, len(fields)) + 1):
        limit = threshold if isinstance(threshold, int) else threshold.get(size)
        if limit is None:
            raise InputError(f"there is no threshold for keys of {size} fields", field="--threshold")
        for members in combinations(range(len(fields)), size):
            found[members] = _checked(limit)
    for names, limit in extra:
        found[_positions(fields, names)] = _checked(limit)
    if not found:
        raise InputError("there is no key: choose --dimension 1 or more, or give keys", field="--dimension")
    ordered = sorted(found, key=lambda members: (len(members), members))
    return Keys(tuple(fields), tuple(Key(members, found[members]) for members in ordered))


def _positions(fields: Sequence[str], names: Sequence[str]) -> tuple[int, ...]:
    for name in names:
        if name not in fields:
            raise InputError(f"key field {printable(name)} is not among the identifying fields", field="--key")
    if not names or len(set(names)) != len(names):
        raise InputError("a key names one field or more, each once", field="--key")
    return tuple(sorted(fields.index(name) for name in names))


def _checked(threshold: int) -> int:
    if threshold < 1:
        raise InputError(f"a threshold is 1 or more, not {threshold}", field="--threshold")
    return threshold
