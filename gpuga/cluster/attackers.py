"""The attacker's programs of a large table, in batches of cells on workers.

Workers only propose: they send witnesses, and the audit checks each in exact arithmetic before it counts. Cells for
which none was found are asked about where the audit runs, so that no worker decides about safety.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict
from typing import Any

import numpy as np

from gpuga.cluster.messages import bits, masks, packed_table, unpacked_table
from gpuga.cluster.workers import Lost, Workers
from gpuga.context import Clock, Context
from gpuga.evolution.checkpoint import Damaged, packed, read
from gpuga.safety.audit import found_witnesses, open_cells
from gpuga.safety.witness import together
from gpuga.table.attacker_model import Asked, AttackerModel, SafetyOptions, as_judged
from gpuga.table.table import Ints, Mask, Table
from gpuga.table.witnesses import Witnesses

PER_WORKER = 4
"""Batches for each worker: some take longer than others."""

LEAST = 8
"""Cells in a batch, at least; a program that moves many of them at once serves all."""

LOOK = 0.5
"""Seconds between two looks at the clock and at the cluster."""


def proposed_witnesses(
    table: Table, suppressed: Mask, asked: SafetyOptions, workers: Workers, context: Context
) -> Witnesses | None:
    """Witnesses for the cells that need the attacker's programs, found by workers; None where there are none."""
    judged, model = as_judged(table, Asked(**asked))
    suppressed = np.asarray(suppressed, bool)
    cells = open_cells(judged, suppressed, model, context.clock)
    if not len(cells):
        return None
    count = max(1, min(PER_WORKER * workers.count, len(cells) // LEAST))
    context.progress.stage("attackers on workers", count)
    figures = {"attacker": asdict(model), "seconds": None if context.clock.seconds is None else context.clock.left()}
    content = packed_table(judged, figures, {"suppressed": bits(suppressed[None])})
    found = _Batches(content, workers, context).done([cells[number::count] for number in range(count)])
    return None if not found else together(found)


class _Batches:
    """Batches of cells at workers; one whose worker dies is left to the audit."""

    def __init__(self, content: bytes, workers: Workers, context: Context) -> None:
        self.content, self.workers, self.context = content, workers, context

    def done(self, batches: list[Ints]) -> list[Witnesses]:
        """The witnesses of all batches that were answered in time, in the order of the batches."""
        table = np.frombuffer(self.content, np.uint8)
        pending: dict[Future[Any], int] = {
            self.workers.submit(number, attack, packed({}, {"table": table, "cells": cells})): number
            for number, cells in enumerate(batches)
        }
        found: dict[int, Witnesses] = {}
        while pending and not self.context.clock.expired() and not self.workers.gone():
            finished, _ = wait(pending, LOOK, FIRST_COMPLETED)
            for future in finished:
                number = pending.pop(future)
                if (witnesses := self._answer(future)) is not None:
                    found[number] = witnesses
                self.context.progress.advance()
        return [found[number] for number in sorted(found)]

    def _answer(self, future: Future[bytes]) -> Witnesses | None:
        try:
            _, arrays = read(self.workers.result(future))
        except (Lost, Damaged):
            return None  # the audit asks about these cells itself
        return Witnesses(**arrays) if len(arrays["denominator"]) else None


def attack(order: bytes) -> bytes:
    """Witnesses for a batch of cells, at a worker."""
    _, given = read(order)
    figures, arrays = read(given["table"].tobytes())
    table = unpacked_table(figures, arrays)
    context, model = Context(clock=Clock(figures["seconds"])), AttackerModel(**figures["attacker"])
    found = found_witnesses(table, masks(arrays["suppressed"], len(table))[0], model, given["cells"], context)
    if found.amount.dtype == object or found.denominator.dtype == object:  # wider than 64 bits: the audit finds its own
        found = found.subset(np.zeros(0, np.int64))
        found = Witnesses(found.start, found.cell, found.amount.astype(np.int64), found.denominator.astype(np.int64))
    return packed({}, {name: getattr(found, name) for name in ("start", "cell", "amount", "denominator")})
