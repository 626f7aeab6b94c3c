"""The parts of the general logic one by one: boxes, sums, certificates at work, ruins, orders and prices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numba import njit

from gpuga.kernels import INFINITE
from gpuga.kernels.general import GeneralCpu, of_thread, states_of
from gpuga.kernels.layout import AxisGrid, Bools, pack
from gpuga.kernels.logic.box_decode import certified, decode, load, set_prices, sort_order
from gpuga.kernels.logic.box_sums import cheapest_box, list_axes
from gpuga.kernels.logic.certificates import certify, here, take_back, toggle
from gpuga.kernels.logic.combinations import divided, scaled_fits
from gpuga.kernels.logic.general_records import BARRED, FORCED, FREE, LENGTH, TOUCHED, GeneralTable, State
from gpuga.kernels.logic.ruin import ruin
from gpuga.kernels.numpy_backend import cheapest_box as box_by_trying
from gpuga.safety.box_options import options_of

from .test_boxes import SHAPES
from .test_general import CUBE, children, table


@njit
def _begin(record, states, prices, first, second, start, genes):  # type: ignore[no-untyped-def]
    state = of_thread(states, 0)
    set_prices(record, state, prices, first, second, np.uint64(7))
    load(record, state, start, genes, 0)
    return state


@njit
def _cheapest(record, state, own, move, need):  # type: ignore[no-untyped-def]
    limit = np.int64(INFINITE)
    return (
        cheapest_box(record, state, own, move, need, limit) if list_axes(record, state, own, move, 1, limit) else limit
    )


@njit
def _fits(record, place, amount, lead, need):  # type: ignore[no-untyped-def]
    return scaled_fits(record, place, amount, lead, need)


@njit
def _divided(state):  # type: ignore[no-untyped-def]
    divided(state)


@njit
def _certified_and_taken_back(record, state, requirement, place):  # type: ignore[no-untyped-def]
    mark = here(state)
    found = certify(record, state, requirement, np.int64(-1))
    toggle(record, state, place)
    changed = state.hidden.copy()
    take_back(record, state, mark)
    return found, changed


@njit
def _ruined(record, state, seed, strength):  # type: ignore[no-untyped-def]
    return ruin(record, state, seed, strength)


@njit
def _decoded(record, state):  # type: ignore[no-untyped-def]
    return decode(record, state, np.int64(1), np.uint64(3)) and certified(record, state)


@njit
def _sorted(state, count):  # type: ignore[no-untyped-def]
    sort_order(state, count)


def at_work(engine: GeneralCpu, parents: tuple[Bools, Bools] | None = None) -> tuple[GeneralTable, State]:
    """A pattern at work that suppresses only what is forced."""
    first, second = parents or (np.zeros(engine.cells, bool), np.zeros(engine.cells, bool))
    nothing, *rows = pack(np.stack([np.zeros(engine.cells, bool), first, second])).bits[:, 0]
    state = _begin(engine.table, states_of(engine, 1), engine.weight, *rows, nothing, engine.no_genes(1))
    return engine.table, state


@pytest.mark.parametrize("shape", [s for s in SHAPES if s.startswith(("a plane", "three"))])
def test_the_cheapest_box_of_a_cell_costs_what_the_best_of_all_boxes_costs(shape: str) -> None:
    axes = SHAPES[shape]
    grid = AxisGrid.of([options_of(axis) for axis in axes])
    found = 0
    for seed in range(6):
        engine = table(axes, seed, primaries=2)
        record, state = at_work(engine)
        for t in range(len(engine.requirements)):
            own, move, need = (
                int(part[t])
                for part in (engine.requirements.cell, engine.requirements.direction, engine.requirements.need)
            )
            best = box_by_trying(grid, (record.up, record.down), state.cost, own, move, need)
            price = sum(int(state.cost[cell]) for cell in best if cell != own) if best else INFINITE
            assert _cheapest(record, state, own, move, need) == price
            found += bool(best)
    assert found > 3


def test_a_certificate_fits_where_its_amounts_times_the_need_fit_exactly() -> None:
    rng = np.random.default_rng(4)
    engine = table(CUBE, 1)
    answers = set()
    for _ in range(2000):
        place, need, lead = int(rng.integers(engine.cells)), int(rng.integers(1, 40)), int(rng.integers(1, 9))
        amount = int(rng.integers(1, 9)) * int(rng.choice([-1, 1]))
        room = int(engine.table.up[place] if amount > 0 else engine.table.down[place])
        fits = room >= INFINITE or Fraction(need * abs(amount), lead) <= room
        assert _fits(engine.table, place, amount, lead, need) == fits
        answers.add((fits, amount > 0))
    assert len(answers) == 3  # every cell has room to rise


def test_sums_are_divided_by_their_greatest_common_divisor() -> None:
    _, state = at_work(table(CUBE, 1))
    for amounts in ([6, -4, 10], [9, -3], [5, 7], [-8]):
        for x, amount in enumerate(amounts):
            state.touched[x], state.moved[x] = x, amount
        state.note[TOUCHED] = len(amounts)
        _divided(state)
        divisor = np.gcd.reduce(amounts)
        assert state.moved[: len(amounts)].tolist() == [amount // divisor for amount in amounts]


def test_what_is_taken_back_leaves_no_trace() -> None:
    engine = table(CUBE, 2)
    record, state = at_work(engine)
    free = int(np.flatnonzero(record.kind == FREE)[0])
    state.note[LENGTH] = 0
    kept = ("hidden", "cost", "proof", "head", "note")
    before = {name: getattr(state, name).copy() for name in kept}
    found, changed = _certified_and_taken_back(record, state, 0, free)
    assert found
    assert (changed != before["hidden"]).sum() > 4
    state.note[LENGTH] = 0  # the box at hand is nobody's
    for name in kept:
        assert np.array_equal(getattr(state, name), before[name]), name


def test_ruins_publish_secondary_cells_only_and_no_more_than_they_may() -> None:
    engine = table(CUBE, 3)
    patterns, genes, done = children(engine, 4)
    assert done.all()
    published = 0
    for p in range(4):
        nothing, row = pack(np.stack([np.zeros(engine.cells, bool), patterns[p]])).bits[:, 0]
        state = _begin(engine.table, states_of(engine, 1), engine.weight, nothing, nothing, row, _only(genes, p))
        count = _ruined(engine.table, state, np.uint64(p), 3)
        gone = patterns[p] & (state.hidden == 0)
        assert gone.sum() == count <= 3
        assert (engine.table.kind[gone] == FREE).all()
        assert not (state.hidden.astype(bool) & ~patterns[p]).any()
        published += count
    assert published > 4


def _only(genes, p):  # type: ignore[no-untyped-def]
    """The genes of one individual of many."""
    return type(genes)(*(np.ascontiguousarray(part[p : p + 1]) for part in genes))


def test_orders_are_sorted_by_key_and_then_by_number() -> None:
    _, state = at_work(table(CUBE, 1, primaries=20))
    count, rng = len(state.order), np.random.default_rng(5)
    state.key[:] = rng.integers(0, 6, count)
    state.order[:] = rng.permutation(count)
    wanted = state.order[np.lexsort((state.order, state.key))].tolist()
    _sorted(state, count)
    assert state.order.tolist() == wanted


def test_cells_of_parents_are_cheap_and_barred_cells_have_no_price() -> None:
    engine = table(CUBE, 6)
    rng = np.random.default_rng(6)
    first, second = rng.random(engine.cells) < 0.5, rng.random(engine.cells) < 0.5
    record, state = at_work(engine, (first, second))
    ratio = state.price / np.maximum(engine.weight, 1)
    usable = record.kind != BARRED
    assert (state.price[~usable] == -1).all()
    assert usable.sum() < engine.cells
    both, one, none = (usable & which for which in (first & second, first ^ second, ~first & ~second))
    assert ratio[both].max() < ratio[one].min() < ratio[one].max() < ratio[none].min()
    assert ratio[none].max() <= 1.31 * ratio[none].min()


def test_what_is_decoded_is_certified() -> None:
    for seed in range(5):
        engine = table(CUBE, seed)
        record, state = at_work(engine)
        assert _decoded(record, state)
        assert (state.proof >= 0).all()
        assert state.hidden[record.kind == FORCED].all()
        assert not state.hidden[record.kind == BARRED].any()
