"""The summary of many jobs: one HTML page to look at and the same as CSV; both stay in the office."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from gpuga.audience import CONFIDENTIAL
from gpuga.cluster.job_folder import Result

COLUMNS = ("job", "state", "cells", "sensitive", "secondary", "cost", "gap", "method", "seconds", "note", "folder")
FIGURES = ("cells", "sensitive", "secondary", "cost", "method")

STYLE = """:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 1rem auto; max-width: 1240px; padding: 0 1rem; }
.banner { background: #a81818; color: #fff; font-weight: 700; padding: .35rem .8rem; border-radius: 4px; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; padding: .25rem .7rem; border-bottom: 1px solid #8888; vertical-align: top; }
td { overflow-wrap: anywhere; }
.safe { color: #14863a; } .failed { color: #d02020; font-weight: 700; } .open { color: #888; }
"""


@dataclass(frozen=True)
class Row:
    """One job with what came of it; None where nothing has yet."""

    name: str
    folder: Path
    result: Result | None

    @property
    def state(self) -> str:
        """In a word or two."""
        if self.result is None:
            return "open"
        if self.result.safe:
            return "safe"
        return {2: "bad input", 3: "no safe pattern", 4: "out of time"}.get(self.result.code, "failed")

    def cells(self) -> list[str]:
        """The entries of `COLUMNS`."""
        result = self.result or Result(1)
        said = {name: result.summary.get(name) for name in FIGURES}
        gap = result.summary.get("gap")
        figures = [("" if said[name] is None else str(said[name])) for name in FIGURES[:-1]]
        shown = "" if gap is None else f"{100 * gap:.2f} %"
        seconds = "" if self.result is None else f"{result.seconds:.2f}"
        return [
            self.name, self.state, *figures, shown, said["method"] or "", seconds, result.sentence, self.folder.name
        ]  # fmt: skip


def counted(rows: Sequence[Row]) -> str:
    """How many jobs are in which state, in one line."""
    states = [row.state for row in rows]
    found = {state: states.count(state) for state in dict.fromkeys(sorted(states))}
    return f"{len(rows)} jobs: " + ", ".join(f"{count} {state}" for state, count in found.items())


def csv_text(rows: Sequence[Row]) -> str:
    """The table as CSV; what could be taken for a formula begins with an apostrophe."""
    out = io.StringIO()
    out.write(f"# {CONFIDENTIAL}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([[_harmless(cell) for cell in row.cells()] for row in rows])
    return out.getvalue()


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@") else cell


def html_text(rows: Sequence[Row], title: str) -> str:
    """The page: nothing is loaded and no script runs; every text is escaped."""
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<p class="banner">{CONFIDENTIAL}</p>\n<h1>{escape(title)}</h1>\n<p>{escape(counted(rows))}</p>\n'
        f"<table>\n<tr>{head}</tr>\n{''.join(map(_html_row, rows))}</table>\n</body>\n</html>\n"
    )


def _html_row(row: Row) -> str:
    kind = row.state if row.state in ("safe", "open") else "failed"
    cells = [escape(cell) for cell in row.cells()]
    cells[1] = f'<span class="{kind}">{cells[1]}</span>'
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"
