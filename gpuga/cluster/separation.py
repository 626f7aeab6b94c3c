"""The attackers' programs that cut a fractional point off, in batches on workers.

Workers only propose multipliers of lines; rows and cuts are computed of these in integers where the bound is proven, so
that no worker can make a bound too high. Batches do not depend on the number of workers, and every batch begins from
nothing: the same table gives the same multipliers wherever and in whatever order its batches are solved.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.bounds import exact as bounds
from gpuga.bounds.cut import Floats
from gpuga.bounds.separators.attacker import BRIDGE, FractionalAttacker, out_of_reach, stuck_cells
from gpuga.cluster.batches import Batches
from gpuga.cluster.messages import digest, packed_table, unpacked_table
from gpuga.cluster.workers import Workers, cores, find_workers
from gpuga.context import Clock, Context
from gpuga.evolution.checkpoint import Arrays, Damaged, packed, read
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound
from gpuga.table.table import Ints, Table

REQUIREMENTS = 12
"""Requirements in a batch, those with similar needs together: the programs of a batch are solved from one another."""

STUCK_PARTS = 2
"""Batches of cells that may be stuck: each program settles many cells, and with more batches much is done twice."""

LARGEST = 2.0**20
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
        return bounds.lower_bound(table, context, **asked, attackers=lambda problem: AttackersOnWorkers(problem, found))


class AttackersOnWorkers:
    """The attackers of a problem at workers; see `Attackers`. A batch whose worker dies is solved here."""

    def __init__(self, problem: GeneralProblem, workers: Workers) -> None:
        self.problem, self.workers = problem, workers
        self.table = np.frombuffer(packed_table(problem.table, {}, {}), np.uint8)
        self.digest = digest(self.table.tobytes())

    def levels(self, which: Ints, z: Floats, room: float, clock: Clock) -> Iterator[tuple[int, Floats]]:
        """Requirements by rising need, in batches."""
        order = which[np.argsort(self.problem.plain.need[which], kind="stable")]
        begins = range(0, len(order), REQUIREMENTS)
        batches: list[Arrays] = [{"which": order[begin : begin + REQUIREMENTS]} for begin in begins]
        for number, multipliers in self._sent({"room": room}, batches, z, clock).answers():
            if number in order:
                yield number, multipliers

    def stuck(self, z: Floats, clock: Clock) -> Iterator[Floats]:
        """Sent at once, so that workers have these cells beside the requirements."""
        cells = np.flatnonzero(self.problem.candidate & (z > BRIDGE))
        batches: list[Arrays] = [{"free": cells[part::STUCK_PARTS]} for part in range(min(STUCK_PARTS, len(cells)))]
        sent = self._sent({}, batches, z, clock)
        return (multipliers for _, multipliers in sent.answers())

    def _sent(self, figures: dict[str, Any], batches: list[Arrays], z: Floats, clock: Clock) -> Sent:
        told = {"table": self.digest, "seconds": None if clock.seconds is None else clock.left(), **figures}
        return Sent(self, told, [batch | {"point": z} for batch in batches], clock)


class Sent:
    """Batches of one point that are at workers."""

    def __init__(
        self, attackers: AttackersOnWorkers, figures: dict[str, Any], orders: list[Arrays], clock: Clock
    ) -> None:
        self.attackers, self.figures, self.orders = attackers, figures, orders
        self.batches = Batches(attackers.workers, propose, clock)
        for number, arrays in enumerate(orders):
            self.batches.send(number, packed(figures, arrays))  # without the table: most workers know it

    def answers(self) -> Iterator[tuple[int, Floats]]:
        """Numbers of requirements (-1: of none) and multipliers of lines, in the order of the batches.

        All of them are awaited, so that the order in which they come decides nothing.
        """
        found: dict[int, tuple[Ints, Floats]] = {}
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
        return packed(self.figures, self.orders[number] | {"table": self.attackers.table})

    def _read(self, content: bytes | None) -> tuple[Ints, Floats] | None:
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
        if multipliers.shape != (len(number), len(self.attackers.problem.table.lines)):
            return NOBODY, NOTHING
        sound = np.isfinite(multipliers).all(axis=1) & (np.abs(multipliers) <= LARGEST).all(axis=1)
        return number[sound], multipliers[sound]


NOBODY: Ints = np.zeros(0, np.int64)
NOTHING: Floats = np.zeros((0, 0))

_KNOWN: dict[str, GeneralProblem] = {}
"""The problem of the latest table at this worker, by the digest of its message."""


def propose(order: bytes) -> bytes:
    """Multipliers for one batch, at a worker; or that its table is not known there."""
    figures, arrays = read(order)
    problem = _problem(figures["table"], arrays.get("table"))
    if problem is None:
        return packed({"unknown": True}, {})
    attacker, z, clock = FractionalAttacker(problem.table), arrays["point"], Clock(figures["seconds"])
    found: list[tuple[int, Floats]]
    if "free" in arrays:
        free = np.zeros(len(problem.table), bool)
        free[arrays["free"]] = True
        found = [(-1, multipliers) for multipliers in stuck_cells(attacker, free, z, clock)]
    else:
        which = arrays["which"]
        short = out_of_reach(attacker, problem.plain.subset(which), z, figures["room"], clock)
        found = [(int(which[at]), multipliers) for at, multipliers in short]
    rows = np.array([multipliers for _, multipliers in found]).reshape(len(found), len(problem.table.lines))
    return packed({}, {"number": np.array([number for number, _ in found], np.int64), "multipliers": rows})


def _problem(name: str, content: NDArray[np.uint8] | None) -> GeneralProblem | None:
    """The problem of a table that was sent, now or before."""
    if name not in _KNOWN and content is not None:
        made = GeneralProblem.of(unpacked_table(*read(content.tobytes())))
        _KNOWN.clear()
        _KNOWN[name] = made
    return _KNOWN.get(name)
