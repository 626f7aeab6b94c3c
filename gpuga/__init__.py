"""Cell suppression for statistical tables: patterns that are proven safe.

>>> import gpuga
>>> table = gpuga.read_table("turnover.csv")                     # doctest: +SKIP
>>> protection = gpuga.protect(table, method="circuits", seed=1)  # doctest: +SKIP
>>> gpuga.audit(table, protection.suppressed).safe                # doctest: +SKIP
True

Everything is loaded when first used, so that importing the package is cheap and touches no GPU.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gpuga.version import __version__

__all__ = [
    "Audit",
    "Bound",
    "Exposure",
    "Likeness",
    "Member",
    "Plan",
    "ProtectedTables",
    "Protection",
    "Table",
    "__version__",
    "audit",
    "compare",
    "exposure",
    "link",
    "lower_bound",
    "plan",
    "protect",
    "protect_records",
    "protect_tables",
    "read_table",
    "table_from_array",
    "table_from_frame",
    "write_table",
]

_HOME = {
    "Audit": "gpuga.safety.audit",
    "Bound": "gpuga.protection",
    "Exposure": "gpuga.safety.exposure",
    "Likeness": "gpuga.table.likeness",
    "Member": "gpuga.table.links",
    "Plan": "gpuga.table.plan",
    "ProtectedTables": "gpuga.linked",
    "Protection": "gpuga.result",
    "Table": "gpuga.table.table",
    "audit": "gpuga.safety.audit",
    "compare": "gpuga.compare",
    "exposure": "gpuga.safety.exposure",
    "link": "gpuga.table.links",
    "lower_bound": "gpuga.cluster.separation",
    "plan": "gpuga.table.plan",
    "protect": "gpuga.protect",
    "protect_records": "gpuga.records",
    "protect_tables": "gpuga.linked",
    "read_table": "gpuga.files.read",
    "table_from_array": "gpuga.table.builders",
    "table_from_frame": "gpuga.table.builders",
    "write_table": "gpuga.files.read",
}

if TYPE_CHECKING:
    from gpuga.cluster.separation import lower_bound
    from gpuga.compare import compare
    from gpuga.files.read import read_table, write_table
    from gpuga.linked import ProtectedTables, protect_tables
    from gpuga.protect import protect
    from gpuga.protection import Bound
    from gpuga.records import protect_records
    from gpuga.result import Protection
    from gpuga.safety.audit import Audit, audit
    from gpuga.safety.exposure import Exposure, exposure
    from gpuga.table.builders import table_from_array, table_from_frame
    from gpuga.table.likeness import Likeness
    from gpuga.table.links import Member, link
    from gpuga.table.plan import Plan, plan
    from gpuga.table.table import Table


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keeps `gpuga.protect` and `gpuga.compare` functions: importing the modules of these names must not hide them."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
