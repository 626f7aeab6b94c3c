"""The cost curve is drawn from the log of a run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpuga.errors import InputError
from gpuga.report.curve import HEIGHT, WIDTH, cost_curve, read_log


def row(seconds: float, best: float, lower: float) -> dict[str, float]:
    return {"seconds": seconds, "best": best, "lower_bound": lower}


@pytest.mark.parametrize("rows", [[row(1, 9, 3), row(2, 8, 4), row(5, 6, 5)], [row(0, 7, 7)], [row(2, 0, 0)]])
def test_both_lines_stay_inside_the_drawing(rows: list[dict[str, float]]) -> None:
    drawing = cost_curve(rows)
    for path in re.findall(r'<path class="(?:best|lower_bound)" d="([^"]*)"', drawing):
        numbers = [float(x) for x in re.findall(r"-?[0-9.]+", path)]
        assert all(0 <= x <= max(WIDTH, HEIGHT) for x in numbers)
    assert f"best cost {rows[-1]['best']}" in drawing


def test_a_log_is_read_and_what_is_none_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('{"seconds": 1, "best": 5, "lower_bound": 4, "more": "x"}\n')
    assert read_log(path) == [row(1, 5, 4)]
    for bad in ("[]", "{}", "x", '{"seconds": null, "best": 5, "lower_bound": 4}'):
        path.write_text(f'{{"seconds": 1, "best": 5, "lower_bound": 4}}\n{bad}\n')
        with pytest.raises(InputError, match="line 2: is not a row of a log"):
            read_log(path)
