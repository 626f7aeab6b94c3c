"""Whether one pattern covers all requirements, exactly."""

from __future__ import annotations

from ..layout import Bits
from .arcs import build, find
from .augment import empty_flow, lacking, send
from .compile import Truth, bare, whole
from .records import Flood, Needs, Net, Scratch, Search, TableRecord
from .spread import begin, open_arcs, spread, start_at, wait
from .supports import ask_first, begin_order, holds_one, keep_support, shift_for

NOT_LOOKED_UP, HELD, OPEN = 0, 1, 2


@bare
def covered(needs: Needs, net: Net, search: Search, t: int) -> Truth:
    """Whether requirement t is covered, by one path or several; the flow stays in `room`."""
    empty_flow(net, find(net, needs.cell[t]))
    source, sink, need = whole(needs.source[t]), whole(needs.sink[t]), needs.need[t]
    if lacking(net, search, source, sink, need) > 0:
        return False
    return send(net, search, source, sink, need, need) == 0


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
def begin_judging(scratch: Scratch) -> None:
    """Nothing is known of the next pattern."""
    for t in range(scratch.witnesses.state.shape[0]):
        scratch.witnesses.state[t] = NOT_LOOKED_UP


@bare
def look_up(scratch: Scratch, rows: Bits, shift: int, t: int) -> None:
    """Say in `state` whether the pattern `rows` holds a known support of requirement t."""
    scratch.witnesses.state[t] = HELD if holds_one(scratch.supports, rows, shift, t) else OPEN


@bare
def is_safe(table: TableRecord, needs: Needs, scratch: Scratch, rows: Bits) -> bool:
    """Whether the pattern `rows` covers every requirement: flows for those of which it holds no known support.

    Supports that nobody has looked up are looked up here, one requirement after the other: a device does it beforehand.
    """
    net, supports, state = scratch.net, scratch.supports, scratch.witnesses.state
    build(table, net, rows)
    for t in range(needs.cell.shape[0]):
        if needs.need[t] > 0 and not asked(needs, net, t):
            return False
    begin_order(supports)
    shift = shift_for(table.columns)
    for x in range(needs.cell.shape[0]):
        t = whole(supports.order[x])
        if state[t] == NOT_LOOKED_UP:
            look_up(scratch, rows, shift, t)
        if needs.need[t] <= 0 or state[t] == HELD:
            continue
        if not covered(needs, net, scratch.search, t):
            ask_first(supports, whole(x))
            return False
        keep_support(table, net, supports, shift, t)
    return True
