"""Every method ends in time with a safe pattern, or says that there was no time for a first one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gpuga
from gpuga import anytime
from gpuga.anytime import in_time, make_safe
from gpuga.bounds.search import master_of
from gpuga.circuits import path_cover
from gpuga.circuits.cover import Cover
from gpuga.circuits.joint_change import JointChange
from gpuga.circuits.path_cover import by_paths, clean_up
from gpuga.circuits.paths import plain
from gpuga.context import GRACE, Clock, Context
from gpuga.errors import Infeasible, InputError, OutOfTime
from gpuga.evolution import ordering_ga as ordering_ga_module
from gpuga.evolution.deap_toolbox import Bits
from gpuga.evolution.engine import begin, evolve, new_toolbox
from gpuga.evolution.ordering_ga import ordering_ga
from gpuga.evolution.orderings import OrderingVariant, evaluator_of
from gpuga.evolution.stopping import Stop
from gpuga.methods import METHODS, find_method
from gpuga.parameters import OrderingGaParameters, StopParameters
from gpuga.problem.general import GeneralProblem, requirements_of
from gpuga.problem.two_way import two_way_problem
from gpuga.protection import Found
from gpuga.safety import boxes
from gpuga.safety.audit import judge
from gpuga.safety.evidence import Evidence
from gpuga.safety.proofs import cheap_proofs
from gpuga.safety.requirements import Requirements
from gpuga.table import Table
from gpuga.table.generate import smith3d
from gpuga.table.groups import with_groups
from gpuga.table.table import Levels
from gpuga.table.two_way import two_way_table
from tests.support.linked_tables import linked_table
from tests.support.small_tables import random_table

DATA = Path(__file__).parent / "data"

LITTLE_TO_DO = ("no_level", "no_level_no_total", "lone_equations", "crossed_pairs", "three_cells", "no_equation")


def takes(method: str, table: Table) -> bool:
    """Whether a method takes a table: some are for two-way tables alone."""
    return two_way_table(table) is not None or "two-way tables:" not in find_method(method).summary


class Countdown(Clock):
    """A clock that shows no time but runs out after so many looks at it."""

    def __init__(self, looks: int) -> None:
        super().__init__(1000.0)
        self.looks = looks

    def spent(self) -> float:
        self.looks -= 1
        return 0.0 if self.looks >= 0 else 2000.0

    def part(self, share: float) -> Clock:
        return self

    def keeping(self, seconds: float) -> Clock:
        return self


def some_tables() -> list[Table]:
    rng = np.random.default_rng(11)
    return [
        random_table(rng, (5, 5), sensitive=0.2),
        random_table(rng, (3, 3, 2), sensitive=0.2),
        linked_table(rng, sensitive=0.2),
    ]


@pytest.mark.parametrize("looks", [0, 3, 30])
@pytest.mark.parametrize("method", [m.name for m in METHODS])
def test_a_method_whose_time_ends_leaves_a_safe_pattern_or_none(method: str, looks: int) -> None:
    for table in some_tables():
        try:
            found = gpuga.protect(table, method, clock=Countdown(looks))
        except (OutOfTime, Infeasible):
            continue
        except InputError:
            assert not takes(method, table)
            continue
        assert found.audit.safe
        assert gpuga.audit(table, found.suppressed, intervals=False).safe


def never(table: Table, context: Context) -> Found:
    """A method that does not come to an end in time."""
    raise OutOfTime("no time")


def everything(table: Table, context: Context) -> Found:
    """A method that finds the dearest pattern."""
    return Found(table.suppressible.copy())


def test_the_first_pattern_stands_in_for_a_method_that_does_not_finish() -> None:
    for table in some_tables():
        answer = in_time(never, table, Context(clock=Clock(1000.0)))
        assert answer.audit.safe
        assert answer.found.details["pattern"] == "first"


def test_an_interrupted_method_without_a_pattern_is_replaced_by_a_first_one() -> None:
    clock = Clock()
    clock.interrupt()
    for table in some_tables():
        assert in_time(never, table, Context(clock=clock)).audit.safe


def test_without_a_limit_no_first_pattern_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(table: Table, context: Context) -> Found:
        raise AssertionError("nobody asked for it")

    monkeypatch.setattr(anytime, "first_pattern", refuse)
    table = some_tables()[0]
    assert in_time(everything, table, Context()).found.details == {}


def test_a_pattern_that_came_late_counts_only_if_it_is_cheaper() -> None:
    table = some_tables()[0]
    clock = Clock(1000.0)

    def late(table: Table, context: Context) -> Found:
        clock.interrupt()
        return everything(table, context)

    assert in_time(late, table, Context(clock=clock)).found.details["pattern"] == "first"
    punctual = in_time(everything, table, Context(clock=Clock(1000.0)))
    assert punctual.suppressed.sum() == table.suppressible.sum()


def test_a_method_gets_less_time_than_there_is() -> None:
    seen: list[Clock] = []

    def looks(table: Table, context: Context) -> Found:
        seen.append(context.clock)
        return everything(table, context)

    whole = Clock(1000.0)
    in_time(looks, some_tables()[0], Context(clock=whole))
    assert seen[0].left() < whole.left() - anytime.RESERVE * 900
    whole.interrupt()
    assert seen[0].expired()
    assert seen[0].interrupted


def test_a_finishing_clock_minds_the_limit_and_no_interrupt() -> None:
    clock = Clock(50.0)
    clock.interrupt()
    assert clock.expired()
    assert 49 < clock.finishing().left() <= 50
    assert Countdown(0).finishing().left() <= GRACE
    assert Clock().finishing().left() == float("inf")


def test_what_is_not_shown_in_time_is_not_called_safe() -> None:
    rng = np.random.default_rng(2)
    table = random_table(rng, (4, 4, 4), sensitive=0.3)
    with pytest.raises(OutOfTime):
        make_safe(table, table.forced, Context(clock=Countdown(0)))


def test_exactly_determined_secondaries_are_published_and_nothing_else_changes() -> None:
    table = gpuga.read_table(DATA / "determined_totals.jj")
    found = gpuga.protect(table, "marginal", protect_secondary=True)
    assert found.audit.safe
    assert judge(table, found.suppressed, Context(protect_secondary=True).model).safe


@pytest.mark.parametrize(
    "name", ["no_level", "no_level_no_total", "lone_equations", "crossed_pairs", "three_cells", "no_equation"]
)
@pytest.mark.parametrize("method", [m.name for m in METHODS])
def test_tables_with_next_to_nothing_to_do_are_no_fault(name: str, method: str) -> None:
    table = gpuga.read_table(DATA / f"{name}.jj")
    for protect_secondary in (False, True):
        try:
            found = gpuga.protect(table, method, protect_secondary=protect_secondary, options=_short(method))
        except InputError:
            assert not takes(method, table)
            return
        except Infeasible:
            continue  # the audit with everything suppressed has agreed
        assert found.audit.safe


def _short(method: str) -> dict[str, int]:
    return {"generations": 2} if any(o.name == "generations" for o in find_method(method).options) else {}


@pytest.mark.parametrize("table", some_tables(), ids=["two-way", "three-way", "linked"])
def test_orderings_keep_time_back_for_completing_the_best(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Clock] = []
    of = Stop.of

    def watched(context: Context, parameters: StopParameters) -> Stop:
        seen.append(context.clock)
        return of(context, replace(parameters, generations=1, patience=1))

    monkeypatch.setattr(Stop, "of", watched)
    clock = Clock(1000.0)
    ordering_ga(table, Context(clock=clock), OrderingGaParameters(variant="one-p"))
    assert seen[0].left() < 0.96 * clock.left()


class Looked(Clock):
    """A clock without an end that counts the looks at it."""

    def __init__(self) -> None:
        super().__init__(1000.0)
        self.seen = 0

    def left(self) -> float:
        self.seen += 1
        return 500.0


def some_plane() -> Table:
    return random_table(np.random.default_rng(5), (9, 9), sensitive=0.25)


def test_a_clean_up_of_a_plane_ends_with_the_time_and_leaves_a_safe_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_cover, "PLACES_AT_ONCE", 1)
    table = some_plane()
    problem = two_way_problem(table, Context())
    over = replace(problem, clock=Countdown(1))
    cleaned, partly = clean_up(problem, problem.candidate), clean_up(over, problem.candidate)
    assert cleaned.sum() < partly.sum()
    assert judge(table, problem.pattern(partly), Context().model).safe


def test_paths_mind_the_clock_of_their_problem() -> None:
    problem = two_way_problem(some_plane(), Context(clock=Countdown(0)))
    with pytest.raises(OutOfTime):
        by_paths(problem, problem.costs(), plain())
    assert by_paths(problem, problem.costs(), plain(), clock=Clock()).any()


@pytest.mark.parametrize("table", some_tables(), ids=["two-way", "three-way", "linked"])
def test_a_first_population_of_orderings_is_as_large_as_the_time_allows(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    clock = Clock(1000.0)

    def costs(orderings: Sequence[object], clock_: Clock) -> list[int]:
        asked.append(len(orderings))
        if sum(asked) >= 5:
            clock.interrupt()
        return [1] * len(orderings)

    evaluator = evaluator_of(table, OrderingVariant("one-p"), Context())
    monkeypatch.setattr(evaluator, "costs", costs)
    monkeypatch.setattr(ordering_ga_module, "evaluator_of", lambda *_: evaluator)
    found = ordering_ga(table, Context(clock=clock), OrderingGaParameters(variant="one-p"))
    assert asked == [1, 4]
    assert found.evaluations == 5


def test_a_generation_that_the_end_of_the_time_catches_is_left_out() -> None:
    def late(population: Sequence[object]) -> list[object]:
        raise OutOfTime("no time")

    one = Bits([0])
    one.fitness.values = (7,)
    toolbox = new_toolbox()
    toolbox.register("vary", late)
    run = begin([one], toolbox)
    stop = Stop(Context(), None, None)
    assert evolve(run, toolbox, stop, lambda _: None, lambda: None).best.fitness.values == (7,)
    assert stop.why == "seconds"


def test_boxes_are_given_until_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "BOXES_AT_ONCE", 1)
    table = some_tables()[1]
    grid, requirements = boxes.box_grid(table), requirements_of(table, False)
    assert grid is not None
    search = boxes.BoxSearch(grid, table.forced)
    covered, witnesses = search.protect(requirements, Countdown(2).expired)
    assert not covered[2:].any()
    assert len(witnesses) == covered.sum()
    assert search.protect(requirements)[0][2:].any()


def test_rows_of_a_relaxation_are_collected_until_the_time_is_up() -> None:
    table = some_tables()[2]
    clock = Looked()
    master_of(GeneralProblem.of(table, clock=clock))
    asked = np.isin(table.lines.cell, table.sensitive)
    assert clock.seen == len(np.unique(table.lines.line_of_entry[asked]))
    assert master_of(GeneralProblem.of(table, clock=Countdown(0))).bound == 0


def test_sliding_levels_are_laid_out_in_time() -> None:
    table = some_tables()[2]
    levels = Levels(*(np.zeros(len(table), np.int64),) * 2, np.where(table.primary, 1, 0).astype(np.int64))
    sliding = replace(table, levels=levels)
    assert len(requirements_of(sliding, False))
    with pytest.raises(OutOfTime):
        requirements_of(sliding, False, Countdown(0))


def test_nothing_is_begun_when_the_time_ended_before_a_first_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anytime, "first_pattern", never)
    clock = Countdown(1)

    def refuse(table: Table, context: Context) -> Found:
        raise AssertionError("there is no time for it")

    with pytest.raises(OutOfTime):
        in_time(refuse, some_tables()[1], Context(clock=clock))


def test_a_first_pattern_has_the_time_of_grace_as_well() -> None:
    clock = Clock(0.0)
    assert clock.expired()
    assert 0 < clock.graced().left() <= GRACE
    assert 0 < clock.graced().part(0.5).left() <= GRACE / 2
    assert Clock().graced().left() == float("inf")
    clock.interrupt()
    assert clock.graced().expired()


def test_changes_for_groups_take_no_longer_than_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def find(self: JointChange, requirements: Requirements, suppressed: object, seconds: float = float("inf")) -> None:
        asked.append(seconds)

    monkeypatch.setattr(JointChange, "find", find)
    table = some_tables()[2]
    cover = Cover(table, requirements_of(table, False), Context(clock=Looked()))
    left = list(range(len(cover.requirements)))
    cover._in_groups(left)
    cover._alone(0)
    assert asked
    assert max(asked) <= 500.0


def test_dimensions_are_searched_for_until_the_time_is_up() -> None:
    labelled = random_table(np.random.default_rng(3), (4, 4, 3), sensitive=0.2)
    bare = replace(labelled, grid=None)
    with pytest.raises(OutOfTime):
        boxes.box_grid(bare, Countdown(0).expired)
    assert boxes.box_grid(bare) is not None  # nothing was remembered
    again = replace(labelled, grid=None)
    found = gpuga.protect(again, "hypercube", clock=Clock(1000.0))
    assert found.audit.safe


def test_cheap_proofs_and_initial_exposure_end_with_the_time() -> None:
    table = some_tables()[1]
    everything = table.suppressible.copy()
    evidence = Evidence(table, everything, Context().model)
    before = evidence.unsettled(evidence.rule.cells)
    cheap_proofs(table, everything, evidence, table.sensitive, Countdown(0).expired)
    assert evidence.unsettled(evidence.rule.cells) == before
    cheap_proofs(table, everything, evidence, table.sensitive)
    assert len(evidence.unsettled(evidence.rule.cells)) < len(before)
    late = gpuga.exposure(table, context=Context(clock=Countdown(0)))
    assert set(gpuga.exposure(table).exposed) <= set(late.exposed)


@pytest.mark.parametrize("seconds", [None, 20.0])
def test_a_safe_pattern_to_start_from_is_never_lost(seconds: float | None) -> None:
    """Groups leave evolution without circuits of its own: it must learn them from the pattern itself."""
    plain_table = smith3d((7, 6, 5), 0.15, 0.1, 3)
    ones = np.ones(1, np.int64)
    table = with_groups(plain_table, [plain_table.sensitive[:2].tolist()], Levels(ones, ones, ones))
    best = gpuga.protect(table, "incremental", seed=1, options={"variant": "clean-up"})
    short = {"generations": 1, "population": 4, "without": ("prover",)}
    found = gpuga.protect(table, seed=1, start=[best.suppressed], seconds=seconds, options=short)
    assert found.audit.safe
    assert found.cost <= best.cost
