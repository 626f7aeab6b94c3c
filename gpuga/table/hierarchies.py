"""Hierarchies: the sub-totals of a dimension; several of them may break the same codes down in different ways.

A dimension with several hierarchies has the codes of all of them once, and the breakdowns of each: regions add up to
provinces and, in other sets, to zones, and both to the total. The equations of all of them hold at the same time.
"""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gpuga.errors import InputError, printable
from gpuga.table.grid import MOST_DEPTH, dimension_from_parents
from gpuga.table.table import Dimension, Grid, Ints, Lines


@dataclass(frozen=True)
class Hierarchy:
    """The codes of a dimension below its total, each with its parent (None: the total itself)."""

    codes: tuple[str, ...]
    parents: tuple[str | None, ...]
    path: str | None = None
    lines: tuple[int, ...] = ()

    def dimension(self, name: str, total: str) -> Dimension:
        """The dimension of these codes below a total of that code."""
        if total in self.codes:
            raise self.fault(f"code {printable(total)!r} is the total itself: a cycle", total, name)
        parents = [total if parent is None else parent for parent in self.parents]
        return dimension_from_parents(name, [*self.codes, total], [*parents, None])

    def fault(self, what: str, code: str, field: str) -> InputError:
        """A fault of one code, with its place in the file."""
        at = self.codes.index(code)
        return InputError(what, path=self.path, line=self.lines[at] if self.lines else None, field=field)

    def renamed(self, names: Mapping[str, str]) -> Hierarchy:
        """The same hierarchy with other names of some codes."""
        codes = tuple(names.get(code, code) for code in self.codes)
        return replace(self, codes=codes, parents=tuple(p if p is None else names.get(p, p) for p in self.parents))

    def without_absent(self, there: Container[str], name: str) -> Hierarchy:
        """The hierarchy without breakdowns of which no part is there; a part missing beside others is refused."""
        broken_down = {parent for code, parent in zip(self.codes, self.parents, strict=True) if code in there}
        for code, parent in zip(self.codes, self.parents, strict=True):
            if code not in there and (parent in broken_down or parent is None):
                raise self.fault(f"code {printable(code)!r} is not in the table", code, name)
        kept = [at for at, code in enumerate(self.codes) if code in there]
        if len(kept) == len(self.codes):
            return self
        _say_depth(name, [c for c in self.codes if c in there and c not in broken_down and c in self.parents])
        lines = tuple(self.lines[at] for at in kept) if self.lines else ()
        return replace(
            self,
            codes=tuple(self.codes[at] for at in kept),
            parents=tuple(self.parents[at] for at in kept),
            lines=lines,
        )

    def above(self, codes: Container[str]) -> set[str]:
        """The codes that stand above some of these."""
        parent = dict(zip(self.codes, self.parents, strict=True))
        found: set[str] = set()
        for code in self.codes:
            at = parent[code] if code in codes else None
            while at is not None and at not in found:
                found.add(at)
                at = parent.get(at)  # a parent that is no code is refused later
        return found


def as_deep_as_the_table(name: str, hierarchies: Sequence[Hierarchy], used: Iterable[str]) -> list[Hierarchy]:
    """The hierarchies without the breakdowns of which the table, with the codes `used`, has no part at all.

    A part that is missing beside others is a hole, and refused: the sum of the others would pass for the total.
    """
    there = set(used)
    while more := set().union(*(hierarchy.above(there) for hierarchy in hierarchies)) - there:
        there |= more  # a sub-total of one hierarchy may be a part in another
    return [hierarchy.without_absent(there, name) for hierarchy in hierarchies]


def _say_depth(name: str, cut: Sequence[str]) -> None:
    more = f" and {len(cut) - 1} more codes" if len(cut) > 1 else ""
    warnings.warn(
        f"the hierarchy of {printable(name)!r} is deeper than the table, which does not break down "
        f"{printable(cut[0])!r}{more}",
        stacklevel=3,
    )


def refuse_holes(grid: Grid, lines: Lines, value: Ints) -> None:
    """Refuse the first sum that is wrong and lacks parts: their rows are missing."""
    for line in np.flatnonzero(lines.residual(value)).tolist():
        *parts, total = lines.cell[lines.start[line] : lines.start[line + 1]].tolist()
        axis = int(np.argmax(grid.coordinate[parts[0]] != grid.coordinate[total]))
        dimension, code = grid.dimensions[axis], grid.coordinate[total, axis]
        there = set(grid.coordinate[parts, axis].tolist())
        families = (set(np.flatnonzero(tree == code).tolist()) for tree in dimension.breakdowns)
        missing = next((sorted(family - there) for family in families if there < family), [])
        if missing:
            more = f" and of {len(missing) - 1} more codes" if len(missing) > 1 else ""
            raise InputError(
                f"{printable(dimension.codes[code])!r} is not the sum of its parts that are there: here the row of "
                f"{printable(dimension.codes[missing[0]])!r}{more} is missing",
                field=dimension.name,
                cell=total,
            )


def dimension_of(name: str, hierarchies: Sequence[Hierarchy], total: str) -> Dimension:
    """The dimension that one or several hierarchies describe together, below one total."""
    parts = [hierarchy.dimension(name, total) for hierarchy in hierarchies]
    if len(parts) == 1:
        return parts[0]
    codes = (*dict.fromkeys(code for part in parts for code in part.codes if code != total), total)
    return joined(name, codes, [_parents(part, codes) for part in parts])


def _parents(part: Dimension, codes: Sequence[str]) -> NDArray[np.int32]:
    """Each code's parent in one of several hierarchies, by the places of all codes (-1: it is no part there)."""
    place = {code: at for at, code in enumerate(codes)}
    at = np.array([place[code] for code in part.codes], np.int32)
    parent = np.full(len(codes), -1, np.int32)
    parent[at] = np.where(part.parent >= 0, at[part.parent], -1)
    return parent


def joined(name: str, codes: Sequence[str], parents: Sequence[NDArray[np.int32]]) -> Dimension:
    """One dimension with several breakdowns of its codes; those that two hierarchies share count once."""
    seen: set[tuple[int, bytes]] = set()
    trees: list[NDArray[np.int32]] = []
    for parent in parents:
        kept = np.full(len(codes), -1, np.int32)
        for total in np.unique(parent[parent >= 0]).tolist():
            part = np.flatnonzero(parent == total)
            if (total, part.tobytes()) not in seen:
                seen.add((total, part.tobytes()))
                kept[part] = total
        if (kept >= 0).any():
            trees.append(kept)
    shown = np.full(len(codes), -1, np.int32)
    for parent in reversed(parents):
        shown = np.where(parent >= 0, parent, shown).astype(np.int32)
    _refuse_cycle(name, codes, trees)
    return Dimension(name, tuple(codes), shown, tuple(trees) if len(trees) > 1 else ())


def _refuse_cycle(name: str, codes: Sequence[str], trees: Sequence[NDArray[np.int32]]) -> None:
    """Refuse hierarchies of which one puts a code above another and the other below it."""
    below = np.ones(len(codes), bool)  # codes from which as many steps up are possible as were taken
    for _ in range(MOST_DEPTH + 1):
        below = np.logical_or.reduce([(tree >= 0) & below[np.maximum(tree, 0)] for tree in trees])
        if not below.any():
            return
    code = printable(codes[int(np.argmax(below))])
    what = f"the hierarchies contradict each other (a cycle through code {code!r}), or are deeper than {MOST_DEPTH}"
    raise InputError(f"{what} levels", field=name)
