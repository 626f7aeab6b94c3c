"""Makes 20,000 invented firms with region, activity, size and turnover, and the hierarchies of region and activity.

    python examples/firms/make_firms.py FOLDER --firms 20000

Turnover is very uneven and grows with the size class; some activities are rare, so that many cells are dominated by one
or two firms. The same number of firms gives the same files.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

SEED = 11
REGIONS = {name: [f"{name[0]}{z}" for z in range(1, 5)] for name in ("North", "East", "South", "West")}
SECTIONS = {f"{letter}": [f"{letter}{z:02d}" for z in range(1, 11)] for letter in "ABCDEF"}
SIZES = ("micro", "small", "middle", "large", "huge")


def chances(count: int, steepness: float) -> np.ndarray:
    """Falling chances of the codes: the first ones are common, the last ones rare."""
    weight = np.arange(1, count + 1) ** -steepness
    return weight / weight.sum()


def write_hierarchy(path: Path, tree: dict[str, list[str]]) -> None:
    """A hierarchy of two levels as a .hrc file."""
    lines = [line for above, below in tree.items() for line in (above, *(f"@{code}" for code in below))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_firms(folder: Path, firms: int) -> Path:
    """Write firms.csv, region.hrc and activity.hrc; returns the first."""
    random = np.random.default_rng(SEED)
    regions = [code for below in REGIONS.values() for code in below]
    activities = [code for below in SECTIONS.values() for code in below]
    region = random.choice(regions, firms, p=chances(len(regions), 0.6))
    activity = random.choice(random.permutation(activities), firms, p=chances(len(activities), 0.8))
    size = random.choice(len(SIZES), firms, p=chances(len(SIZES), 1.4))
    turnover = np.ceil(random.lognormal(3.0 + 1.1 * size, 1.2)).astype(np.int64)
    write_hierarchy(folder / "region.hrc", REGIONS)
    write_hierarchy(folder / "activity.hrc", SECTIONS)
    path = folder / "firms.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["firm", "region", "activity", "size", "turnover"])
        writer.writerows(zip(range(firms), region, activity, (SIZES[s] for s in size), turnover.tolist(), strict=True))
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make invented firms.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--firms", type=int, default=20_000)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    print(write_firms(given.folder, given.firms))
