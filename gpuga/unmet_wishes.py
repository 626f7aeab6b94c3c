"""Which of the cells that should be published make a table impossible to protect, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from gpuga.anytime import everything_is_safe
from gpuga.context import Context
from gpuga.errors import Infeasible, OutOfTime, printable
from gpuga.table.attacker_model import Asked, as_judged
from gpuga.table.table import Table
from gpuga.table.wishes import Kept, with_kept

NAMED = 5


@contextmanager
def naming_wishes(table: Table, asked: Asked, kept: Sequence[Kept], context: Context) -> Iterator[None]:
    """Say which wishes cannot be met, where the table could be protected without them."""
    try:
        yield
    except Infeasible as fault:
        if not kept or not _possible(table, asked, [], context):
            raise
        unmet = [one for one in kept if not _possible(table, asked, [one], context)]
        named = ", ".join(printable(one.wish) for one in (unmet or kept)[:NAMED])
        how = "" if unmet or len(kept) == 1 else "together "
        cells = ", ".join(table.label(cell) for cell in fault.cells[:NAMED])
        raise Infeasible(
            f"what is to be kept cannot {how}be published: with {named} published, {cells} cannot be protected",
            fault.cells,
        ) from None


def _possible(table: Table, asked: Asked, kept: Sequence[Kept], context: Context) -> bool:
    """Whether everything suppressed that may be is safe; what the time does not suffice for counts as possible."""
    judged, _ = as_judged(with_kept(table, kept), asked)
    try:
        return everything_is_safe(judged, replace(context, clock=context.clock.finishing()))
    except OutOfTime:
        return True
