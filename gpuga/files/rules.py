"""The rules that made cells sensitive, where a table's file names them, and the codes of the data exchange for them.

`gpuga tabulate` writes them to the column `rule`: `p:10`, or `nk:2,85 and frequency:3` where several fired. They say
something of the contributors of a cell, so that only `publish --sdmx` tells them, and only as codes.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpuga.files.read import Source
from gpuga.table.words import BETWEEN_RULES, RULE

CONFIDENTIAL, FEW, ONE, TWO, ONE_OR_TWO, OTHERWISE = "C", "A", "O", "T", "G", "M"
"""Of a reason that is not told, too few contributors, dominated by one, two, one or two contributors, or otherwise
concentrated (SDMX, CL_CONF_STATUS)."""


def rules_of(source: Source) -> dict[int, str]:
    """The rules of sensitive cells, by cell, as far as the file names any."""
    entries = _column(source)[: source.table.given]
    return {cell: text for cell, text in enumerate(entries) if text and source.table.primary[cell]}


def _column(source: Source) -> Sequence[str]:
    if source.frame is not None:
        there = RULE in source.frame.column_names
        return ["" if v is None else str(v).strip() for v in source.frame.column(RULE).to_pylist()] if there else []
    if source.table.grid is None or not source.text:
        return []
    return [text.strip() for text in source.columns().by_name().get(RULE, [])]


def rule_code(text: str) -> str:
    """The SDMX code of what the column `rule` says of a primary: too few contributors count before dominance."""
    kinds = {_kind(part) for part in text.split(BETWEEN_RULES)}
    if FEW in kinds:
        return FEW
    if {ONE, TWO} <= kinds:
        return ONE_OR_TWO
    return next((kind for kind in (ONE, TWO, OTHERWISE) if kind in kinds), CONFIDENTIAL)


def _kind(rule: str) -> str:
    """The code of one rule; one that is not known tells nothing."""
    name, _, numbers = rule.strip().partition(":")
    if name == "nk":
        return {"1": ONE, "2": TWO}.get(numbers.partition(",")[0].strip(), OTHERWISE)
    return {"frequency": FEW, "p": OTHERWISE, "pq": OTHERWISE}.get(name, CONFIDENTIAL)
