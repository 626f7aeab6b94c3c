"""Many small models as one block-diagonal model: one launch, or one round trip to a server, for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from .solver import Answer, Model, SolveStatus

MOST_ENTRIES = 20_000_000
"""A batch has at most so many matrix entries: with points and duals they take about a gigabyte of device memory."""


@runtime_checkable
class BatchSolver(Protocol):
    """A solver for which many models at once are cheaper than one after the other."""

    def solve_all(self, models: Sequence[Model], seconds: float = float("inf")) -> list[Answer]:
        """One answer per model, proposals all of them: what is not answered has failed, and nobody else is asked."""


def slices(models: Sequence[Model], most: int = MOST_ENTRIES) -> Iterator[Sequence[Model]]:
    """The models in batches of bounded size, at least one in each."""
    begin, entries = 0, 0
    for at, model in enumerate(models):
        if at > begin and entries + len(model.value) > most:
            yield models[begin:at]
            begin, entries = at, 0
        entries += len(model.value)
    if begin < len(models):
        yield models[begin:]


def block_diagonal(models: Sequence[Model]) -> Model:
    """One model whose blocks are the given ones; all must have the same sense."""
    if len({model.maximise for model in models}) != 1:
        raise ValueError("a batch needs at least one model, and all of the same sense")
    rows = np.cumsum([0, *(model.rows for model in models)])
    entries = np.cumsum([0, *(len(model.value) for model in models)])
    shifted = [model.start[:-1] + before for model, before in zip(models, entries, strict=False)]
    return Model(
        cost=np.concatenate([model.cost for model in models]),
        lower=np.concatenate([model.lower for model in models]),
        upper=np.concatenate([model.upper for model in models]),
        row_lower=np.concatenate([model.row_lower for model in models]),
        row_upper=np.concatenate([model.row_upper for model in models]),
        start=np.concatenate([*shifted, entries[-1:]]).astype(np.int32),
        index=np.concatenate([model.index + before for model, before in zip(models, rows, strict=False)]).astype(
            np.int32
        ),
        value=np.concatenate([model.value for model in models]),
        maximise=models[0].maximise,
    )


def split(models: Sequence[Model], answer: Answer) -> list[Answer]:
    """The blocks' own answers; a batch that is not optimal as a whole says nothing about any block."""
    if answer.status is not SolveStatus.OPTIMAL:
        return [Answer(SolveStatus.FAILED, float("nan"), np.zeros(0), np.zeros(0)) for _ in models]
    answers, column, row = [], 0, 0
    for model in models:
        x = answer.x[column : column + model.columns]
        dual = answer.row_dual[row : row + model.rows]
        answers.append(Answer(SolveStatus.OPTIMAL, float(model.cost @ x), x, dual))
        column, row = column + model.columns, row + model.rows
    return answers
