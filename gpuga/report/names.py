"""What cells are called: by their codes, or by the numbers that they have in their file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuga.errors import printable
from gpuga.files.jj import jj_indices
from gpuga.files.read import Source
from gpuga.table.table import NAMED_MEMBERS, Table


@dataclass(frozen=True, eq=False)
class Names:
    """The names of the cells of a table; `numbers` are those of a file that knows no codes."""

    table: Table
    numbers: Sequence[str] = ()

    @classmethod
    def of(cls, source: Source) -> Names:
        """The names of the cells of a table from a file."""
        return cls(source.table, jj_indices(source.text) if source.path.suffix.lower() == ".jj" else ())

    def codes(self, cell: int) -> list[str]:
        """The codes of a cell, one for each dimension; its number where it has none, of a group that it is a sum."""
        grid = self.table.grid
        if cell >= len(self.table) - self.table.groups:
            return [self._sum(cell)]
        if grid is None or cell >= len(grid.coordinate):
            return [self.numbers[cell] if cell < len(self.numbers) else str(cell)]
        return [d.codes[c] for d, c in zip(grid.dimensions, grid.coordinate[cell].tolist(), strict=True)]

    def __call__(self, cell: int) -> str:
        """A cell in words, safe to print."""
        grid = self.table.grid
        if cell >= len(self.table) - self.table.groups:
            return printable(self._sum(cell), 300)
        if grid is None:
            return f"cell {printable(self.codes(cell)[0])}"
        names = (printable(d.name) for d in grid.dimensions)
        return ", ".join(f"{name}={printable(code)}" for name, code in zip(names, self.codes(cell), strict=True))

    def _sum(self, group: int) -> str:
        """A group by the cells that it is the sum of, the first of them."""
        members = self.table.members(group)
        names = " + ".join(" × ".join(self.codes(c)) for c in members[:NAMED_MEMBERS])
        more = f" + {len(members) - NAMED_MEMBERS} more" if len(members) > NAMED_MEMBERS else ""
        return f"sum of {names}{more}"
