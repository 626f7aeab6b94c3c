"""What a pattern takes away, as data and as sentences: shares, counts by level, totals by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpuga.report.losses import Losses
    from gpuga.report.names import Names
    from gpuga.table.table import Table

MOST_TOTALS = 10


def loss_content(losses: Losses, table: Table, names: Names) -> dict[str, Any]:
    """The losses as they stand in JSON files."""
    from gpuga.report.losses import level_word

    grid = table.grid
    by_name = {d.name: d for d in grid.dimensions} if grid is not None else {}
    return {
        "cells": losses.cells,
        "primary": losses.primary,
        "secondary": losses.secondary,
        "share": round(losses.share, 6),
        "levels": [
            {
                "dimension": one.dimension,
                "level": level_word(by_name[one.dimension], one.depth),
                "cells": one.cells,
                "suppressed": one.suppressed,
                "share": round(one.share, 6),
                "value_share": round(one.value_share, 6),
            }
            for one in losses.levels
        ],
        "totals": [names(cell) for cell in losses.totals],
    }


def loss_lines(content: dict[str, Any]) -> list[str]:
    """The losses for people."""
    from gpuga.errors import printable

    hidden = content["primary"] + content["secondary"]
    kinds = f"{content['primary']:,} primary, {content['secondary']:,} secondary"
    lines = [f"suppressed: {hidden:,} of {content['cells']:,} cells ({100 * content['share']:.1f} %): {kinds}"]
    by_dimension: dict[str, list[str]] = {}
    for one in content["levels"]:
        words = f"{one['level']}: {one['suppressed']:,} of {one['cells']:,} ({100 * one['value_share']:.1f} % of value)"
        by_dimension.setdefault(one["dimension"], []).append(words)
    lines += [f"  {printable(name)}, {'; '.join(words)}" for name, words in by_dimension.items()]
    totals = content["totals"]
    if not totals:
        return [*lines, "suppressed totals: none"]
    more = f"; and {len(totals) - MOST_TOTALS} more" if len(totals) > MOST_TOTALS else ""
    return [*lines, f"suppressed totals ({len(totals):,}): {'; '.join(totals[:MOST_TOTALS])}{more}"]
