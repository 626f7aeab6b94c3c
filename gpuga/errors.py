"""Everything that can go wrong, as one family of exceptions.

    GpugaError              exit code 1   anything else
    ├── InputError          exit code 2   bad usage or bad input: names file, line and field
    │   └── MissingExtra    exit code 2   a feature whose optional packages are not installed
    ├── Infeasible          exit code 3   no safe pattern exists: names the cells and why
    └── OutOfTime           exit code 4   time ran out before any safe pattern was found

Each carries one clear sentence; the command line prints it and nothing else. No message may show the
value of a cell that is, or will be, suppressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def printable(text: object, limit: int = 80) -> str:
    """`text` without control characters (labels are hostile: terminal codes, line breaks), shortened."""
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


class Alarm(UserWarning):
    """A warning that must not be overlooked: what follows may publish what should stay secret."""


class GpugaError(Exception):
    """A failure with one clear sentence for the user."""

    exit_code = 1


class InputError(GpugaError):
    """Bad usage or bad input; `path`, `line` and `field` (or option) say where, when known.

    `cell` is the position of the cell at fault, for readers that know on which line it stood.
    """

    exit_code = 2

    def __init__(
        self,
        what: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        field: str | None = None,
        cell: int | None = None,
    ) -> None:
        self.what, self.path, self.line, self.field, self.cell = what, path, line, field, cell
        where = []
        if path is not None:
            where.append(printable(path, 300))
        if line is not None:
            where.append(f"line {line}")
        if field is not None:
            where.append(printable(field) if field.startswith("--") else f"field {printable(field)}")
        super().__init__(f"{', '.join(where)}: {what}" if where else what)

    def at(self, path: str | Path, line: int | None = None) -> InputError:
        """The same fault with the file, and the line where known, that it was found in."""
        return InputError(self.what, path=path, line=self.line or line, field=self.field, cell=self.cell)


class MissingExtra(InputError):
    """A feature was asked for whose optional packages are not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs packages that are not installed: pip install 'gpuga[{extra}]'")
        self.extra = extra


class Infeasible(GpugaError):
    """No safe pattern exists, even when everything that may be suppressed is; `cells` names them."""

    exit_code = 3

    def __init__(self, what: str, cells: Sequence[int]) -> None:
        super().__init__(what)
        self.cells = tuple(int(c) for c in cells)


class OutOfTime(GpugaError):
    """Time ran out before any safe pattern was found."""

    exit_code = 4
