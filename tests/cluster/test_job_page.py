"""The summary of all jobs says how each stands, and carries no code of others."""

from __future__ import annotations

import csv
from pathlib import Path

from gpuga.cluster.job_folder import Result
from gpuga.cluster.job_page import COLUMNS, Row, counted, csv_text, html_text

FIGURES = {"safe": True, "cells": 12, "sensitive": 2, "secondary": 3, "cost": 7.5, "gap": 0.0125, "method": "circuits"}
ROWS = [
    Row("good", Path("/x/good-1"), Result(0, "", 1.25, FIGURES)),
    Row("none", Path("/x/none-1"), Result(3, "no safe pattern exists <script>", 0.5)),
    Row("late", Path("/x/late-1"), Result(4, "=1+1")),
    Row("odd", Path("/x/odd-1"), Result(0, "", 1.0, {"safe": False})),
    Row("open", Path("/x/open-1"), None),
]


def test_every_state_has_its_word() -> None:
    assert [row.state for row in ROWS] == ["safe", "no safe pattern", "out of time", "failed", "open"]
    assert counted(ROWS) == "5 jobs: 1 failed, 1 no safe pattern, 1 open, 1 out of time, 1 safe"


def test_the_table_has_a_row_per_job() -> None:
    first, *rest = csv_text(ROWS).splitlines()
    assert "CONFIDENTIAL" in first
    rows = list(csv.DictReader(rest))
    assert tuple(rows[0]) == COLUMNS
    assert rows[0] == {
        "job": "good", "state": "safe", "cells": "12", "sensitive": "2", "secondary": "3", "cost": "7.5",
        "gap": "1.25 %", "method": "circuits", "seconds": "1.25", "note": "", "folder": "good-1",
    }  # fmt: skip
    assert rows[2]["note"] == "'=1+1", "a sheet takes it for a text"
    assert rows[4]["seconds"] == ""


def test_the_page_escapes_what_others_wrote() -> None:
    page = html_text(ROWS, "jobs <b>.toml")
    assert "CONFIDENTIAL" in page
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "jobs &lt;b&gt;.toml" in page
    assert page.count("<tr>") == 1 + len(ROWS)
    assert '<span class="safe">safe</span>' in page
    assert '<span class="failed">no safe pattern</span>' in page
