"""Many islands of one table, as their client sees them: legs, letters, states, and what replaces a worker that died.

All islands do a leg of the same number of generations, then everyone gets the letter of one other. A leg depends on
nothing but the state before it and that letter, so that neither the speed of the workers nor their deaths change the
result of a run that is bounded by generations.
"""

from __future__ import annotations

import uuid
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.cluster.island import PROVING, cuts_of, dismiss, leg, ready
from gpuga.cluster.messages import Letter, bits, digest
from gpuga.cluster.workers import Lost, Workers
from gpuga.context import Context
from gpuga.errors import GpugaError, Infeasible, OutOfTime
from gpuga.evolution import checkpoint
from gpuga.evolution.checkpoint import Arrays, packed, part, read
from gpuga.evolution.progress import Reporter
from gpuga.evolution.table_message import packed_table
from gpuga.kernels.backend import kind_of
from gpuga.parameters import CircuitsParameters
from gpuga.problem.problem import TableProblem
from gpuga.table.table import Mask

RING, BEST = "ring", "best"

OF_ISLANDS = ("islands", "exchange", "topology")
"""Parameters that an island itself does not take."""

LOOK = 0.5
"""Seconds between two looks at the clock and at the cluster, while islands work."""

MOST_DEATHS = 8
"""Workers that may die over one leg of one island before the run is given up."""


LATE = 0.5
"""Seconds after a limit that answers are waited for; islands whose leg began late count from there."""

CUTS_LATE = 2.0
"""The same for the cuts behind the bound, which only a proof needs."""


class Over(Exception):
    """The time is up, or the user wants the best so far."""


@dataclass(eq=False)
class Island:
    """What the client knows of an island: how many legs it did, its letter and its state after the last one."""

    legs: int = 0
    letter: Letter | None = None
    state: NDArray[np.uint8] | None = None
    generation: int = 0
    children: int = 0
    cost: int | None = None
    why: str = ""

    def arrays(self) -> Arrays:
        """As arrays, for a checkpoint."""
        letter = {} if self.letter is None else self.letter.arrays()
        state = {} if self.state is None else {"state": self.state}
        return state | {f"letter_{name}": array for name, array in letter.items()}


@dataclass(eq=False)
class Islands:
    """The islands of one run and the cheapest pattern of all of them; masks are flat secondary suppressions."""

    problem: TableProblem
    context: Context
    parameters: CircuitsParameters
    workers: Workers
    fingerprint: str = ""
    best: Mask | None = None
    cost: int = 0
    lower: int = 0
    generation: int = 0
    since: int = 0
    why: str = ""
    sent: int = 0
    received: int = 0
    cuts: list[list[Any]] = field(default_factory=list)
    name: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        self.islands = [Island() for _ in range(self.parameters.islands or 1)]
        self.table = packed_table(self.problem.table, *self._settings())
        self.digest = digest(self.table)
        self.folder = None if self.parameters.checkpoint is None else Path(self.parameters.checkpoint)
        self.reporter = Reporter(
            self.problem.table, self.context, self.problem.base_cost, self.parameters.log, self.parameters.resume
        )
        self._unsaved = False

    def _settings(self) -> tuple[dict[str, Any], Arrays]:
        """What an island has to know besides the table."""
        context, own = self.context, self.parameters.values(["search"])
        start = [*context.start] + ([] if context.first is None else [context.first.suppressed])
        figures = {
            "backend": self.parameters.cluster_backend or kind_of(context.backend),
            "lp": context.lp,
            "seed": context.seed,
            "attacker": asdict(context.model),
            "parameters": {name: value for name, value in own.items() if name not in OF_ISLANDS},
        }
        cells = len(self.problem.table)
        return figures, {"start": bits(np.array(start, bool).reshape(len(start), cells))}

    def go(self) -> None:
        """Leg after leg until the end, which `why` then names; `OutOfTime` where no island has a pattern."""
        self._resume()
        self.context.progress.stage(f"{len(self.islands)} islands", self.parameters.generations)
        try:
            self._rounds()
            self._ask_for_cuts()
        finally:
            self._dismiss()
        if self.best is None:
            raise OutOfTime("time ran out before any island had a pattern; allow more with --seconds")

    def _rounds(self) -> None:
        """Round after round until the end."""
        try:
            self._await_workers()
            while not self._over():
                self._round(self._length())
                self._save()
        except Over:
            self.why = "interrupt" if self.context.clock.interrupted else "seconds"

    def _await_workers(self) -> None:
        """Wait until every worker has loaded what it needs: a limited time would be used up by that unnoticed."""
        starting = {self.workers.submit(place, ready) for place in range(self.workers.count)}
        while starting:
            started, starting = wait(starting, LOOK, FIRST_COMPLETED)
            self.check_time()
            if self.workers.gone():  # those that take over load with their first leg
                return
            for future in started:
                with suppress(Lost):  # another one takes its place when there is something to do
                    self.workers.result(future)

    def check_time(self, late: float = LATE) -> None:
        """Raise `Over` where nothing is worth waiting for any longer."""
        clock = self.context.clock
        if clock.interrupted or (clock.seconds is not None and clock.spent() > clock.seconds + late):
            raise Over

    def _length(self) -> int:
        """Generations of the next leg."""
        most, leg = self.parameters.generations, self.parameters.generations_between
        return leg if most is None else max(1, min(leg, most - self.generation))

    def _over(self) -> bool:
        patience = self.parameters.patience_for(self.context.clock.seconds is not None)
        if self.best is not None and self.cost <= self.lower:
            self.why = "proof"
        elif self.context.clock.expired():
            self.why = "interrupt" if self.context.clock.interrupted else "seconds"
        elif self.parameters.generations is not None and self.generation >= self.parameters.generations:
            self.why = "generations"
        elif patience is not None and self.since >= patience:
            self.why = "no improvement"
        return bool(self.why)

    # --- a leg -------------------------------------------------------------------------------------------

    def _round(self, generations: int) -> None:
        """One leg of every island, then what is new in their letters."""
        letters = self._deliver()
        orders = [self._order(number, generations, letters[number]) for number in range(len(self.islands))]
        answers = Legs(self, orders).done()
        before = self.cost if self.best is not None else None, self.lower
        for number, (figures, arrays) in enumerate(answers):
            if not figures.get("nothing"):
                self._heed(self.islands[number], figures, arrays)
        reached = max(one.generation for one in self.islands)
        done, self.generation = reached - self.generation, reached
        improved = (self.cost if self.best is not None else None, self.lower) != before
        self.since = 0 if improved else self.since + done
        self._tell(done)

    def _deliver(self) -> list[Letter | None]:
        """Whose letter every island gets, with the prices of the island that has the prover."""
        told = self.islands[PROVING].letter
        prices = None if told is None else told.prices
        letters: list[Letter | None] = []
        for source in sources([one.cost for one in self.islands], self.parameters.topology or RING):
            letter = self.islands[source].letter
            letters.append(None if letter is None else Letter(letter.patterns, letter.circuits, prices))
        return letters

    def _order(self, number: int, generations: int, letter: Letter | None) -> tuple[dict[str, Any], Arrays]:
        clock = self.context.clock
        figures = {
            "run": self.name,
            "island": number,
            "legs": self.islands[number].legs,
            "generations": generations,
            "table": self.digest,
            "threads": self.workers.threads,
            "seconds": None if clock.seconds is None else max(0.0, clock.left()),
        }
        letter = letter or Letter(np.zeros((0, self.problem.weight.size), bool))
        return figures, {f"letter_{name}": array for name, array in letter.arrays().items()}

    def _heed(self, island: Island, figures: dict[str, Any], arrays: Arrays) -> None:
        """Keep what an island answered; the cheapest of its patterns may be the cheapest of all."""
        letter = Letter.of(part("letter", arrays), self.problem.weight.size)
        best = letter.patterns[0].reshape(self.problem.weight.shape)
        island.legs, island.letter, island.state = island.legs + 1, letter, arrays["state"]
        island.generation = figures["generation"]
        island.children, island.why, island.cost = figures["children"], figures["why"], self.problem.cost(best)
        if letter.prices is not None:
            self.lower = max(self.lower, letter.prices.lower)
        if self.best is None or island.cost < self.cost:
            self.best, self.cost = best, island.cost

    @property
    def children(self) -> int:
        """Patterns that were made, on all islands."""
        return sum(one.children for one in self.islands)

    def _tell(self, generations: int) -> None:
        if self.best is not None:
            self.reporter.tell_leg(generations, self.generation, self.cost, self.lower, self.children)

    def _ask_for_cuts(self) -> None:
        """How the cuts behind the bound are derived, for a proof; none where the prover's worker has died since.

        Not asked for without need: roundings of cuts name numbers that are made of values.
        """
        if self.lower <= 0 or not self.context.proving:
            return
        pending = self.workers.submit(PROVING, cuts_of, self.name)
        with suppress(Over, Lost):
            while not wait([pending], LOOK).done:
                self.check_time(CUTS_LATE)
                if self.workers.gone():
                    return
            self.cuts = read(self.workers.result(pending))[0]["cuts"]

    def _dismiss(self) -> None:
        """Let the workers forget this run, where they live on; one that is busy does so later by itself."""
        if self.workers.lasting:
            wait([self.workers.submit(place, dismiss, self.name) for place in range(self.workers.count)], 4 * LATE)

    # --- checkpoints -------------------------------------------------------------------------------------

    def _save(self) -> None:
        """The states of all islands, for a client that dies; written after every leg."""
        if self.folder is None or self.best is None:
            return
        figures = {
            "fingerprint": self.fingerprint,
            "generation": self.generation,
            "since": self.since,
            "islands": [[one.legs, one.generation, one.children, one.why] for one in self.islands],
        }
        arrays = {"lower": np.array([self.lower]), "best": bits(self.best.reshape(1, -1))}
        for number, island in enumerate(self.islands):
            arrays |= {f"island{number}_{name}": array for name, array in island.arrays().items()}
        self._unsaved = checkpoint.save_or_say(self.folder, self.generation, (figures, arrays), self._unsaved)

    def _resume(self) -> None:
        """Go on from the latest checkpoint, where that is asked for and there is one."""
        if self.folder is None or not self.parameters.resume:
            return
        loaded = checkpoint.load(self.folder)
        if loaded is None:
            return
        figures, arrays = loaded
        cells, shape = self.problem.weight.size, self.problem.weight.shape
        self.generation, self.since, self.lower = figures["generation"], figures["since"], int(arrays["lower"][0])
        self.best = np.unpackbits(arrays["best"], axis=1)[0, :cells].astype(bool).reshape(shape)
        self.cost = self.problem.cost(self.best)
        for number, (legs, generation, children, why) in enumerate(figures["islands"]):
            own = part(f"island{number}", arrays)
            if not legs:
                continue
            letter = Letter.of(part("letter", own), cells)
            cost = self.problem.cost(letter.patterns[0].reshape(shape))
            self.islands[number] = Island(legs, letter, own["state"], generation, children, cost, why)


def sources(costs: list[int | None], topology: str) -> list[int]:
    """From whom every island hears: its neighbour in a ring, or the one with the cheapest pattern."""
    if topology == RING:
        return [(number - 1) % len(costs) for number in range(len(costs))]
    cheapest = min(range(len(costs)), key=lambda number: (costs[number] is None, costs[number], number))
    return [cheapest] * len(costs)


class Legs:
    """One leg of every island: sent, awaited, and sent again with table and state where a worker lacks them."""

    def __init__(self, islands: Islands, orders: list[tuple[dict[str, Any], Arrays]]) -> None:
        self.islands, self.workers, self.orders = islands, islands.workers, orders
        self.pending: dict[Future[bytes], int] = {}
        self.deaths = [0] * len(orders)

    def done(self) -> list[tuple[dict[str, Any], Arrays]]:
        """The answers of all islands, in their order."""
        answers: dict[int, tuple[dict[str, Any], Arrays]] = {}
        for number in range(len(self.orders)):
            self._send(number)
        while self.pending:
            finished, _ = wait(self.pending, LOOK, FIRST_COMPLETED)
            self.islands.check_time()
            if self.workers.gone():
                again, self.pending = set(self.pending.values()), {}
                for number in sorted(again):
                    self._send(number, whole=True)
                continue
            for future in finished:
                number = self.pending.pop(future)
                answer = self._answer(future, number)
                if answer is not None:
                    answers[number] = answer
        return [answers[number] for number in range(len(self.orders))]

    def _send(self, number: int, whole: bool = False) -> None:
        figures, arrays = self.orders[number]
        state = self.islands.islands[number].state
        if whole:
            arrays = arrays | {"table": np.frombuffer(self.islands.table, np.uint8)}
            arrays |= {} if state is None else {"state": state}
        content = packed(figures, arrays)
        self.islands.sent += len(content)
        self.pending[self.workers.submit(number, leg, content)] = number

    def _answer(self, future: Future[bytes], number: int) -> tuple[dict[str, Any], Arrays] | None:
        """What an island answered; None where it was asked again."""
        try:
            content = self.workers.result(future)
        except Lost as fault:
            self.deaths[number] += 1
            if self.deaths[number] >= MOST_DEATHS:
                raise GpugaError(f"workers die over this table again and again ({fault}): is memory short?") from None
            self._send(number, whole=True)
            return None
        self.islands.received += len(content)
        figures, arrays = read(content)
        if figures.get("wants"):
            self._send(number, whole=True)
            return None
        if "infeasible" in figures:
            raise Infeasible(figures["infeasible"], figures["cells"])
        if "error" in figures:
            raise GpugaError(figures["error"])
        return figures, arrays
