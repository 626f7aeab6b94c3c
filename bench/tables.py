"""The tables of the experiments by name, so that a row of results says which table it stands for.

class1:100x100:SEED   class1:100x100:5%:SEED   class2:300x300:SEED   herrington:400x250:1%:SEED
smith2d:200x5:0.02:0.05:SEED
smith3d:100x5x106:0.17:0.41:3:SEED (the fifth field names the hierarchical dimension, 0 for none; smith2d may have one)
nested:17x10x8:0.05:SEED (two of three dimensions have groups)
serpell:5x8:17:8:SEED (primaries and zeros are numbers of cells)   serpell-example
"""

from __future__ import annotations

import csv
from functools import lru_cache
from pathlib import Path

from bench.nested import nested3d
from bench.peers_2d import whole_numbers
from gpuga.table import Table
from gpuga.table.builders import table_from_frame
from gpuga.table.generate import class1, class2, herrington, smith2d, smith3d

PUBLISHED = Path(__file__).parent / "published"
SMALL = {
    "class1": "class1:30x30:2",
    "class2": "class2:40x40:1",
    "herrington": "herrington:60x60:1%:1",
    "whole": "whole:12x12:5%:1",
    "smith2d": "smith2d:20x6:0.1:0.1:1",
    "smith3d": "smith3d:8x5x4:0.1:0.1:0:1",
    "nested": "nested:9x7x4:0.1:1",
    "serpell": "serpell:5x5:4:2:1",
    "serpell-example": "serpell-example",
}
"""For each kind a table small enough to be protected in passing, to have everything compiled."""


@lru_cache(maxsize=2)
def named_table(name: str) -> Table:
    """The table of that name; the last two are kept, since methods follow each other on one table."""
    kind, *fields = name.split(":")
    if kind == "serpell-example":
        return serpell_example()
    shape = [int(size) for size in fields[0].split("x")]
    rows, columns = shape[:2]
    seed = int(fields[-1])
    if kind == "class1":
        share = float(fields[1].rstrip("%")) / 100 if len(fields) > 2 else None
        return class1(rows, columns, seed, share)
    if kind == "class2":
        return class2(rows, columns, seed)
    if kind == "herrington":
        return herrington(rows, columns, float(fields[1].rstrip("%")) / 100, seed)
    if kind == "whole":
        return whole_numbers(rows, columns, float(fields[1].rstrip("%")) / 100, seed)
    if kind == "smith2d":
        hierarchical = int(fields[3]) if len(fields) > 4 else 0
        return smith2d(rows, columns, float(fields[1]), float(fields[2]), seed, hierarchical)
    if kind == "smith3d":
        return smith3d(shape, float(fields[1]), float(fields[2]), seed, int(fields[3]))
    if kind == "nested":
        return nested3d(shape, float(fields[1]), seed)
    if kind == "serpell":
        cells = (rows + 1) * (columns + 1)
        return smith2d(rows + 1, columns + 1, int(fields[1]) / cells, int(fields[2]) / cells, seed)
    raise ValueError(f"no table is called {name!r}")


def published(name: str) -> list[dict[str, str]]:
    """The rows of a file of published figures."""
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def serpell_example() -> Table:
    """The 6 by 6 example of Serpell et al. 2008; levels of a tenth of the value, at least 1."""
    rows = published("serpell_example_6x6")
    columns = {
        "row": [row["row"] for row in rows],
        "column": [row["column"] for row in rows],
        "value": [int(row["value"]) for row in rows],
        "status": ["u" if row["sensitive"] == "1" else "s" for row in rows],
    }
    return table_from_frame(columns, levels="max(1,10%)", name="serpell-example")
