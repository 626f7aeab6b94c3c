"""What one recoding costs within the caps, and what is proven about it.

A recoding that cannot keep within the caps has no cost; a search still has to know in which direction to leave
it. It is therefore rated above every cost, by how far its cheapest covers exceed the caps.
"""

from __future__ import annotations

from typing import NamedTuple

from gpuga.errors import Infeasible, OutOfTime
from gpuga.microdata.caps import capped_covers, excess
from gpuga.microdata.costs import IMPOSSIBLE
from gpuga.microdata.problem import Problem, Recoding, local_suppression


class Evaluation(NamedTuple):
    """What a search goes by (`IMPOSSIBLE` or more: no protection is known), and a proven lower bound on it."""

    cost: int
    floor: int


def evaluate_recoding(problem: Problem, recoding: Recoding, *, exact: bool, seconds: float) -> Evaluation:
    """The cost of a recoding with its cheapest local suppressions within the caps.

    The floor also holds where a re-count asks for more: whatever is rare at first has to be covered.
    """
    rules = problem.recoding_cost(recoding)
    found = local_suppression(problem, *problem.recoded(recoding), exact=exact)
    try:
        capped = capped_covers(problem, found, problem.caps, seconds)
    except Infeasible:
        rated = IMPOSSIBLE + excess(found, problem.caps)
        return Evaluation(rated, IMPOSSIBLE)
    except OutOfTime:
        rated = IMPOSSIBLE + excess(found, problem.caps)
        return Evaluation(rated, rules + found.cost if found.proven else rules)
    uncapped = found.cost if found.proven else 0
    return Evaluation(rules + capped.cost, rules + (capped.cost if capped.proven else uncapped))
