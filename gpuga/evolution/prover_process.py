"""The prover beside evolution in a process of its own, where the time is limited and there is a processor for it.

The linear programs of general tables are small, and what is done around them is Python's: in one process, evolution and
prover would wait for each other most of the time. What goes to and fro are packed arrays, as in checkpoints; nothing is
pickled, and the program that uses this package is not run again. The process ends with the one that began it, however
that ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numba import get_num_threads, set_num_threads

from gpuga.bounds.incumbent import BY_CUTS
from gpuga.bounds.master import useful_columns
from gpuga.bounds.search import BranchAndCut
from gpuga.context import Clock, Context
from gpuga.errors import Infeasible, OutOfTime
from gpuga.evolution.checkpoint import Arrays, packed, part, read
from gpuga.evolution.prover import Beside, News
from gpuga.evolution.table_message import packed_table, unpacked_table
from gpuga.lp.choice import choose
from gpuga.problem.general import GeneralProblem
from gpuga.protection import Bound, Found, ToldCuts
from gpuga.table.table import Mask
from gpuga.table.witnesses import Witnesses

LEAST_SECONDS = 10.0
"""Below this limit it does not pay to load everything in another process, which takes a second or two."""

LATE = 3.0
"""Seconds that the process has for its last news."""

LENGTH = 8
"""Bytes of the length before a message."""


def worth_a_process(clock: Clock) -> bool:
    """Whether the prover should have a process of its own: in a limited time, with a processor for it."""
    limited = clock.seconds is not None and not clock.of_one_process
    return limited and clock.left() >= LEAST_SECONDS and get_num_threads() > 1 and bool(sys.executable)


@dataclass(eq=False)
class ToldSearch:
    """The search in the other process, as far as it was told; see `SearchState`."""

    problem: GeneralProblem
    send: Callable[[Mask], None]
    best: Mask
    cost: int
    lower: int = 0
    kind: str = BY_CUTS
    seconds: float = 0.0
    proof: Witnesses | None = None
    cuts: list[list[Any]] | None = None

    def offer(self, pattern: Mask) -> bool:
        """Hand a cheaper pattern over; whether it was."""
        if self.problem.cost(pattern) >= self.cost:
            return False
        self.send(pattern)
        return True

    def proven_bound(self) -> Bound:
        """What was told last; it holds in exact arithmetic."""
        root = ToldCuts(self.problem.table, self.cuts or [])
        return Bound(self.problem.base_cost + self.lower, self.kind, self.seconds, root=root)


class ProverProcess(Beside):
    """Runs the exact search of a general table in another process; a step is what that tells."""

    def __init__(self, problem: GeneralProblem, context: Context) -> None:
        self._general, self._done, self._cpu = problem, False, 0.0
        self._state: ToldSearch | None = None
        self._heard: News | None = None
        self._ordered = threading.Event()
        # the paths of this process, and nothing else of it: `-c` runs no module of the user's
        paths = json.dumps(sys.path)
        begin = f"import json, sys; sys.path[:] = json.loads({paths!r}); from {__name__} import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        super().__init__(problem, context, paced=False)

    def _steps(self) -> Iterator[None]:
        self._send(_order(self._general, self._context))
        self._ordered.set()
        while (content := _received(self._process.stdout)) is not None:
            figures, arrays = read(content)
            self._cpu = figures["cpu"]
            if "infeasible" in figures:
                raise Infeasible(figures["infeasible"], figures["cells"])
            if "failure" in figures:
                raise RuntimeError(figures["failure"])
            self._done = self._done or figures["last"]
            if "best" not in arrays:
                raise OutOfTime("time ran out before the prover had a pattern")
            self._take(figures, arrays)
            yield
        if not self._done:
            warnings.warn("the process of the prover was ended from outside; what it had proven stays", stacklevel=2)

    def _take(self, figures: dict[str, Any], arrays: Arrays) -> None:
        """What a message says, as the state of the search and as news of it."""
        best = arrays["best"]
        if self._state is None:
            self.search = self._state = ToldSearch(self._general, self._offer, best, self._general.cost(best))
        told = self._state
        if not np.array_equal(best, told.best):
            told.proof = None
        told.best, told.cost, told.lower = best, self._general.cost(best), figures["lower"]
        told.kind, told.seconds, told.cuts = figures["kind"], figures["seconds"], figures["cuts"]
        self._heard = News(0, told, arrays["point"], arrays["core"])
        if circuits := part("circuits", arrays):
            told.proof = self._heard.circuits = Witnesses(**circuits)

    def _news(self, steps: int) -> News:
        assert self._heard is not None, "a step takes it"
        self._heard.steps = steps
        return self._heard

    def _offer(self, pattern: Mask) -> None:
        self._send(packed({"stop": False}, {"pattern": pattern}))

    def _send(self, content: bytes) -> None:
        """Hand a message over; to a process that has ended there is nothing to say, but it may have told its last."""
        with suppress(BrokenPipeError):
            _send(self._process.stdin, content)

    def _run(self) -> None:
        super()._run()
        self.cpu_seconds = self._cpu

    def stop(self) -> None:
        """Ask for the last news and end the process; it is not waited for longer than that should take."""
        if not self.ended:
            self._ordered.wait(LATE)  # the order is the first message
            self._send(packed({"stop": True}, {}))
            self._thread.join(LATE)
        self._done = True
        self._process.kill()
        self._thread.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None, "both were asked for"
            with suppress(BrokenPipeError):  # what nobody reads any more
                pipe.close()
        self._process.wait()
        self._raise()


def _order(problem: GeneralProblem, context: Context) -> bytes:
    """What the process has to do; clocks of two processes of a machine agree."""
    figures = {
        "attacker": vars(context.model),
        "lp": context.lp,
        "seed": context.seed,
        "until": time.monotonic() + context.clock.left(),
        "proving": context.proving,
        "begun": context.first is not None,
    }
    start = np.array(context.start, bool).reshape(len(context.start), len(problem.table))
    return packed_table(problem.table, figures, {"start": start})


def _send(pipe: IO[bytes] | None, content: bytes) -> None:
    """A message with its length before it."""
    assert pipe is not None, "it was asked for"
    pipe.write(len(content).to_bytes(LENGTH) + content)
    pipe.flush()


def _received(pipe: IO[bytes] | None) -> bytes | None:
    """The next message; None where the other side has ended, be it in the midst of one."""
    assert pipe is not None, "it was asked for"
    length = pipe.read(LENGTH)
    content = pipe.read(int.from_bytes(length)) if len(length) == LENGTH else b""
    return content if content and len(content) == int.from_bytes(length) else None


# --- the other process -----------------------------------------------------------------------------------


def serve() -> None:
    """What the process does: search, and tell after every step what is known, until it is told to stop."""
    out, given = os.fdopen(os.dup(1), "wb"), sys.stdin.buffer
    os.dup2(2, 1)  # whatever is printed here is no message
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    content = _received(given)
    if content is None:
        return
    set_num_threads(1)
    try:
        _search(*read(content), given, out)
    except OutOfTime:
        _send(out, packed({"cpu": time.process_time(), "last": True}, {}))
    except Infeasible as fault:
        told = {"cpu": time.process_time(), "infeasible": str(fault), "cells": list(fault.cells)}
        _send(out, packed(told, {}))
    except BaseException:  # whatever it is, it belongs to the process that asks
        _send(out, packed({"cpu": time.process_time(), "failure": traceback.format_exc()}, {}))
    os._exit(0)  # with the thread that still listens


def _search(figures: dict[str, Any], arrays: Arrays, given: IO[bytes], out: IO[bytes]) -> None:
    """The search of the table of an order."""
    clock = Clock(max(0.0, figures["until"] - time.monotonic()))
    table = unpacked_table(figures, arrays)
    context = Context(
        lp=figures["lp"],
        solver=choose(figures["lp"]).solver,
        seed=figures["seed"],
        clock=clock,
        start=tuple(arrays["start"]),
        first=Found(table.suppressible) if figures["begun"] else None,
        **figures["attacker"],
    )
    offers = OfferListener(given, clock).offers
    search = BranchAndCut(GeneralProblem.of(table, context.strict, clock), context)
    teller = Teller(search, out, figures["proving"])
    teller.tell()
    for _ in search.steps():
        while offers:
            search.offer(offers.popleft())
        teller.tell()
    teller.tell(last=True)


class OfferListener:
    """Takes what the other process sends: patterns into `offers`, and the word to stop as an interrupt of the clock."""

    def __init__(self, given: IO[bytes], clock: Clock) -> None:
        self.given, self.clock, self.offers = given, clock, deque[Mask]()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while (content := _received(self.given)) is not None:
            figures, arrays = read(content)
            if figures["stop"]:
                self.clock.interrupt()
            else:
                self.offers.append(arrays["pattern"])
        os._exit(0)  # the other process has ended: nobody waits for what is done here


class Teller:
    """Tells what a search knows; circuits with each new pattern, derivations of cuts at the end where they are asked
    for."""

    def __init__(self, search: BranchAndCut, out: IO[bytes], proving: bool) -> None:
        self.search, self.out, self.proving = search, out, proving
        self._shown: Mask | None = None

    def tell(self, last: bool = False) -> None:
        """One message."""
        search, circuits = self.search, None
        bound = search.proven_bound() if last else None
        if self._shown is None or not np.array_equal(self._shown, search.best):
            self._shown, circuits = search.best, search.proof
        figures = {
            "lower": search.lower,
            "kind": search.kind,
            "seconds": search.context.clock.spent(),
            "cuts": search.master.derivations() if bound is not None and self.proving else None,
            "cpu": time.process_time(),
            "last": last,
        }
        known = {} if circuits is None else vars(circuits)
        if any(array.dtype.hasobject for array in known.values()):
            known = {}  # numbers too wide for a message: the audit finds circuits of its own
        arrays = {
            "best": search.best,
            "point": search.master.point(),
            "core": useful_columns(search.master, search.cost) | search.best,
            **{f"circuits_{name}": array for name, array in known.items()},
        }
        _send(self.out, packed(figures, arrays))
