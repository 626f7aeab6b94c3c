"""A census-like file of persons: ages, regions, households, education, occupation and birth, drawn by a seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FIELDS = ("age", "sex", "region", "status", "education", "occupation", "birth")
RECODE = {
    "age": "width:5,10,20",
    "region": "prefix:3,2,1",
    "occupation": "prefix:2,1",
    "birth": "prefix:1",
}


def write_persons(path: Path, persons: int, seed: int = 1) -> None:
    """A CSV file of so many persons with the columns of `FIELDS`, a sampling weight and an illness."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(5.0, 8.5, persons).astype(int), 0, 99)
    region = _skewed(rng, persons, 380, 1.1)
    occupation = np.where((age < 16) | (age > 70), 0, 1 + _skewed(rng, persons, 120, 1.3))
    columns = {
        "age": age.astype(str),
        "sex": np.array(["f", "m"])[rng.integers(0, 2, persons)],
        "region": np.char.add("R", np.char.zfill(region.astype(str), 3)),
        "status": np.array(["single", "married", "divorced", "widowed"])[_status(rng, age)],
        "education": np.minimum(_skewed(rng, persons, 8, 1.1), np.maximum(age - 8, 0) // 2).astype(str),
        "occupation": np.char.zfill(occupation.astype(str), 3),
        "birth": np.array([f"{c}{n}" for c in "ABCDE" for n in range(12)])[_skewed(rng, persons, 60, 2.2)],
        "weight": rng.integers(5, 60, persons).astype(str),
        "illness": np.array([f"i{n}" for n in range(9)])[_skewed(rng, persons, 9, 1.2)],
    }
    lines = np.stack(list(columns.values()), axis=1)
    np.savetxt(path, lines, "%s", ",", header=",".join(columns), comments="")


def _skewed(
    rng: np.random.Generator, count: int, codes: int, steepness: float
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Codes 0.. whose frequencies fall like a power of their rank."""
    share = 1.0 / np.arange(1, codes + 1) ** steepness
    return rng.choice(codes, count, p=share / share.sum()).astype(np.int64)


def _status(
    rng: np.random.Generator, age: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Marital status: children are single, the old often widowed."""
    draw = rng.random(len(age))
    grown = np.where(draw < 0.3, 0, np.where(draw < 0.8, 1, 2))
    old = np.where(draw < 0.1, 0, np.where(draw < 0.55, 1, np.where(draw < 0.65, 2, 3)))
    return np.where(age < 18, 0, np.where(age < 65, grown, old)).astype(np.int64)
