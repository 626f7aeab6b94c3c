"""The attackers' programs that cut a fractional point off, in batches on workers.

Workers only propose multipliers of lines; rows and cuts are computed of these in integers where the bound is proven, so
that no worker can make a bound too high. Batches do not depend on the number of workers, and every batch begins from
nothing: the same table gives the same multipliers wherever and in whatever order its batches are solved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds import exact as bounds
from gpuga.bounds.cut import Batches as CutBatches
from gpuga.bounds.cut import Cut, Floats
from gpuga.bounds.separators.attacker import (
    BRIDGE,
    LONGEST_SILENCE,
    AttackerSeparator,
    FractionalAttacker,
    bridges,
    products_of_levels,
)
from gpuga.bounds.separators.bridges import bridge
from gpuga.bounds.separators.line_cuts import Product, SparseCut, whole_product
from gpuga.cluster.batches import Batches
from gpuga.cluster.messages import digest
from gpuga.cluster.workers import Workers, cores, find_workers
from gpuga.context import Clock, Context
from gpuga.evolution.checkpoint import Arrays, Damaged, packed, read
from gpuga.evolution.table_message import packed_table, unpacked_table
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound
from gpuga.table.table import Ints, Table

REQUIREMENTS = 12
"""Requirements in a batch, those with similar needs together: the programs of a batch are solved from one another."""

ROOM = 1.0
"""Room of cells, in needs of a requirement: the narrow one, in which fractional points are judged."""

LARGEST = 2**40
"""Multipliers beyond this are no answer of a table's program; sums of them could leave 64 bits."""


def lower_bound(
    table: Table,
    context: Context | None = None,
    *,
    whole: str = "auto",
    level_zero: str = "exact",
    workers: int | None = None,
    cluster: str | None = None,
) -> Bound:
    """What no safe pattern of a `table` can undercut, in units of `1/weight_scale`; exact, whatever the solver says.

    Works until the bound stalls or the clock of `context` (`gpuga.context.Context`, which also says whether levels are
    `strict`) has run out; any time gives a valid bound. `whole` and `level_zero` say what the attacker knows, as in
    `gpuga.protect`. Against one who knows that values are whole, levels are whole too, and a bound for the linear
    attacker stays true.

    The attackers' programs of a general table are solved by `workers` processes of this machine or by those of a Dask
    `cluster` (its address, its file, or `local`), if either is given; without a limit of time the bound is the same for
    any number of them. Else this process solves them, of tables of up to 3,000 cells; larger ones are bounded line by
    line.
    """
    asked: dict[str, Any] = {"whole": whole, "level_zero": level_zero}
    if workers is None and cluster is None:
        return bounds.lower_bound(table, context, **asked)
    with find_workers(cluster, workers or cores()) as found:
        return bounds.lower_bound(table, context, **asked, separator=lambda problem: SeparatorOnWorkers(problem, found))


class SeparatorOnWorkers(AttackerSeparator):
    """Finds cuts of any linear table at the root; see `Separator`. A batch whose worker dies is solved here."""

    def __init__(self, problem: GeneralProblem, workers: Workers) -> None:
        super().__init__(problem)
        self.workers = workers
        self.message = np.frombuffer(packed_table(problem.table, {}, {}), np.uint8)
        self.name = digest(self.message.tobytes())
        self._quiet: Ints = np.zeros(len(self.requirements), np.int64)
        self._points = 0

    def at_root(self, x: Floats, cuts: Sequence[Cut], clock: Clock) -> CutBatches:
        """Roundings and lone cells, then what attackers at workers say, then zero-half cuts."""
        yield self._cheap(x, self.at_once)
        z = self._pattern(x)
        # in one batch: each program settles many cells, and in several batches much would be done twice
        stuck = self._sent([{"free": np.flatnonzero(self.candidate & (z > BRIDGE))}], z, clock)
        yield [*self._levels_of(x, clock), *self._bridges_of(stuck, z)]
        yield self._halves(x, cuts)

    def _levels_of(self, x: Floats, clock: Clock) -> list[SparseCut]:
        """Rows of requirements out of reach; those that were within reach of the latest points wait for their turn."""
        self._points += 1
        due = self._points % np.minimum(self._quiet + 1, LONGEST_SILENCE) == 0
        for which in (np.flatnonzero(due), np.flatnonzero(~due)):
            self._quiet[which] += 1
            order = which[np.argsort(self.requirements.need[which], kind="stable")]
            begins = range(0, len(order), REQUIREMENTS)
            sent = self._sent([{"which": order[at : at + REQUIREMENTS]} for at in begins], self._pattern(x), clock)
            kept = 0
            for number, product in sent.products():
                if number in order:
                    self._quiet[number] = 0
                    kept += self._keep_rows(product)
            if kept and (found := self._roundings(x, self.at_once)):
                return found
        return []

    def _bridges_of(self, sent: Sent, z: Floats) -> list[SparseCut]:
        made = (bridge(self.table, product, z) for _, product in sent.products())
        return [cut for cut in made if cut is not None and cut.violation(z) > BRIDGE]

    def _sent(self, orders: list[Arrays], z: Floats, clock: Clock) -> Sent:
        figures = {"table": self.name, "seconds": None if clock.seconds is None else clock.left()}
        return Sent(self, figures, [order | {"point": z} for order in orders], clock)


class Sent:
    """Batches of one point that are at workers."""

    def __init__(
        self, separator: SeparatorOnWorkers, figures: dict[str, Any], orders: list[Arrays], clock: Clock
    ) -> None:
        self.separator, self.figures, self.orders = separator, figures, orders
        self.batches = Batches(separator.workers, propose, clock)
        for number, arrays in enumerate(orders):
            self.batches.send(number, packed(figures, arrays))  # without the table: most workers know it

    def products(self) -> Iterator[tuple[int, Product]]:
        """Numbers of requirements (-1: of none) and `y M` for the multipliers that were proposed."""
        for number, multipliers in self._answers():
            yield number, whole_product(self.separator.table, multipliers.astype(np.float64))

    def _answers(self) -> Iterator[tuple[int, Ints]]:
        """The same with multipliers of the lines, in the order of the batches.

        All of them are awaited, so that the order in which they come decides nothing.
        """
        found: dict[int, tuple[Ints, Ints]] = {}
        for number, content in self.batches.answers():
            answer = self._read(content)
            if answer is not None:
                found[number] = answer
            elif content is not None:
                self.batches.send(number, self._with_table(number))
            else:
                answer = self._read(propose(self._with_table(number)))
                assert answer is not None, "the table was there"
                found[number] = answer
        for number in sorted(found):
            yield from zip(found[number][0].tolist(), found[number][1], strict=True)

    def _with_table(self, number: int) -> bytes:
        return packed(self.figures, self.orders[number] | {"table": self.separator.message})

    def _read(self, content: bytes | None) -> tuple[Ints, Ints] | None:
        """What a worker proposes; None where it lacked the table, or none answers. Nonsense counts as no proposal."""
        if content is None:
            return None
        try:
            figures, arrays = read(content)
        except Damaged:
            figures, arrays = {}, {}
        if figures.get("unknown"):
            return None
        number, multipliers = arrays.get("number", NOBODY), arrays.get("multipliers", NOTHING)
        if multipliers.dtype != np.int64 or multipliers.shape != (len(number), len(self.separator.table.lines)):
            return NOBODY, NOTHING
        sound = (multipliers <= LARGEST).all(axis=1) & (multipliers >= -LARGEST).all(axis=1)
        return number[sound], multipliers[sound]


NOBODY: Ints = np.zeros(0, np.int64)
NOTHING: Ints = np.zeros((0, 0), np.int64)

_KNOWN: dict[str, GeneralProblem] = {}
"""The problem of the latest table at this worker, by the digest of its message."""


def propose(order: bytes) -> bytes:
    """Multipliers for one batch, at a worker; or that its table is not known there."""
    figures, arrays = read(order)
    problem = _problem(figures["table"], arrays.get("table"))
    if problem is None:
        return packed({"unknown": True}, {})
    attacker, z, clock = FractionalAttacker(problem.table), arrays["point"], Clock(figures["seconds"])
    found: list[tuple[int, Ints, Ints]]
    if "free" in arrays:
        free = np.zeros(len(problem.table), bool)
        free[arrays["free"]] = True
        found = [(-1, *cut.origin[2:]) for cut in bridges(attacker, free, z, clock)]
    else:
        which = arrays["which"]
        short = products_of_levels(attacker, problem.plain.subset(which), z, ROOM, clock)
        found = [(int(which[at]), product.line, product.y) for at, product in short]
    rows = np.zeros((len(found), len(problem.table.lines)), np.int64)
    for row, (_, line, y) in zip(rows, found, strict=True):
        row[line] = y
    return packed({}, {"number": np.array([number for number, *_ in found], np.int64), "multipliers": rows})


def _problem(name: str, content: NDArray[np.uint8] | None) -> GeneralProblem | None:
    """The problem of a table that was sent, now or before."""
    if name not in _KNOWN and content is not None:
        made = GeneralProblem.of(unpacked_table(*read(content.tobytes())))
        _KNOWN.clear()
        _KNOWN[name] = made
    return _KNOWN.get(name)
