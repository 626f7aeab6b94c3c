"""Whether one pattern covers all requirements, exactly."""

from __future__ import annotations

from ..layout import Bits
from .arcs import build, find
from .augment import empty_flow, finer, lacking, send
from .compile import Truth, bare, whole
from .records import Flood, Needs, Net, Scratch, Search, TableRecord
from .spread import begin, has_reached, open_arcs, spread, start_at, wait


@bare
def covered(needs: Needs, net: Net, search: Search, t: int) -> Truth:
    """Whether requirement t, which no single path covers, is covered by several; the flow stays in `room`."""
    empty_flow(net, find(net, needs.cell[t]))
    source, sink, need = whole(needs.source[t]), whole(needs.sink[t]), needs.need[t]
    if lacking(net, search, source, sink, need) > 0:
        return False
    return send(net, search, source, sink, need, finer(need)) == 0


@bare
def asked(needs: Needs, net: Net, t: int) -> Truth:
    """Whether requirement t can be covered at all: its own cell is suppressed and may move as far."""
    return needs.possible[t] != 0 and find(net, needs.cell[t]) >= 0


@bare
def spread_all(needs: Needs, net: Net, flood: Flood) -> bool:
    """Let every requirement spread over what single paths can carry; False where one cannot be covered at all."""
    begin(flood)
    waiting = whole(0)
    for t in range(needs.cell.shape[0]):
        if needs.need[t] > 0:
            if not asked(needs, net, t):
                return False
            start_at(flood, needs.source[t], t)
            waiting = wait(flood, whole(needs.source[t]), waiting)
    open_arcs(needs, net, flood)
    spread(net, flood, waiting)
    return True


@bare
def is_safe(table: TableRecord, needs: Needs, scratch: Scratch, rows: Bits) -> bool:
    """Whether the pattern `rows` covers every requirement: one flood for all, flows for what is left."""
    net, flood = scratch.net, scratch.flood
    build(table, net, rows)
    if not spread_all(needs, net, flood):
        return False
    for t in range(needs.cell.shape[0] - 1, -1, -1):
        if needs.need[t] <= 0:
            break
        if not has_reached(flood, whole(needs.sink[t]), t) and not covered(needs, net, scratch.search, t):
            return False
    return True
