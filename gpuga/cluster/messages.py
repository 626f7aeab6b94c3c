"""What goes between client and islands: packed arrays with a manifest in JSON, as in checkpoints; nothing is pickled.

The table is sent once to every worker. What islands tell each other are bits of patterns, cells and signs of circuits,
the point of the relaxation, and a bound.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpuga.evolution.checkpoint import Arrays, packed, part, read
from gpuga.evolution.run import State
from gpuga.table.table import Ints, Mask
from gpuga.table.witnesses import Witnesses

FINE = 65535
"""The point of the relaxation is sent in so many steps between 0 and 1."""

MOST_CIRCUITS = 256
"""Circuits in one letter, the latest ones."""


def squeezed(state: State) -> NDArray[np.uint8]:
    """The state of a run as one array; stores of certificates are mostly empty."""
    return np.frombuffer(zlib.compress(packed(*state), 1), np.uint8)


def unsqueezed(content: NDArray[np.uint8]) -> State:
    """The same back."""
    return read(zlib.decompress(content.tobytes()))


def digest(content: bytes) -> str:
    """The name of a message by its content."""
    return hashlib.sha256(content).hexdigest()


def bits(masks: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """bool[k, n] in bytes."""
    return np.packbits(masks, axis=1)


def masks(packed_bits: NDArray[np.uint8], cells: int) -> NDArray[np.bool_]:
    """The same back."""
    return np.unpackbits(packed_bits, axis=1)[:, :cells].astype(bool)


@dataclass(frozen=True, eq=False)
class ProverMessage:
    """What a prover tells all islands: a bound, the point of its relaxation float64[n], and columns to try first."""

    lower: int
    point: NDArray[np.float64]
    core: Mask

    def arrays(self) -> Arrays:
        """As arrays; the point in whole steps, so that everybody who gets it computes the same prices."""
        steps = np.round(np.clip(self.point, 0.0, 1.0) * FINE).astype(np.uint16)
        return {"lower": np.array([self.lower]), "point": steps, "core": np.packbits(self.core)}

    @classmethod
    def of(cls, arrays: Arrays) -> ProverMessage:
        """From arrays."""
        core = np.unpackbits(arrays["core"])[: len(arrays["point"])].astype(bool)
        return cls(int(arrays["lower"][0]), arrays["point"] / FINE, core)


@dataclass(frozen=True, eq=False)
class Letter:
    """What an island tells: its best patterns (bool[k, n], the cheapest first), circuits, and what its prover knows."""

    patterns: NDArray[np.bool_]
    circuits: Arrays = field(default_factory=dict)
    prices: ProverMessage | None = None

    def arrays(self) -> Arrays:
        """As arrays without any value."""
        told = {} if self.prices is None else {f"prices_{k}": v for k, v in self.prices.arrays().items()}
        circuits = {f"circuits_{name}": array for name, array in self.circuits.items()}
        return {"patterns": bits(self.patterns), **circuits, **told}

    @classmethod
    def of(cls, arrays: Arrays, cells: int) -> Letter:
        """From arrays."""
        told, circuits = part("prices", arrays), part("circuits", arrays)
        return cls(masks(arrays["patterns"], cells), circuits, ProverMessage.of(told) if told else None)


def plain_circuits(memory: Arrays) -> Arrays:
    """Of the circuits in a pool, the latest that move every cell by one unit: cells (int32) and signs (int8).

    Amounts of others may be sums of what single cells can move, and are not told.
    """
    if not memory:
        return {}
    start, cell, amount = memory["start"], memory["cell"], memory["amount"]
    of = np.repeat(np.arange(len(start) - 1), np.diff(start))
    least = np.full(len(start) - 1, np.iinfo(np.int64).max)
    np.minimum.at(least, of, np.abs(amount))
    uneven = np.zeros(len(start) - 1, bool)
    uneven[of[np.abs(amount) != least[of]]] = True
    kept = np.flatnonzero(~uneven)[-MOST_CIRCUITS:]
    entries = np.isin(of, kept)
    begins = np.concatenate([[0], np.cumsum(np.diff(start)[kept])]).astype(np.int64)
    return {"start": begins, "cell": cell[entries].astype(np.int32), "sign": np.sign(amount[entries]).astype(np.int8)}


def new_circuits(told: Arrays, memory: Arrays) -> Arrays:
    """Those of the circuits that were told that a pool does not hold already, as a pool holds them."""
    if not told:
        return {}
    known = set(_each(memory["start"], memory["cell"], np.sign(memory["amount"])))
    fresh = [z for z, one in enumerate(_each(told["start"], told["cell"], told["sign"])) if one not in known]
    if not fresh:
        return {}
    count, amount = len(told["start"]) - 1, told["sign"].astype(np.int64)
    new = Witnesses(told["start"], told["cell"], amount, np.ones(count, np.int64)).subset(np.array(fresh))
    return {"start": new.start, "cell": new.cell, "amount": new.amount}


def _each(start: Ints, cell: NDArray[Any], sign: NDArray[Any]) -> list[frozenset[tuple[int, int]]]:
    """Every circuit as a set, whichever way round it is written."""
    pairs = [*zip(cell.tolist(), sign.tolist(), strict=True)]
    each = [pairs[a:b] for a, b in zip(start[:-1].tolist(), start[1:].tolist(), strict=True)]
    return [frozenset((c, s * min(one)[1]) for c, s in one) for one in each]
