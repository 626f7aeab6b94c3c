"""A table as the campaign sees it: plain Python integers, no arrays, nothing of the product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

Equation = tuple[int, tuple[tuple[int, int], ...]]  # right-hand side, (cell, coefficient) ...


@dataclass(frozen=True)
class Problem:
    """Cells and equations. Values, bounds and levels are in units of `1/scale`; a bound of None is none.

    `status` holds the letters s, u, z and m. `labels` are the codes of each cell where the table is a grid, and
    `parents` gives each dimension's codes with their parents (None: below the total).
    """

    kind: str
    value: tuple[int, ...]
    status: str
    lb: tuple[int | None, ...]
    ub: tuple[int | None, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]
    sliding: tuple[int, ...]
    weight: tuple[int, ...]
    equations: tuple[Equation, ...]
    scale: int = 1
    weight_scale: int = 1
    dimensions: tuple[str, ...] = ()
    labels: tuple[tuple[str, ...], ...] = ()
    parents: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    groups: int = 0

    def __len__(self) -> int:
        return len(self.value)

    @property
    def sensitive(self) -> list[int]:
        """The cells that must not be published."""
        return [c for c, letter in enumerate(self.status) if letter == "u"]

    @property
    def forced(self) -> frozenset[int]:
        """What is suppressed in every pattern."""
        return frozenset(c for c, letter in enumerate(self.status) if letter in "um")

    @property
    def free(self) -> list[int]:
        """What a pattern may suppress or not."""
        return [c for c, letter in enumerate(self.status) if letter == "s"]

    @property
    def everything(self) -> frozenset[int]:
        """The largest pattern."""
        return frozenset(c for c, letter in enumerate(self.status) if letter != "z")

    def cost(self, pattern: frozenset[int]) -> int:
        """The weights of the secondary suppressions, in units of `1/weight_scale`."""
        return sum(self.weight[c] for c in pattern if self.status[c] != "u")

    def largest_sum(self) -> int:
        """What has to stay below the product's limit for sums."""
        coefs = max((abs(k) for _, row in self.equations for _, k in row), default=1)
        return sum(map(abs, self.value)) * max(1, coefs)

    def zeros_frozen(self) -> Problem:
        """The table as readers of long files see it: a zero is never suppressed."""
        status = "".join("z" if v == 0 and s == "s" else s for v, s in zip(self.value, self.status, strict=True))
        return replace(self, status=status)

    def jj(self) -> str:
        """The table as a `.jj` file."""
        number = [shown(v, self.scale) for v in self.value]
        rows = zip(
            number,
            [shown(w, self.weight_scale) for w in self.weight],
            self.status,
            [_bound(b, self.scale, "-") for b in self.lb],
            [_bound(b, self.scale, "") for b in self.ub],
            *([shown(v, self.scale) for v in level] for level in (self.lower, self.upper, self.sliding)),
            strict=True,
        )
        lines = ["0", str(len(self)), *(f"{i} {' '.join(row)}" for i, row in enumerate(rows))]
        lines.append(str(len(self.equations)))
        for rhs, row in self.equations:
            entries = " ".join(f"{c} ({k})" for c, k in row)
            lines.append(f"{shown(rhs, self.scale)} {len(row)} : {entries}")
        return "\n".join(lines) + "\n"

    def columns(self, cells: Sequence[int], all_bounds: bool) -> dict[str, list[str]]:
        """The columns of a long file for some of the cells; blank where nothing is said."""
        out = {name: [self.labels[c][axis] for c in cells] for axis, name in enumerate(self.dimensions)}
        out["value"] = [shown(self.value[c], self.scale) for c in cells]
        out["status"] = [self.status[c] for c in cells]
        for name in ("lower", "upper", "sliding"):
            level = getattr(self, name)
            out[name] = [shown(level[c], self.scale) if self.status[c] == "u" else "" for c in cells]
        out["weight"] = [shown(self.weight[c], self.weight_scale) for c in cells]
        if all_bounds or any(self.lb[c] != 0 for c in cells):
            out["lb"] = [_word(self.lb[c], self.scale, "-inf") for c in cells]
        if all_bounds or any(self.ub[c] is not None for c in cells):
            out["ub"] = [_word(self.ub[c], self.scale, "inf") for c in cells]
        return out


def shown(value: int, scale: int) -> str:
    """An integer in units of `1/scale` (a power of ten) as a decimal text."""
    if scale == 1:
        return str(value)
    whole, rest = divmod(abs(value), scale)
    tail = str(rest).zfill(len(str(scale)) - 1).rstrip("0")
    return f"{'-' if value < 0 else ''}{whole}{'.' + tail if tail else ''}"


def _bound(bound: int | None, scale: int, sign: str) -> str:
    return f"{sign}100000000000000000000" if bound is None else shown(bound, scale)


def _word(bound: int | None, scale: int, word: str) -> str:
    return word if bound is None else shown(bound, scale)


def permuted(problem: Problem, order: Sequence[int]) -> Problem:
    """The same table with its cells in another order: cell `i` is the old cell `order[i]`."""
    place = {old: new for new, old in enumerate(order)}
    moved = {
        name: tuple(getattr(problem, name)[c] for c in order)
        for name in ("value", "lb", "ub", "lower", "upper", "sliding", "weight")
    }
    return replace(
        problem,
        **moved,
        status="".join(problem.status[c] for c in order),
        labels=tuple(problem.labels[c] for c in order if c < len(problem.labels)),
        equations=tuple((rhs, tuple((place[c], k) for c, k in row)) for rhs, row in problem.equations),
    )
