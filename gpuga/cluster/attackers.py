"""The attacker's programs of a large table, in batches of cells on workers.

Workers only propose: they send witnesses, and the audit checks each in exact arithmetic before it counts. Cells for
which none was found are asked about where the audit runs, so that no worker decides about safety.
"""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from gpuga.cluster.batches import Batches
from gpuga.cluster.messages import bits, masks
from gpuga.cluster.workers import Workers
from gpuga.context import Clock, Context
from gpuga.evolution.checkpoint import Arrays, Damaged, packed, read
from gpuga.evolution.table_message import packed_table, unpacked_table
from gpuga.safety.audit import found_witnesses, open_cells
from gpuga.safety.witness import together
from gpuga.table.attacker_model import Asked, AttackerModel, SafetyOptions, as_judged
from gpuga.table.table import Mask, Table
from gpuga.table.witnesses import Witnesses

PER_WORKER = 4
"""Batches for each worker: some take longer than others."""

LEAST = 8
"""Cells in a batch, at least; a program that moves many of them at once serves all."""


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
    batches = Batches(workers, attack, context.clock)
    for number in range(count):
        arrays: Arrays = {"table": np.frombuffer(content, np.uint8), "cells": cells[number::count]}
        batches.send(number, packed({}, arrays))
    found: dict[int, Witnesses] = {}
    for number, answer in batches.answers():
        if (witnesses := _witnesses(answer)) is not None:
            found[number] = witnesses
        context.progress.advance()
    return together([found[number] for number in sorted(found)]) if found else None


def _witnesses(answer: bytes | None) -> Witnesses | None:
    """What a worker sent, where it did and found some; the audit asks about the other cells itself."""
    try:
        _, arrays = read(answer or b"")
    except Damaged:
        return None
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
