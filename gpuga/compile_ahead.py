"""What a first run will need later, compiled by a process of its own while the run compiles what it needs first.

Both keep what they compile on disk, where the other finds it: they work towards each other from both ends.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import replace

from gpuga.bounds.exact import lower_bound
from gpuga.bounds.search import master_of
from gpuga.circuits.path_cover import clean_up
from gpuga.cluster.workers import end_with
from gpuga.context import Clock, Context, Progress
from gpuga.evolution.circuits import circuits
from gpuga.parameters import CircuitsParameters
from gpuga.problem.two_way import with_requirements
from gpuga.protect import protect
from gpuga.report.reasons import costliest, needs
from gpuga.safety.audit import audit
from gpuga.safety.exposure import exposure
from gpuga.safety.requirements import level_requirements
from gpuga.table.generate import herrington, smith3d
from gpuga.table.two_way import two_way_table


def main(parent: int) -> None:
    """Compile for a run, until it ends."""
    threading.Thread(target=end_with, args=(parent,), daemon=True).start()
    walk()


def walk() -> None:
    """Walk small tables through the bound, the clean-up and the evolution."""
    table = herrington(8, 8, 0.08, 1)
    plane = two_way_table(table)
    assert plane is not None, "the table has two dimensions"
    problem = with_requirements(plane, level_requirements(table))
    master_of(problem, problem.candidate).tighten(Clock())
    clean_up(problem, problem.candidate)
    few = CircuitsParameters(without=("prover",), generations=2, population=8)
    for one in (table, smith3d((4, 4, 3), 0.06, 0.0, 1)):
        circuits(one, Context(backend="cpu"), few)


def whole_walk(progress: Progress) -> None:
    """Walk small tables of two and three dimensions, and of none, through everything that commands do with tables."""
    cube = smith3d((5, 4, 4), 0.1, 0.0, 1)
    for table in (herrington(20, 20, 0.05, 1), cube, replace(cube, grid=None)):
        found = protect(table, seed=1, progress=progress)
        protect(table, seed=1, seconds=1, progress=progress)  # a limit asks for a quick first pattern
        protect(table, seed=1, options={"generations": 2, "population": 8}, progress=progress)
        context = Context(progress=progress)
        audit(table, found.suppressed, proofs=True, context=context)
        exposure(table, context=context)
        lower_bound(table, context)
        needs(table, found.suppressed, costliest(table, found.suppressed, 3), context)


if __name__ == "__main__":
    main(int(sys.argv[1]))
