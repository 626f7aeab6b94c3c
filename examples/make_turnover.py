"""Makes the example: turnover of invented firms by region and activity, both hierarchical.

    python examples/make_turnover.py examples

writes turnover.csv, region.hrc and activity.hrc. Turnover is in thousands, to one decimal. A cell is
sensitive when one or two firms stand behind it, or when its largest firm makes more than 85 % of it.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

REGIONS = {
    "Northshire": ["Alderby", "Brackwater", "Coldfell"],
    "Eastmarch": ["Dunholme", "Eskmouth", "Fenbridge", "Garrow"],
    "Southvale": ["Hartwell", "Ivybourne", "Kingsmere"],
    "Westland": ["Longmoor", "Millport", "Netherby", "Oakhurst"],
}
ACTIVITIES = {
    "C Manufacturing": ["C10 Food", "C13 Textiles", "C16 Wood", "C25 Metal goods", "C28 Machinery"],
    "F Construction": ["F41 Buildings", "F42 Civil works", "F43 Specialised"],
    "G Trade": ["G45 Motor trade", "G46 Wholesale", "G47 Retail"],
    "I Hospitality": ["I55 Lodging", "I56 Food service"],
    "M Services": ["M69 Law and accounts", "M71 Engineering", "M73 Advertising", "M75 Veterinary"],
}
SEED = 20081


def firms() -> dict[tuple[str, str], list[int]]:
    """The turnover of every firm, in tenths of a thousand, by district and division."""
    random = np.random.Generator(np.random.PCG64(SEED))
    size = {d: random.lognormal(0.9, 0.7) for parts in REGIONS.values() for d in parts}
    trade = {d: random.lognormal(0.5, 0.8) for parts in ACTIVITIES.values() for d in parts}
    return {
        (district, division): np.ceil(
            random.lognormal(5.5, 1.1, random.poisson(1.6 * size[district] * trade[division]))
        )
        .astype(int)
        .tolist()
        for district in size
        for division in trade
    }


def below(tree: dict[str, list[str]]) -> dict[str, list[str]]:
    """Every code, totals included, with the leaves under it."""
    leaves = {leaf: [leaf] for parts in tree.values() for leaf in parts}
    return {"Total": list(leaves)} | {group: list(parts) for group, parts in tree.items()} | leaves


def row(region: str, activity: str, turnovers: list[int]) -> list[str]:
    """One cell: its turnover, how many firms make it, and whether it is sensitive."""
    total, firms = sum(turnovers), len(turnovers)
    dominated = total > 0 and max(turnovers) > 0.85 * total
    status = "s" if firms == 0 or not (firms <= 2 or dominated) else "u"
    return [region, activity, f"{total // 10}.{total % 10}", str(firms), status]


def main(folder: Path) -> None:
    """Write the three files."""
    made = firms()
    with (folder / "turnover.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["region", "activity", "value", "contributors", "status"])
        for region, districts in below(REGIONS).items():
            for activity, divisions in below(ACTIVITIES).items():
                inside = [t for d in districts for a in divisions for t in made[d, a]]
                writer.writerow(row(region, activity, inside))
    for name, tree in (("region", REGIONS), ("activity", ACTIVITIES)):
        lines = [line for group, parts in tree.items() for line in (group, *(f"@{p}" for p in parts))]
        (folder / f"{name}.hrc").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
