"""The cost curve of a run as an SVG drawing: best cost and lower bound over time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from gpuga.errors import InputError
from gpuga.files.source import read_text

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 720, 240, 96, 30, 12


def read_log(path: Path) -> list[dict[str, float]]:
    """Seconds, best cost and lower bound of every generation in a log of `gpuga protect --log`."""
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            row = json.loads(line)
            rows.append({name: float(row[name]) for name in ("seconds", "best", "lower_bound")})
        except (ValueError, TypeError, KeyError):
            raise InputError("is not a row of a log", path=path, line=number) from None
    return rows


def cost_curve(rows: Sequence[Mapping[str, float]]) -> str:
    """The drawing."""
    last = max(row["seconds"] for row in rows) or 1.0
    low, high = min(row["lower_bound"] for row in rows), max(row["best"] for row in rows)
    low, high = (low - 0.05 * (high - low), high) if high > low else (low - 1, high + 1)

    def place(seconds: float, cost: float) -> tuple[float, float]:
        x = LEFT + (WIDTH - LEFT - 8) * seconds / last
        return round(x, 1), round(TOP + (HEIGHT - BOTTOM - TOP) * (high - cost) / (high - low), 1)

    lines = []
    for name in ("best", "lower_bound"):
        points = [place(row["seconds"], row[name]) for row in rows]
        start, *rest = points
        steps = "".join(f"H{x}V{y}" for x, y in rest)
        lines.append(f'<path class="{name}" d="M{start[0]},{start[1]}{steps}H{WIDTH - 8}"/>')
    ticks = "".join(
        f'<text x="{LEFT - 8}" y="{place(0, cost)[1] + 4}" text-anchor="end">{cost:,.0f}</text>' for cost in (low, high)
    )
    times = "".join(
        f'<text x="{place(t, low)[0]}" y="{HEIGHT - 8}" text-anchor="{anchor}">{t:,.1f} s</text>'
        for t, anchor in ((0.0, "start"), (last, "end"))
    )
    words = f"best cost {rows[-1]['best']:,.10g}, lower bound {rows[-1]['lower_bound']:,.10g} after {last:,.1f} seconds"
    return (
        f'<figure><svg class="curve" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{words}">'
        f'<path class="axis" d="M{LEFT},{TOP}V{HEIGHT - BOTTOM}H{WIDTH - 8}"/>{"".join(lines)}{ticks}{times}</svg>'
        f"<figcaption>{words}</figcaption></figure>"
    )
