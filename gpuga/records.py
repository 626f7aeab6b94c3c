"""From records to a protected table in one call: tabulate, find the sensitive cells, protect, audit."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from gpuga.context import Clock
from gpuga.errors import InputError
from gpuga.files.csv import parse_csv
from gpuga.files.frames import write_records
from gpuga.files.hrc import Files, files_of, read_hierarchy
from gpuga.files.notation import Written
from gpuga.files.read import Source
from gpuga.methods import DEFAULT
from gpuga.microdata import Layout, Tabulation, parse_rule, tabulate
from gpuga.microdata.table_file import tabulation_content
from gpuga.protect import RunOptions, protect
from gpuga.result import Protection
from gpuga.table.columns import FigureOptions, Reading


def protect_records(
    records: Any,
    by: Sequence[str],
    value: str,
    rule: str | Sequence[str],
    *,
    hierarchies: Mapping[str, Files] | None = None,
    method: str = DEFAULT,
    tabulating: Mapping[str, Any] | None = None,
    **run: Unpack[RunOptions],
) -> Protection:
    """Tabulate records, mark the sensitive cells and find a safe pattern for the table.

    `records` is a file (CSV, Excel, Parquet) or a pandas, polars or Arrow frame with one row per record, `by` the
    columns that become dimensions, `value` the column to sum. `rule` (or several: any one makes a cell sensitive) is
    one of `frequency:m[,range%]`, `nk:n,k`, `p:p` and `pq:p,q`. `hierarchies` gives the `.hrc` file (or several) by
    dimension. `method` is one of `gpuga methods`. `tabulating` has further columns and choices by name: `weight`,
    `respondent`, `holding`, `waiver`, `cost`, `decimals` and `negative` as in `gpuga.microdata.Layout`, `total`,
    `singletons` and `zeros` as in `gpuga.microdata.tabulate`. All other arguments
    are those of `gpuga.protect`: `seed`, `seconds`, `backend`, ...

    >>> protection = gpuga.protect_records(firms, ["region", "activity"], "turnover", "p:10")   # doctest: +SKIP
    >>> protection.to_frame()                                                                   # doctest: +SKIP
    >>> protection.publish("public.csv")                                                        # doctest: +SKIP
    """
    if run.get("clock") is None:
        run["clock"] = Clock(run.get("seconds"))  # tabulating counts
    tabulation = tabulated(records, by, value, rule, hierarchies, **(tabulating or {}))
    return protect(tabulation.table(), method, **run)


class SourceOptions(FigureOptions, total=False):
    """What may be said of the table of records besides what `tabulated` is told."""

    hierarchies: Mapping[str, Files] | None
    total: str


LAYOUT = ("weight", "respondent", "holding", "waiver", "cost", "decimals", "negative")
FURTHER = ("total", "singletons", "zeros", "written", "threads")


def tabulated(
    records: Any,
    by: Sequence[str],
    value: str,
    rule: str | Sequence[str],
    hierarchies: Mapping[str, Files] | None = None,
    **further: Any,
) -> Tabulation:
    """The table of records in a file or a frame; arguments as in `protect_records`."""
    if isinstance(by, str):
        by = [by]
    for name in further:
        if name not in (*LAYOUT, *FURTHER):
            raise InputError(f"is not one of {', '.join((*LAYOUT, *FURTHER))}", field=name)
    layout = Layout(tuple(by), value, **{name: further.pop(name) for name in LAYOUT if name in further})
    rules = [parse_rule(one) for one in ([rule] if isinstance(rule, str) else rule)]
    if isinstance(records, str | Path):
        return tabulate(records, layout, rules, hierarchies=hierarchies, **further)
    with tempfile.TemporaryDirectory(prefix="gpuga-") as folder:
        path = Path(folder) / "frame.csv"
        write_records(records, path)
        further["written"] = replace(further.get("written") or Written(), separator=",")
        try:
            return tabulate(path, layout, rules, hierarchies=hierarchies, **further)
        except InputError as fault:
            if fault.path != path:
                raise
            row = "" if fault.line is None else f"row {fault.line - 1}: "
            raise InputError(f"{row}{fault.what}", field=fault.field) from None


def records_source(path: str | Path, tabulating: Mapping[str, Any], **reading: Unpack[SourceOptions]) -> Source:
    """The table of a file of records, as if it had been written and read; `tabulating` is passed to `tabulated`."""
    path = Path(path)
    hierarchies = reading.pop("hierarchies", None) or {}
    tabulation = tabulated(path, hierarchies=hierarchies, **tabulating)
    text = tabulation_content(tabulation, "table.csv")
    assert isinstance(text, str)  # of a .csv file it is
    trees = {name: [read_hierarchy(file) for file in files_of(given)] for name, given in hierarchies.items()}
    plainly = Written(separator=",", decimal="point", thousands="none")
    table = parse_csv(text, path, Reading.of(trees, reading), plainly)  # type: ignore[arg-type]
    return Source(table, path.with_suffix(".csv"), text, written=plainly)
