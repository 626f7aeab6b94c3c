"""One island at a worker: its run of evolution, advanced leg by leg; everything comes and goes as packed arrays.

A leg begins with the letters of other islands and ends with a letter of its own and the state of the run, from which
any other worker can go on bit for bit. Runs stay alive between their legs, so that a state is needed only where the
worker is another one.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import config, set_num_threads
from numpy.typing import NDArray

from gpuga.cluster.messages import (
    Letter,
    ProverMessage,
    masks,
    new_circuits,
    plain_circuits,
    squeezed,
    unsqueezed,
)
from gpuga.context import Clock, Context
from gpuga.errors import GpugaError, Infeasible, OutOfTime
from gpuga.evolution.checkpoint import Arrays, packed, part, read
from gpuga.evolution.kernels import kernels_of
from gpuga.evolution.run import Run
from gpuga.evolution.table_message import unpacked_table
from gpuga.lp.choice import choose
from gpuga.parameters import CircuitsParameters
from gpuga.problem.problem import problem_for
from gpuga.table.attacker_model import AttackerModel
from gpuga.table.table import Table

MIGRANTS = 4
"""Patterns that an island tells of, its cheapest."""

PROVING = 0
"""The island that has the prover."""

IDLE = 900.0
"""Seconds after which a run of which nothing was heard is given up: its client has died."""


@dataclass
class Live:
    """An island between two legs: the number of legs that were done, and when the last one ended."""

    run: Run
    legs: int
    touched: float


class Worker:
    """What a worker process remembers: tables by their digest, islands by their run and number."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.tables: dict[str, tuple[dict[str, Any], Table, Arrays]] = {}
        self.islands: dict[tuple[str, int], Live] = {}

    def forget(self, run: str | None = None) -> None:
        """End the islands of a run, or of all runs whose clients seem to have died, with the tables nobody needs."""
        now = time.monotonic()
        for key, live in list(self.islands.items()):
            if key[0] == run or (run is None and now - live.touched > IDLE):
                del self.islands[key]
                live.run.end()
        if not self.islands:
            self.tables.clear()


_WORKER = Worker()


def leg(order: bytes) -> bytes:
    """Do one leg of an island; the answer is its letter and state, or what is missing here to do it."""
    figures, arrays = read(order)
    with _WORKER.lock:  # a worker with several threads still does one thing after the other
        try:
            return _leg(figures, arrays)
        except OutOfTime:
            return packed({"nothing": True}, {})
        except Infeasible as fault:
            return packed({"infeasible": str(fault), "cells": list(fault.cells)}, {})
        except GpugaError as fault:
            return packed({"error": str(fault)}, {})


def ready() -> None:
    """Nothing: who can answer this has loaded everything that a leg needs."""


def cuts_of(run: str) -> bytes:
    """How the cuts behind the bound of a run are derived, where its prover is at this worker; ends its island."""
    with _WORKER.lock:
        live = _WORKER.islands.pop((run, PROVING), None)
        if live is None or live.run.prover is None:
            return packed({"cuts": []}, {})
        live.run.end()
        bound = live.run.prover.bound()
        return packed({"cuts": [] if bound is None or bound.root is None else bound.root.derivations()}, {})


def dismiss(run: str) -> None:
    """End the islands of a run at this worker."""
    with _WORKER.lock:
        _WORKER.forget(run)


def _leg(figures: dict[str, Any], arrays: Arrays) -> bytes:
    if figures["threads"] is not None:
        set_num_threads(min(figures["threads"], config.NUMBA_NUM_THREADS))
    key = figures["run"], figures["island"]
    live = _WORKER.islands.pop(key, None)  # given back when the leg is done: half a leg is nothing to go on from
    if live is not None and live.legs != figures["legs"]:
        live.run.end()
        live = None
    if live is None and not _equipped(figures, arrays):
        return packed({"wants": True}, {})
    run = live.run if live is not None else _made(figures, arrays)
    try:
        if live is None:
            run.begin(unsqueezed(arrays["state"]) if figures["legs"] else None)
        _receive(run, Letter.of(part("letter", arrays), len(run.weight)))
        run.advance(figures["generations"])
    except BaseException:
        run.end()
        raise
    _WORKER.islands[key] = Live(run, figures["legs"] + 1, time.monotonic())
    return _answer(run)


def _equipped(figures: dict[str, Any], arrays: Arrays) -> bool:
    """Whether an island can be made here: its table is known or sent along, and so is its state after the first leg."""
    known = "table" in arrays or figures["table"] in _WORKER.tables
    return known and (not figures["legs"] or "state" in arrays)


def _made(figures: dict[str, Any], arrays: Arrays) -> Run:
    """The run of an island, not begun yet."""
    _WORKER.forget()
    if "table" in arrays:
        said, content = read(arrays["table"].tobytes())
        _WORKER.tables[figures["table"]] = said, unpacked_table(said, content), content
    settings, table, more = _WORKER.tables[figures["table"]]
    return _run(settings, table, masks(more["start"], len(table)), figures)


def _run(settings: dict[str, Any], table: Table, start: NDArray[np.bool_], figures: dict[str, Any]) -> Run:
    """The run of an island; only the first one has a prover beside it."""
    island, own = figures["island"], dict(settings["parameters"])
    if island != PROVING:
        own["without"] = sorted({*own["without"], "prover"})
    context = Context(
        backend=settings["backend"],
        lp=settings["lp"],
        solver=choose(settings["lp"]).solver,
        seed=seed_of(settings["seed"], island),
        clock=Clock(figures["seconds"]),
        start=tuple(start),
        **vars(AttackerModel(**settings["attacker"])),
    )
    problem = problem_for(table, context.strict, context.clock)
    run = Run(problem, kernels_of(problem, context), context, CircuitsParameters(**own))
    run.stop.patience = None  # the client counts for all islands
    return run


def seed_of(seed: int, island: int) -> int:
    """The seed of an island; the first one has that of the run."""
    return seed if not island else int(np.random.SeedSequence([seed, island]).generate_state(1)[0])


def _receive(run: Run, letter: Letter) -> None:
    """Learn circuits, take over bound and prices where there is no prover here, then let the patterns compete."""
    if fresh := new_circuits(letter.circuits, run.kernels.memory()):
        run.kernels.remember(fresh)
    if letter.prices is not None and run.prover is None:
        run.lower = max(run.lower, letter.prices.lower)
        if letter.prices.point.any():
            run.price(letter.prices.point, letter.prices.core)
    if len(letter.patterns):
        run.welcome(letter.patterns)


def _answer(run: Run) -> bytes:
    """The letter and the state of an island after a leg; what a prover does meanwhile is told after the next one."""
    population = run.evolution.population
    cheapest = population.take(population.distinct()[:MIGRANTS])
    patterns = np.concatenate([run.evolution.best.suppressed[None], cheapest.unpacked(range(len(cheapest)))])
    prices = None if run.prover is None else ProverMessage(run.lower, *run.points[0])
    letter = Letter(patterns & ~run.forced, plain_circuits(run.kernels.memory()), prices)
    figures = {"generation": run.evolution.generation, "children": run.breeder.children, "why": run.stop.why}
    return packed(
        figures,
        {"state": squeezed(run.state()), **{f"letter_{name}": array for name, array in letter.arrays().items()}},
    )
