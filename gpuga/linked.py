"""Linked tables protected together: one pattern per table, and an exact audit of all equations at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from gpuga.context import Clock, Context
from gpuga.errors import InputError, printable
from gpuga.methods import DEFAULT, Run
from gpuga.protect import RunOptions, protect
from gpuga.protection import Found
from gpuga.result import Protection
from gpuga.table.links import Linked, Member
from gpuga.table.plan import Cluster, Plan, plan
from gpuga.table.table import Ints, Levels, Mask, Status, Table
from gpuga.table.wishes import Wish, named_dimensions

MOST_ROUNDS = 10
"""So often the tables are gone through one by one; what is still open then is repaired."""


@dataclass(frozen=True, eq=False)
class ProtectedTables:
    """Patterns of several tables, safe against someone who reads all of them.

    `protections` are those of the clusters of `plan`, each of its joint table; `suppressed` has one pattern per table.
    """

    plan: Plan
    protections: tuple[Protection, ...]

    @property
    def safe(self) -> bool:
        """The exact audit's verdict on all clusters."""
        return all(protection.audit.safe for protection in self.protections)

    @property
    def suppressed(self) -> tuple[Mask, ...]:
        """The pattern of every table (bool[n]), in the order of the plan."""
        found: dict[int, Mask] = {}
        for cluster, protection in zip(self.plan.clusters, self.protections, strict=True):
            found |= zip(cluster.members, cluster.linked.apart(protection.suppressed), strict=True)
        return tuple(found[at] for at in range(len(self.plan.members)))

    def __repr__(self) -> str:
        """What was done, without any value."""
        return f"<ProtectedTables: {len(self.plan.members)} tables, {'safe' if self.safe else 'not safe'}>"


def protect_tables(
    tables: Plan | Sequence[Table | Member],
    method: str = DEFAULT,
    *,
    one_by_one: bool = False,
    options: dict[str, Any] | None = None,
    **run: Unpack[RunOptions],
) -> ProtectedTables:
    """Find patterns of linked `tables`, or of a plan of them, that are safe together.

    `method` and its `options` are as for single tables. Each cluster of the plan is one table with the equations of all
    of its tables, and is protected and audited as such. With `one_by_one` the method is applied to single tables, again
    and again until no table suppresses more in another, which takes less memory and time and costs more; the joint
    audit then finds what is open, and that is repaired. Further arguments are those of `gpuga.protect`; `seconds` are
    shared by the clusters.
    """
    planned = tables if isinstance(tables, Plan) else plan(tables)
    clock = run.pop("clock", None) or Clock(run.pop("seconds", None))
    keep = tuple(run.pop("keep", ()))
    _refuse_unknown(planned, keep)
    left = sum(len(cluster.linked.table) for cluster in planned.clusters)
    protections = []
    for cluster in planned.clusters:
        joint = cluster.linked.table
        part = clock if len(joint) == left else clock.part(len(joint) / left)
        left -= len(joint)
        own: RunOptions = {**run, "clock": part, "keep": [wish for wish in keep if _applies(cluster, wish)]}
        if one_by_one:
            own["walk"] = partial(in_turn, cluster.linked)
        protections.append(protect(joint, method, options=options, **own))
    return ProtectedTables(planned, tuple(protections))


def _applies(cluster: Cluster, wish: Wish) -> bool:
    """Whether a cluster has the dimensions of a wish."""
    grid = cluster.linked.table.grid
    return grid is not None and named_dimensions(wish) <= {d.name for d in grid.dimensions}


def _refuse_unknown(planned: Plan, keep: Sequence[Wish]) -> None:
    for wish in keep:
        if not any(_applies(cluster, wish) for cluster in planned.clusters):
            raise InputError(f"no tables that are protected together have all of {printable(wish)!r}", field="--keep")


def in_turn(linked: Linked, run: Run) -> Run:
    """The method applied to one table after the other, until no table suppresses more in another."""

    def walk(joint: Table, context: Context) -> Found:
        suppressed = joint.forced.copy()
        done: dict[int, Mask] = {}
        rounds = 0
        while rounds < MOST_ROUNDS and not (rounds and context.clock.expired()):
            rounds += 1
            if not _once(linked, run, joint, suppressed, done, context):
                break
        return Found(suppressed, details={"rounds": rounds})

    return walk


def _once(linked: Linked, run: Run, joint: Table, suppressed: Mask, done: dict[int, Mask], context: Context) -> bool:
    """Every table in which something is suppressed since it was protected, once; whether there was any."""
    changed = False
    for at, where in enumerate(linked.position):
        if at in done and (suppressed[where] == done[at]).all():
            continue
        part = _with_what_is_decided(linked.members[at], joint, where, suppressed)
        if len(part.sensitive):
            found = run(part, _for_part(context, len(linked.position) - at))
            suppressed[where[found.suppressed]] = True
        done[at], changed = suppressed[where], True
    return changed


def _for_part(context: Context, left: int) -> Context:
    """What a method is told of its run on one of several tables."""
    return replace(context, clock=context.clock.part(1 / left), start=(), first=None, likeness=None)


def _with_what_is_decided(member: Table, joint: Table, where: Ints, suppressed: Mask) -> Table:
    """One table with what the joint table asks of its cells, and with what other tables suppress in it."""
    status = joint.status[where]
    decided = suppressed[where] & (status == Status.SUPPRESSIBLE)
    return replace(
        member,
        status=np.where(decided, Status.SUPPRESSED, status).astype(np.uint8),
        weight=joint.weight[where],
        lb=joint.lb[where],
        ub=joint.ub[where],
        levels=Levels(*(level[where] for level in vars(joint.levels).values())),
    )
