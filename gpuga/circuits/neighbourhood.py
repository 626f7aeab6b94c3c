"""The neighbourhood of a cell: a small part of a large table in which a cheap change can be looked for.

From the cell outwards, line by line: every line that is reached gets a few cells, so that its balance can
be kept. Cells that lie on many lines already reached come first; in a grid these are the missing corners
of boxes, so the neighbourhood closes upon itself instead of growing without end. A change inside the
neighbourhood is a change of the whole table; that none is found there says nothing.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gpuga.table.table import Ints, Mask, Table


class Neighbourhoods:
    """Neighbourhoods of one table's cells."""

    def __init__(self, table: Table) -> None:
        self.lines = table.lines
        self.cell_start, self.cell_line, _ = table.lines.by_cell(len(table))
        self.room = np.minimum(table.up, table.down)
        self.weight = table.weight

    def around(self, cell: int, room: int, suppressed: Mask, per_line: int, most: int) -> Ints:
        """At most about `most` cells around `cell`, ascending; about `per_line` in each line that is reached.

        Only cells with that much room both ways come in.
        """
        chosen = {cell}
        reached: dict[int, int] = dict.fromkeys(self._lines_of(cell), 1)
        queue = deque([cell])
        while queue and len(chosen) < most:
            for line in self._lines_of(queue.popleft()):
                for other in self._wanted(line, room, suppressed, chosen, reached, per_line):
                    chosen.add(other)
                    queue.append(other)
                    for crossing in self._lines_of(other):
                        reached[crossing] = reached.get(crossing, 0) + 1
        return np.array(sorted(chosen), np.int64)

    def _lines_of(self, cell: int) -> list[int]:
        lines: list[int] = self.cell_line[self.cell_start[cell] : self.cell_start[cell + 1]].tolist()
        return lines

    def _wanted(
        self, line: int, room: int, suppressed: Mask, chosen: set[int], reached: dict[int, int], per_line: int
    ) -> list[int]:
        """The cells that a line still needs: corners of boxes first, then hidden, simple and cheap ones."""
        short = per_line - reached[line]
        if short <= 0:
            return []
        ranked = []
        for cell in self.lines.cell[self.lines.start[line] : self.lines.start[line + 1]].tolist():
            if cell in chosen or self.room[cell] < room:
                continue
            through = self._lines_of(cell)
            corners = sum(1 for crossing in through if crossing in reached)
            price = 0 if suppressed[cell] else int(self.weight[cell])
            ranked.append((len(through) - corners, price, cell))
        return [cell for _, _, cell in sorted(ranked)[:short]]
