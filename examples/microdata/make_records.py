"""Makes the records of the example: turnover of invented enterprises, some of which belong to holdings.

    python examples/microdata/make_records.py records.csv --records 20000

The codes are those of region.hrc and industry.hrc. A few industries are rare and turnover is very uneven, so that some
cells have one enterprise, and others one that dominates.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
SEED = 7
CHUNK = 500_000


def leaves(path: Path) -> list[str]:
    """The codes of a hierarchy that have no parts."""
    lines = path.read_text(encoding="utf-8").split()
    depths = [len(line) - len(line.lstrip("@")) for line in lines]
    below = [*depths[1:], 0]
    return [
        line.lstrip("@") for line, depth, next_depth in zip(lines, depths, below, strict=True) if next_depth <= depth
    ]


def chances(count: int, steepness: float) -> np.ndarray:
    """Falling chances of the codes: the first ones are common, the last ones rare."""
    weight = np.arange(1, count + 1) ** -steepness
    return weight / weight.sum()


def write_records(path: Path, records: int, steepness: float) -> None:
    """Write the records, a part at a time."""
    random = np.random.default_rng(SEED)
    regions, industries = leaves(HERE / "region.hrc"), leaves(HERE / "industry.hrc")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["enterprise", "holding", "region", "industry", "turnover"])
        for first in range(0, records, CHUNK):
            count = min(CHUNK, records - first)
            region = random.choice(regions, count, p=chances(len(regions), 0.9))
            industry = random.choice(industries, count, p=chances(len(industries), steepness))
            holding = random.integers(0, max(records // 100, 5), count)
            held = random.random(count) < 0.03
            cents = np.ceil(random.lognormal(6.0, 1.8, count) * 100).astype(np.int64)
            writer.writerows(
                (f"E{first + i}", f"H{holding[i]}" if held[i] else "", region[i], industry[i],
                 f"{cents[i] // 100}.{cents[i] % 100:02d}")
                for i in range(count)
            )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make business records.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--steepness", type=float, default=0.8, help="how much rarer each industry is than the last")
    arguments = parser.parse_args()
    write_records(arguments.out, arguments.records, arguments.steepness)
