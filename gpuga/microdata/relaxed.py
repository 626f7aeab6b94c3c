"""The relaxed recoding problem and its lower bounds (Hurkens and Tiourine 1998, section 3).

Prices `pi` on the unsafe cells of the frequency tables, a feasible solution of the dual of every record's
covering problem, turn the suppressions into a sum: a recoding costs at least its rules plus the prices of the
cells that it leaves unsafe. Prices are made at one recoding, where they are tight, and hold for all. The
relaxed problem falls apart into frequency tables: the price left in a table depends only on the rules of its
own fields. Its minimum is found by enumeration where the recodings are few, else bounded by Lagrangean
relaxation (section 3.3, not implemented there): each table chooses its own rules, and penalties, which sum to
the recoding costs, draw the choices together.

Prices are integers in units of `1/(scale * FINENESS)` and checked feasible, so every bound holds exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from gpuga.compiled import compiled
from gpuga.context import Clock
from gpuga.errors import InputError
from gpuga.kernels import Backend, Frequencies, get_backend
from gpuga.microdata.cover import feasible_prices
from gpuga.microdata.histogram import combine
from gpuga.microdata.problem import Problem
from gpuga.microdata.unsafe import families, set_masks, unsafe_words

Ints = NDArray[np.int64]

FINENESS = 60
"""Prices are in sixtieths of the cost unit: duals of small covering problems have small denominators."""
MOST_RULES = 2**20
"""Rules of one table's fields that are tabulated at most."""
MOST_RECODINGS = 2**22
"""Recodings that are enumerated at most."""


@compiled
def _inhabited(flat: Ints, bins: int) -> tuple[Ints, Ints, Ints]:
    """Number the inhabited bins: each record's cell (-1 missing), per cell one record and the count."""
    number, counts, example = np.full(bins, -1, np.int64), np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    cell, found = np.full(len(flat), -1, np.int64), 0
    for r in range(len(flat)):
        if flat[r] >= 0:
            if number[flat[r]] < 0:
                number[flat[r]] = found
                example[found] = r
                found += 1
            cell[r] = number[flat[r]]
            counts[cell[r]] += 1
    return cell, example[:found], counts[:found]


def _cells(problem: Problem, key: int) -> tuple[Ints, Ints, Ints]:
    fields = problem.keys.keys[key].fields
    flat, bins = combine(problem.columns, fields, [len(problem.rules[f][0].codes) for f in fields])
    cell, example, counts = _inhabited(flat, bins)
    return cell, example, counts


def frequency_tables(problem: Problem) -> Frequencies:
    """The frequency tables of all keys in the file as it is, without prices."""
    widest = max(len(key.fields) for key in problem.keys.keys)
    start, coordinates, counts = [0], [], []
    for position, key in enumerate(problem.keys.keys):
        _, example, count = _cells(problem, position)
        place = np.zeros((len(example), widest), np.int32)
        place[:, : len(key.fields)] = problem.codes[example][:, list(key.fields)]
        start.append(start[-1] + len(example))
        coordinates.append(place)
        counts.append(count)
    field = np.full((len(problem.keys), widest), -1, np.int32)
    for position, key in enumerate(problem.keys.keys):
        field[position, : len(key.fields)] = key.fields
    images = _images(problem)
    count = np.concatenate(counts)
    return Frequencies(
        np.array(start, np.int64), np.concatenate(coordinates), count, np.zeros_like(count), field,
        problem.keys.thresholds, *images,
    )  # fmt: skip


def _images(problem: Problem) -> tuple[Ints, Ints, NDArray[np.int32]]:
    """All rules of all fields as one array of images, with where each begins and how many codes it has."""
    start = np.zeros((problem.fields, max(problem.choices)), np.int64)
    size = np.ones_like(start)
    images, at = [], 0
    for field, choices in enumerate(problem.rules):
        for rule, choice in enumerate(choices):
            start[field, rule], size[field, rule] = at, len(choice.codes)
            images.append(choice.image)
            at += len(choice.image)
    return start, size, np.concatenate(images)


def priced(problem: Problem, tables: Frequencies, recoding: Sequence[int]) -> Frequencies:
    """The tables with prices that are tight at one recoding."""
    codes, sizes = problem.recoded(recoding)
    grouped = families(unsafe_words(codes, sizes, problem.keys), problem.costs.record_class)
    start, key, masks = set_masks(grouped.words, problem.keys)
    costs = problem.costs.suppress[grouped.cost_class] * FINENESS
    prices = feasible_prices(start, masks, costs)
    family = np.repeat(np.arange(len(grouped)), np.diff(start))
    weight = np.zeros_like(tables.count)
    for position in range(len(problem.keys)):
        chosen = key == position
        if chosen.any():
            per_family = np.zeros(len(grouped), np.int64)
            per_family[family[chosen]] = prices[chosen]
            cell, _, _ = _cells(problem, position)
            part = weight[tables.start[position] : tables.start[position + 1]]
            _add(part, cell, grouped.record, per_family[grouped.family])
    return replace(tables, weight=weight)


@compiled
def _add(weight: Ints, cell: Ints, record: Ints, price: Ints) -> None:
    for i in range(len(record)):
        weight[cell[record[i]]] += price[i]


@dataclass(frozen=True)
class RecodingBound:
    """A proven lower bound on the cost of any protection of the file, in units of `1/scale`."""

    value: Fraction
    kind: str


class Relaxed:
    """One set of prices and what they say of recodings; a table is evaluated once per combination of its
    rules.

    `_left` holds what each table leaves unprotected, combination after combination, table after table (-1:
    not yet evaluated); the combination of table t under recoding k stands at `_offset[t] + (k @ _stride)[t]`.
    """

    def __init__(self, problem: Problem, tables: Frequencies, backend: Backend | None = None) -> None:
        self.problem, self.tables = problem, tables
        self.backend = backend or get_backend("cpu")
        keys = problem.keys.keys
        self._shape = [tuple(problem.choices[f] for f in key.fields) for key in keys]
        if max(float(np.prod([float(c) for c in shape])) for shape in self._shape) > MOST_RULES:
            raise InputError("a key of this many fields with this many recodings each is too large: use smaller keys")
        self._stride = np.zeros((problem.fields, len(keys)), np.int64)
        for t, (key, shape) in enumerate(zip(keys, self._shape, strict=True)):
            for place, field in enumerate(key.fields):
                self._stride[field, t] = int(np.prod(shape[place + 1 :]))
        self._offset = np.concatenate([[0], np.cumsum([int(np.prod(shape)) for shape in self._shape])])
        self._left = np.full(int(self._offset[-1]), -1, np.int64)

    def estimates(self, recodings: NDArray[np.int32]) -> Ints:
        """A lower bound on the cost of each recoding (int32[batch, fields]) in units of `1/(scale *
        FINENESS)`.

        What is not known yet is evaluated in one batched call.
        """
        at = self._offset[:-1] + recodings.astype(np.int64) @ self._stride
        self._evaluate(np.unique(at[self._left[at] < 0]))
        total = np.asarray(self._left[at].sum(axis=1), np.int64)
        for field, cost in enumerate(self.problem.costs.recode):
            total += cost[recodings[:, field]] * FINENESS
        return total

    def _evaluate(self, unknown: Ints) -> None:
        if len(unknown) == 0:
            return
        table = np.searchsorted(self._offset, unknown, side="right") - 1
        within = unknown - self._offset[table]
        rule = np.zeros((len(unknown), self.tables.field.shape[1]), np.int32)
        for place in range(rule.shape[1]):
            field = self.tables.field[table, place]
            choices = np.array(self.problem.choices)[np.maximum(field, 0)]
            stride = np.where(field >= 0, self._stride[np.maximum(field, 0), table], 1)
            rule[:, place] = np.where(field >= 0, within // stride % choices, 0)
        self._left[unknown] = self.backend.rare_weights(self.tables, table.astype(np.int32), rule)

    def complete(self) -> list[Ints]:
        """What every table leaves under every combination of its rules; one axis per field."""
        self._evaluate(np.flatnonzero(self._left < 0))
        parts = np.split(self._left, self._offset[1:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self._shape, strict=True)]

    def everywhere(self) -> Ints:
        """The estimate of every recoding (int64, one axis per field); only for few enough recodings."""
        fields = self.problem.fields
        total = np.zeros(self.problem.choices, np.int64)
        for key, left in zip(self.problem.keys.keys, self.complete(), strict=True):
            shape = [self.problem.choices[f] if f in key.fields else 1 for f in range(fields)]
            total += left.reshape(shape)
        for field, cost in enumerate(self.problem.costs.recode):
            total += (cost * FINENESS).reshape([-1 if f == field else 1 for f in range(fields)])
        return total

    def lagrangean(self, upper: int, clock: Clock | None = None, iterations: int = 300) -> int:
        """The best Lagrangean bound of a subgradient walk; `upper` (same units) sets the steps."""
        clock = clock or Clock()
        tables, penalties = self.complete(), _Penalties(self.problem)
        best, pace = -1, 1.0
        since = 0
        for _ in range(iterations):
            bound, choice = penalties.minimum(tables)
            since = 0 if bound > best else since + 1
            best = max(best, bound)
            if since >= 10:
                pace, since = pace / 2, 0
            if clock.expired() or not penalties.move(choice, pace * max(upper - bound, 1)):
                break
        return best


class _Penalties:
    """Integer penalties per table, field and rule; over the tables they sum to the recoding costs."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.tables_of = [
            [t for t, key in enumerate(problem.keys.keys) if f in key.fields] for f in range(problem.fields)
        ]
        self.value: dict[tuple[int, int], Ints] = {}
        for field, tables in enumerate(self.tables_of):
            cost = problem.costs.recode[field] * FINENESS
            for i, table in enumerate(tables):
                share = cost // len(tables)
                self.value[table, field] = share + (cost - share * len(tables) if i == 0 else 0)

    def minimum(self, left: Sequence[Ints]) -> tuple[int, list[tuple[int, ...]]]:
        """The sum of the tables' minima, and the rules each table chose."""
        total, choice = 0, []
        for table, key in enumerate(self.problem.keys.keys):
            values = left[table].copy()
            for axis, field in enumerate(key.fields):
                shape = [-1 if a == axis else 1 for a in range(values.ndim)]
                values += self.value[table, field].reshape(shape)
            at = int(np.argmin(values))
            total += int(values.flat[at])
            choice.append(tuple(int(x) for x in np.unravel_index(at, values.shape)))
        for field, tables in enumerate(self.tables_of):
            if not tables:
                total += int(self.problem.costs.recode[field].min()) * FINENESS
        return total, choice

    def move(self, choice: Sequence[tuple[int, ...]], length: float) -> bool:
        """A step along the subgradient; False when the tables agree and nothing is left to gain."""
        gradients: dict[tuple[int, int], NDArray[np.float64]] = {}
        for field, tables in enumerate(self.tables_of):
            chosen = np.zeros((len(tables), self.problem.choices[field]))
            for i, table in enumerate(tables):
                chosen[i, choice[table][self.problem.keys.keys[table].fields.index(field)]] = 1
            for i, table in enumerate(tables):
                gradients[table, field] = chosen[i] - chosen.mean(axis=0)
        norm = sum(float((g * g).sum()) for g in gradients.values())
        if norm == 0:
            return False
        for field, tables in enumerate(self.tables_of):
            for table in tables[:-1]:
                step = np.rint(length / norm * gradients[table, field]).astype(np.int64)
                self.value[table, field] = self.value[table, field] + step
                self.value[tables[-1], field] = self.value[tables[-1], field] - step
        return True
