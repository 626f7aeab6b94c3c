"""The walk from a table to a pattern with its proof, once, for every method."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from gpuga import compiling
from gpuga.anytime import in_time
from gpuga.backends import chosen_for, device_used
from gpuga.context import Clock, Context, Progress, Silent
from gpuga.declared import Parameters
from gpuga.errors import InputError, printable
from gpuga.further import FurtherPatterns
from gpuga.kernels.backend import kind_of
from gpuga.lp.choice import SolverUnavailable, SolverWarning, answered, choose
from gpuga.lp.solver import Solver
from gpuga.memory import check_population
from gpuga.methods import DEFAULT, Method, Run, find_method
from gpuga.parameters import MOST_ON_FRONT, SolverParameters
from gpuga.problem.two_way import required_two_way
from gpuga.protection import Bound
from gpuga.result import Protection
from gpuga.safety.audit import Audit, audit
from gpuga.table.attacker_model import Asked, AttackerModel, SafetyOptions, as_judged
from gpuga.table.likeness import Likeness
from gpuga.table.table import Mask, Table
from gpuga.table.two_way import two_way_table
from gpuga.table.wishes import Wish, wished, with_kept
from gpuga.table.witnesses import Witnesses
from gpuga.unmet_wishes import naming_wishes

BOUND_SECONDS, BOUND_SHARE = 10.0, 0.2
"""Without a time limit, how long the lower bound of a finished pattern may be worked on: so long, or this share of the
time that the pattern took."""

LEAST_BOUND_SECONDS = 0.5
"""With less time than this left, no lower bound is begun."""


class RunOptions(SafetyOptions, total=False):
    """What a user may say of a run, whatever its method; meanings and defaults stand in `Settings`."""

    backend: str
    device: int | None
    lp: str
    seed: int
    seconds: float | None
    operators: Mapping[str, Callable[..., Any]]
    on_generation: Callable[[Any], None] | None
    progress: Progress | None
    clock: Clock | None
    like: Mask | Likeness | None
    keep: Sequence[Wish]
    keep_totals: int | None
    walk: Callable[[Run], Run] | None


@dataclass(frozen=True)
class Settings(Asked):
    """What is asked of a run, besides what safety means: back end, LP solver, random seed, time limit in seconds.

    `device` is the number of a CUDA device and asks for the back end cuda. The back end auto takes a device where one
    works and population times cells is at least `gpuga.kernels.backend.LEAST_WORK`.
    Of an evolutionary method, `operators` replaces operators of its DEAP toolbox by name, and `on_generation` is called
    with the evolution after every generation. `progress` is told how far the work is; a `clock` that is running already
    takes the place of `seconds`. `like` is an earlier pattern that this one should resemble (`Likeness` says how much a
    difference costs); cells that `keep` names by their codes, such as `region=North`, and all totals down to the level
    `keep_totals` (0: the grand total) must be published. `walk` makes of the method what is done with the table: by
    default the method is applied to the whole of it at once.
    """

    backend: str = "auto"
    device: int | None = None
    lp: str = "auto"
    seed: int = 0
    seconds: float | None = None
    operators: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    on_generation: Callable[[Any], None] | None = None
    progress: Progress | None = None
    clock: Clock | None = None
    like: Mask | Likeness | None = None
    keep: Sequence[Wish] = ()
    keep_totals: int | None = None
    walk: Callable[[Run], Run] | None = None

    def likeness(self, table: Table) -> Likeness | None:
        """The earlier pattern with the price of differences, checked."""
        if self.like is None:
            return None
        likeness = self.like if isinstance(self.like, Likeness) else Likeness(np.asarray(self.like, bool))
        likeness.check(table)
        return likeness


def protect(
    table: Table,
    method: str = DEFAULT,
    *,
    proof: bool = False,
    start: Sequence[Mask] = (),
    options: Mapping[str, Any] | None = None,
    parameters: Parameters | None = None,
    **run: Unpack[RunOptions],
) -> Protection:
    """Find a safe pattern for a table by a method, audit it exactly, and say how good it is.

    Whatever the method claims, all sensitive cells are audited in exact arithmetic, and what falls short is repaired:
    the result is safe, or there is an exception (`gpuga.errors`): `Infeasible` where no safe pattern exists,
    `OutOfTime` where the time ended before the first one.

    >>> protection = gpuga.protect(table, seed=1, seconds=60)   # doctest: +SKIP
    >>> protection.audit.safe, protection.cost, protection.gap  # doctest: +SKIP

    What is protected, and how:

    - `table`: from `gpuga.read_table`, `table_from_frame` or `table_from_array`; its sensitive cells have levels.
    - `method`: one of `gpuga methods`; the default evolves patterns, with an exact search beside it.
    - `options`: the method's own parameters by name, such as `{"generations": 50}`; docs/methods.md lists them.
    - `parameters`: the same as an object of the method's class in `gpuga.parameters`, instead of `options`.
    - `start`: patterns (bool[n]) to begin with; what is safe in them is never lost.
    - `proof`: keep a witness for every protection requirement, for `Protection.write_proof`.

    How long, and with what:

    - `seconds`: time limit of the whole call; None: until the method ends by itself.
    - `seed`: of all random choices. Same input, seed, options and back end, same pattern; with `seconds` a run may end
      at another generation, so bound it by `{"generations": ...}` to repeat it.
    - `backend`: what evaluates patterns: "auto", "cuda", "cpu" or "numpy"; cuda and cpu give the same patterns.
    - `device`: the number of a CUDA device; asks for the back end cuda.
    - `lp`: what solves linear programs: "auto", "highs" or "cuopt". Their answers are checked exactly.

    What safe means:

    - `strict`: levels must be exceeded, not just reached.
    - `protect_secondary`: no secondary suppression may be exactly computable either.
    - `whole`: the attacker knows that values are whole numbers: "yes", "no", or "auto" for tables of counts.
    - `level_zero`: a sensitive cell without any level must not be exactly known ("exact"), or needs nothing ("ignore").

    What is wished for:

    - `keep`: cells that must be published, by codes such as "region=North" or "region=North,activity=*".
    - `keep_totals`: all totals down to this level must be published; 0 is the grand total.
    - `like`: an earlier pattern (bool[n], or `gpuga.Likeness` with a price) that this one should resemble.

    Watching and changing a run:

    - `on_generation`: called with the evolution after every generation of an evolutionary method.
    - `operators`: operators of the method's DEAP toolbox by name, such as `{"select": mine}`.
    - `progress`: told of stages and steps (`gpuga.context.Progress`); it is given no cell value.
    - `clock`: a `gpuga.context.Clock` that is running already, in the place of `seconds`.
    - `walk`: makes of the method what is done with the table, as where linked tables are protected in turn.
    """
    asked, chosen = Settings(**run), find_method(method)
    if asked.progress is None:
        compiling.say_first()  # whoever watches the progress is told by it
    parameters, wanted = chosen_parameters(chosen, options or {}, parameters, start)
    _check(table, chosen, parameters, asked)
    likeness, kept = asked.likeness(table), wished(table, asked.keep, asked.keep_totals)
    judged, model = as_judged(with_kept(table, kept), asked)
    for pattern in start:
        judged.check_pattern(pattern)
    solver = resolved_solver(asked.lp, wanted)
    if likeness is not None and chosen.starts:
        start = (*start, likeness.start(judged))
    backend = chosen_for(asked.backend, asked.device, parameters.values().get("population", 1) * len(table))
    context = _context(asked, backend.name, solver, model)
    context = replace(context, start=tuple(start), likeness=likeness, further=_further(parameters), proving=proof)
    begun = time.monotonic()
    priced = judged if likeness is None else likeness.priced(judged)
    method_run = chosen.load(parameters)
    with naming_wishes(table, asked, kept, context):
        answer = in_time(method_run if asked.walk is None else asked.walk(method_run), priced, context)
    found, suppressed, verdict = answer.found, answer.suppressed, answer.audit
    if proof:
        verdict = _with_proof(table, suppressed, asked.level_zero, context, found.proof, verdict)
    beside = FurtherPatterns(table, judged, suppressed, replace(context, clock=context.clock.finishing()))
    return Protection(
        table=table,
        suppressed=suppressed,
        audit=verdict,
        method=method,
        backend=kind_of(backend.name),
        backend_why=backend.why,
        device=device_used(backend.name),
        lp=_who_solved(solver),
        seed=asked.seed,
        repaired=answer.repaired,
        found=found,
        # what is proven of priced differences says nothing of the cost
        bound=(found.bound if likeness is None else None) or _bound(judged, context),
        model=model,
        level_zero=asked.level_zero,
        parameters=parameters,
        alternatives=beside.audited(found.alternatives),
        front=beside.front(found.front, verdict) if found.front else (),
        likeness=likeness,
        kept=tuple(kept),
        history=tuple(context.history),
        seconds=time.monotonic() - begun,
    )


def _check(table: Table, method: Method, parameters: Parameters, asked: Settings) -> None:
    """Refuse what cannot be done before anything is begun."""
    if "population" in parameters.changed():
        check_population(table, parameters.values()["population"])
    if (asked.operators or asked.on_generation) and not method.evolves:
        raise InputError(f"{method.name} is not evolutionary: it has no operators or generations", field="operators")
    if method.two_way and asked.walk is None:  # else a run whose time is up at once would end with another's pattern
        required_two_way(table)


def _context(asked: Settings, backend: str, solver: Solver, model: AttackerModel) -> Context:
    """What a method needs to know of its run."""
    return Context(
        backend=backend,
        lp=solver.name,
        solver=solver,
        seed=asked.seed,
        clock=asked.clock or Clock(asked.seconds),
        progress=asked.progress or Silent(),
        operators=asked.operators,
        on_generation=asked.on_generation,
        **vars(model),
    )


def _further(parameters: Parameters) -> int:
    """How many patterns besides the best one will be audited."""
    asked = parameters.values(["search", "result"])
    return int(asked.get("alternatives", 0)) + (MOST_ON_FRONT if asked.get("objectives") else 0)


def chosen_parameters(
    method: Method, options: Mapping[str, Any], given: Parameters | None = None, start: Sequence[object] = ()
) -> tuple[Parameters, SolverParameters]:
    """The method's parameters and those of the solver, from options by name; `given` are the method's as an object."""
    of_solver = {one.name for one in SolverParameters.declared()}
    solver = SolverParameters.of({name: value for name, value in options.items() if name in of_solver})
    own = {name: value for name, value in options.items() if name not in of_solver}
    parameters = method.checked(own, start)
    if given is None:
        return parameters, solver
    if type(given) is not method.parameters:
        name = type(given).__name__
        raise InputError(f"{printable(name)} are not the parameters of {method.name}", field="parameters")
    if own:
        raise InputError("give the parameters of the method here or in options, not in both", field="parameters")
    return given, solver


def _with_proof(
    table: Table, suppressed: Mask, level_zero: str, context: Context, carried: Witnesses | None, audited: Audit
) -> Audit:
    """The audit once more, with a witness for every requirement; the one that is there, where time ends first."""
    verdict = audit(
        table,
        suppressed,
        strict=context.strict,
        protect_secondary=context.protect_secondary,
        whole="yes" if context.whole else "no",
        level_zero=level_zero,
        intervals=False,
        proofs=True,
        proof=None if context.whole and two_way_table(table) is not None else carried,
        context=replace(context, clock=context.clock.finishing()),
    )
    return verdict if verdict.safe else audited  # safe it is, but the time ended before all witnesses were found


def resolved_solver(name: str, wanted: SolverParameters = SolverParameters()) -> Solver:
    """The solver that `name` stands for here, with a warning where it is another one."""
    try:
        chosen = choose(name, fallback=not wanted.no_fallback, host=wanted.cuopt_host)
    except SolverUnavailable as fault:
        raise InputError(str(fault), field="--lp") from None
    if chosen.note is not None:
        warnings.warn(chosen.note, SolverWarning, stacklevel=3)
    return chosen.solver


def _who_solved(solver: Solver) -> str:
    """Whose answers were used; said where it is not the solver that was asked for."""
    who = answered(solver)
    if who != solver.name:
        note = f"{solver.name} answered no linear program of this run: HiGHS and flows did the work"
        warnings.warn(note, SolverWarning, stacklevel=3)
    return who


def _bound(table: Table, context: Context) -> Bound | None:
    """A lower bound in the time that is left, for tables that have a method for it."""
    from gpuga.bounds.exact import lower_bound

    unlimited = max(BOUND_SECONDS, BOUND_SHARE * context.clock.spent())
    left = unlimited if context.clock.seconds is None else context.clock.left()
    if left < LEAST_BOUND_SECONDS or context.clock.interrupted:
        return None
    return lower_bound(table, replace(context, clock=Clock(left)), whole="no", level_zero="ignore")
