"""What the blocks of code on the pages work on: files in a folder, and names that a page speaks of as given."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path
from typing import Any

import numpy as np

from gpuga.table.generate import herrington

EXAMPLES = Path(__file__).parents[2] / "examples"


def prepare(folder: Path) -> None:
    """Records of firms and of persons, and the hierarchies that the pages name."""
    make = runpy.run_path(str(EXAMPLES / "microdata" / "make_records.py"))
    make["write_records"](folder / "made.csv", 400, 1.2)
    with (folder / "made.csv").open(encoding="utf-8", newline="") as file:
        firms = list(csv.DictReader(file))
    for firm in firms:
        firm["activity"] = firm["industry"][:2]
        firm["size"] = "large" if float(firm["turnover"]) > 300 else "small"
    _write(folder / "records.csv", firms)
    for name in ("region", "industry"):
        (folder / f"{name}.hrc").write_bytes((EXAMPLES / "microdata" / f"{name}.hrc").read_bytes())
    (folder / "isco.hrc").write_text("1\n@11\n@12\n2\n@21\n@22\n", encoding="utf-8")
    random = np.random.default_rng(3)
    persons = [
        {
            "age": str(random.integers(18, 70)),
            "region": str(random.choice(["N100", "N101", "S200"])),
            "sex": str(random.choice(["f", "m"])),
            "occupation": str(random.choice(["11", "12", "21", "22"])),
            "town": str(random.choice(["Ay", "Bee"])),
            "job": str(random.choice(["smith", "baker"])),
            "weight": str(random.integers(1, 9)),
            "illness": str(random.choice(["none", "cold", "gout"])),
        }
        for _ in range(80)
    ]
    for name in ("persons.csv", "people.csv"):
        _write(folder / name, persons)


def prepare_examples(folder: Path) -> None:
    """The shipped example as in its own folder, a table that shares its regions, and a file of jobs."""
    for name in ("turnover.csv", "region.hrc", "activity.hrc"):
        (folder / name).write_bytes((EXAMPLES / name).read_bytes())
    with (folder / "turnover.csv").open(encoding="utf-8", newline="") as file:
        regions = [row for row in csv.DictReader(file) if row["activity"] == "Total"]
    sizes = []
    for row in regions:
        small = round(0.25 * float(row["value"]), 1)
        parts = {"Total": row["value"], "small": str(small), "large": f"{float(row['value']) - small:.1f}"}
        if row["region"].startswith(("Total", "North", "South", "East", "West")):
            continue  # totals are added
        sizes += [{"region": row["region"], "size": size, "value": value} for size, value in parts.items()]
    _write(folder / "sizes.csv", sizes)
    (folder / "jobs.toml").write_text(
        '[options]\nseconds = 6\n\n[[job]]\ntable = "turnover.csv"\n'
        'options = { hierarchy = ["region=region.hrc", "activity=activity.hrc"] }\n',
        encoding="utf-8",
    )


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def names_for(page: str, folder: Path) -> dict[str, Any]:
    """What a page takes as given in its Python."""
    import pandas

    import gpuga

    if page == "README.md":
        return {"firms": pandas.read_csv(folder / "records.csv", dtype={"region": str})}
    if page == "docs/methods.md":
        return {"gpuga": gpuga, "table": herrington(8, 8, 0.05, seed=1)}
    if page == "docs/kernels.md":
        shape, pattern = (4, 4), np.ones((1, 16), bool)
        inner = np.zeros(shape, bool)
        inner[:3, :3] = True
        return {
            "up": np.full(shape, 9),
            "down": np.full(shape, 9),
            "cell": np.array([0]),
            "direction": np.array([1]),
            "need": np.array([4]),
            "weights": np.ones(shape, np.int64),
            "primaries": np.arange(16).reshape(shape) == 0,
            "candidates": inner,
            "patterns": pattern,
            "seeds": np.array([1]),
        }
    return {}
