"""A plan for several tables: which cells they share, which table lies within another, what is protected together.

Tables that share a cell that may be suppressed are protected together: what hides it in one must hide it in all. Where
all shared cells are published anyway, nothing passes from one table to the other, and each stands alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gpuga.errors import InputError, printable
from gpuga.table.links import Linked, Member, link
from gpuga.table.table import Status, Table


@dataclass(frozen=True)
class Shared:
    """Two tables by their numbers, how many cells they share, and how many of these may be suppressed."""

    one: int
    other: int
    cells: int
    open: int


@dataclass(frozen=True, eq=False)
class Cluster:
    """Tables that are protected together, by their numbers, and the one table that they make."""

    members: tuple[int, ...]
    linked: Linked


@dataclass(frozen=True, eq=False)
class Plan:
    """What has to be done for several tables.

    `within[t]` is the table of which table `t` is a part (all of its cells are cells of it), or None: it needs no
    protection of its own, but gets its pattern like all others.
    """

    members: tuple[Member, ...]
    clusters: tuple[Cluster, ...]
    shared: tuple[Shared, ...]
    within: tuple[int | None, ...]

    def __repr__(self) -> str:
        """The sizes, without any value."""
        return f"<Plan: {len(self.members)} tables in {len(self.clusters)} clusters>"


def plan(tables: Sequence[Table | Member]) -> Plan:
    """What several `tables` have in common, and which of them are protected together.

    Each is a table, or a `gpuga.Member` that says its name, other names of its dimensions and codes, and its
    measure. Cells that must be published in one table must be so in all.
    """
    members = _named([Member.of(given) for given in tables])
    clusters: list[Cluster] = []
    shared: list[Shared] = []
    within: list[int | None] = [None] * len(members)
    for measure in dict.fromkeys(member.measure for member in members):
        numbers = [at for at, member in enumerate(members) if member.measure == measure]
        everything = link([members[at] for at in numbers], measure or "linked")
        pairs = _pairs(numbers, everything)
        shared += pairs
        for at, whole in _included(numbers, pairs, members).items():
            within[at] = whole
        clusters += _clusters(numbers, pairs, members, everything)
    return Plan(tuple(members), tuple(clusters), tuple(shared), tuple(within))


def _named(members: Sequence[Member]) -> list[Member]:
    """The members, each with a name of its own."""
    if not members:
        raise InputError("there is no table to plan for")
    names = [member.name for member in members]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two tables are called {printable(name)!r}: give each a name of its own", field="name")
    return list(members)


def _pairs(numbers: Sequence[int], everything: Linked) -> list[Shared]:
    """All pairs of tables that share cells; groups are no cells."""
    cells = len(everything.table) - everything.table.groups
    has = np.zeros((len(numbers), cells), bool)
    for row, where in zip(has, everything.position, strict=True):
        row[where[where < cells]] = True
    suppressible = everything.table.suppressible[:cells]
    found = []
    for i in range(len(numbers)):
        for j in range(i + 1, len(numbers)):
            both = has[i] & has[j]
            if both.any():
                found.append(Shared(numbers[i], numbers[j], int(both.sum()), int((both & suppressible).sum())))
    return found


def _included(numbers: Sequence[int], pairs: Sequence[Shared], members: Sequence[Member]) -> dict[int, int]:
    """Tables of which another one has all cells, with the largest such table; of equal tables the first stays."""
    size = {at: len(members[at].grid.coordinate) for at in numbers}
    found: dict[int, int] = {}
    for pair in pairs:
        for small, large in ((pair.other, pair.one), (pair.one, pair.other)):
            inside = pair.cells == size[small] and (size[small] < size[large] or small > large)
            if inside and size[large] > size.get(found.get(small, -1), 0):
                found[small] = large
    return found


def _clusters(
    numbers: Sequence[int], pairs: Sequence[Shared], members: Sequence[Member], everything: Linked
) -> list[Cluster]:
    """Tables held together by shared cells that may be suppressed, each cluster as one table."""
    group = {at: at for at in numbers}
    for pair in pairs:
        if pair.open:
            old, new = group[pair.other], group[pair.one]
            group = {at: new if of == old else of for at, of in group.items()}
    if len(set(group.values())) == 1:
        return [Cluster(tuple(numbers), everything)]
    published = dict(zip(numbers, (everything.table.status[where] for where in everything.position), strict=True))
    clusters = []
    for first in dict.fromkeys(group.values()):
        inside = [at for at in numbers if group[at] == first]
        frozen = [_frozen(members[at], published[at] == Status.FROZEN) for at in inside]
        clusters.append(Cluster(tuple(inside), link(frozen, members[inside[0]].name)))
    return clusters


def _frozen(member: Member, must: np.ndarray) -> Member:
    """A table in which cells that must be published elsewhere must be so, too."""
    status = np.where(must, Status.FROZEN, member.table.status).astype(np.uint8)
    return replace(member, table=replace(member.table, status=status))
