"""From recodings to a protected file: the cheapest one whose suppressions a re-count accepts.

A search does not see that a suppression can make other combinations rare, so its winner may lose in the end:
several of its best recodings are suppressed to the end. `prove` goes on, recoding by recoding, until no other
can be cheaper; where a file is too large for the integer program of the re-count, what is left is the gap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpuga.context import GRACE, Clock, Progress
from gpuga.errors import GpugaError, Infeasible, OutOfTime, printable
from gpuga.microdata.costs import IMPOSSIBLE
from gpuga.microdata.problem import Problem, Recoding
from gpuga.microdata.recount_program import cheapest_recounted, small_enough
from gpuga.microdata.search import RecodingEvaluator
from gpuga.microdata.suppression import Suppressed, suppress

FINALISTS = 3
"""How many of the best recodings are suppressed to the end."""
PROGRAM_SECONDS = 60.0
"""How long one recoding's integer program may take."""


class Finished(NamedTuple):
    """A recoding suppressed to the end, and what both cost."""

    cost: int
    recoding: Recoding
    suppressed: Suppressed


class Finishing(NamedTuple):
    """How suppressions are made: optimal or greedy covers, one round or until a re-count is satisfied."""

    exact: bool
    once: bool
    clock: Clock
    progress: Progress


def cheapest_finished(problem: Problem, evaluator: RecodingEvaluator, how: Finishing) -> Finished:
    """The cheapest of the search's best recodings; those that cannot keep within the caps are passed over."""
    best: Finished | None = None
    possible = sorted((cost, k) for k, cost in evaluator.known.items() if cost < IMPOSSIBLE)
    for tried, (cost, recoding) in enumerate(possible):
        if best is not None and (tried >= FINALISTS or cost >= best.cost or evaluator.clock.expired()):
            break
        found = _finished(problem, evaluator, recoding, how)
        if found is not None and (best is None or found.cost < best.cost):
            best = found
    if best is None:
        raise _why_none(problem, evaluator)
    return best


def _finished(problem: Problem, evaluator: RecodingEvaluator, recoding: Recoding, how: Finishing) -> Finished | None:
    """A recoding suppressed to the end, by the integer program where round by round exceeds the caps."""
    how.progress.stage("local suppression")
    codes, sizes = problem.recoded(recoding)
    try:
        done = suppress(
            problem, codes, sizes, exact=how.exact, once=how.once, clock=how.clock, progress=how.progress
        )  # fmt: skip
    except (Infeasible, OutOfTime):
        if how.once or not small_enough(problem):
            return None
        found, floor = _by_program(problem, recoding, how)
        evaluator.floors[recoding] = max(evaluator.floors[recoding], floor)
        return found
    return Finished(problem.recoding_cost(recoding) + done.cost, recoding, done)


def _by_program(problem: Problem, recoding: Recoding, how: Finishing) -> tuple[Finished | None, int]:
    """A recoding's cheapest suppressions under the re-count, None where none are found; a floor of its cost."""
    codes, sizes = problem.recoded(recoding)
    seconds = max(GRACE, min(PROGRAM_SECONDS, how.clock.left()))
    answer = cheapest_recounted(problem, codes, sizes, seconds)
    rules = problem.recoding_cost(recoding)
    if answer.floor is None:
        return None, IMPOSSIBLE
    if answer.codes is None:
        return None, rules + answer.floor
    gone = (codes >= 0) & (answer.codes < 0)
    done = Suppressed(answer.codes, gone, answer.cost, answer.cost, 1, answer.cost <= answer.floor)
    return Finished(rules + answer.cost, recoding, done), rules + answer.floor


def prove(problem: Problem, evaluator: RecodingEvaluator, best: Finished, how: Finishing) -> Finished:
    """The cheapest protection under the re-count, as far as the time and the size of the file allow.

    Raises the evaluator's floors, from which its bound is made.
    """
    if not evaluator.enumerable or not small_enough(problem):
        return best
    how.progress.stage("exact re-count")
    settled: set[Recoding] = set()
    while not evaluator.spent():
        recoding = evaluator.most_promising(best.cost, settled)
        if recoding is None:
            break
        if recoding not in evaluator.known:
            evaluator.evaluate(recoding)
            continue
        found, floor = _by_program(problem, recoding, how)
        evaluator.floors[recoding] = max(evaluator.floors[recoding], floor)
        settled.add(recoding)
        how.progress.advance(best=best.cost / problem.costs.scale)
        if found is not None and found.cost < best.cost:
            best = found
    return best


def _why_none(problem: Problem, evaluator: RecodingEvaluator) -> GpugaError:
    """Why no recoding keeps within the caps: impossible where that is proven, else not found."""
    names = ", ".join(printable(problem.keys.fields[f]) for f in sorted(problem.caps))
    what = f"no protection keeps within the caps on suppressions of {names}: raise them or recode"
    coarsest = evaluator.floors.get(problem.coarsest, 0)
    everywhere = len(evaluator.floors) == int(np.prod([float(c) for c in problem.choices]))
    if (problem.nested and coarsest >= IMPOSSIBLE) or (everywhere and min(evaluator.floors.values()) >= IMPOSSIBLE):
        return Infeasible(what, [])
    return OutOfTime(
        f"no protection within the caps on suppressions of {names} was found among {len(evaluator.known)} recodings:"
        " raise the caps, recode more coarsely, or allow more time"
    )
