"""Part `tables`: random tables through every reader and every method, each verdict and number judged again."""

from __future__ import annotations

import json
import traceback
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import gpuga
from gpuga.errors import GpugaError, Infeasible, InputError, OutOfTime
from gpuga.methods import METHODS
from gpuga.table import Status
from tests.campaign.judge import Judge, Reading, exposure, possible
from tests.campaign.optimum import Search, TooMany
from tests.campaign.problem import Problem
from tests.campaign.simplex import Undecided
from tests.campaign.tables import LARGEST, random_problem
from tests.campaign.tally import Tally, TooSlow, at_most
from tests.campaign.terminal import run_command
from tests.campaign.ways_in import Entered, Misread, enter, ways_for

TARGET = 20_000
SECONDS_PER_STEP = 240  # the very first ones compile
SECONDS = 4.0  # for a method; its generations end it long before
TRIED_BY_HAND = 12  # tables with at most so many free cells have their optimum looked for

WITH_A_METHOD, BY_COMMAND = 0.25, 0.01  # methods and processes take far longer than verdicts

OWN_LIMIT = "the integer program has no solution in which no cell moves by more than"
"""What the integer programs say of tables that their own limit on moves leaves undecided."""

PLANE_ONLY = {"heurgene", "gensup", "gapn", "shortest-path", "castro", "pbp"}
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "circuits": ({"generations": 2, "population": 6}, {"generations": 1}),
    "heurgene": ({"generations": 3, "population": 8},),
    "gensup": ({"generations": 3, "population": 6},),
    "gapn": ({"generations": 3, "population": 8},),
    "pbp": ({"population": 4},),
    "ordering-ga": tuple(
        {"generations": 2, "population": 5, "variant": v} for v in ("one-p", "one-k", "group-k", "ku")
    ),
    "ordering-ls": tuple({"generations": 2, "variant": v} for v in ("one-p", "ku")),
    "incremental": ({}, {"variant": "clean-up"}),
}


@dataclass
class Step:
    """One table on its way: where it came from, what is asked of it, and what was seen."""

    seed: int
    index: int
    entered: Entered
    reading: Reading
    tally: Tally
    rng: Random
    folder: Path

    @property
    def problem(self) -> Problem:
        """The table as the judges see it."""
        return self.entered.problem

    def asked(self) -> dict[str, Any]:
        """The reading as keyword arguments of gpuga's functions, but for what is asked of secondary suppressions."""
        return {
            "strict": self.reading.strict,
            "whole": "yes" if self.reading.whole else "no",
            "level_zero": "exact" if self.reading.level_zero else "ignore",
        }

    def asked_of_all(self) -> dict[str, Any]:
        """The whole reading as keyword arguments."""
        return self.asked() | {"protect_secondary": self.reading.protect_secondary}

    def fail(self, kind: str, what: str, pattern: frozenset[int] | None = None, command: str = "") -> None:
        """A failure with the table, the pattern and how to see it again."""
        files = {"table.jj": self.problem.jj()}
        if pattern is not None:
            rows = [f"{c},{'secondary' if c in pattern else 'published'}" for c in range(len(self.problem))]
            files["pattern.csv"] = "index,suppression\n" + "\n".join(rows) + "\n"
        where = f"python -m tests.campaign --only tables --seed {self.seed} --again {self.index}"
        flags = "".join(
            f" --{name}" for name in ("strict", "protect-secondary") if getattr(self.reading, name.replace("-", "_"))
        )
        flags += f" --whole {'yes' if self.reading.whole else 'no'}"
        flags += "" if self.reading.level_zero else " --level-zero ignore"
        direct = f"gpuga {command or 'audit table.jj pattern.csv --show'}{flags}"
        about = f"[{self.problem.kind}, {self.entered.way}{flags.replace(' --', ', ')}] {what}"
        self.tally.fail(kind, about, f"{where}   or   {direct}", files)


def step(seed: int, index: int, folder: Path) -> Tally:
    """One table, judged in every respect."""
    tally = Tally()
    rng = Random(f"tables {seed} {index}")
    problem = random_problem(rng)
    way = rng.choice(ways_for(problem))
    where = f"python -m tests.campaign --only tables --seed {seed} --again {index}"
    try:
        with warnings.catch_warnings(), at_most(SECONDS_PER_STEP):
            warnings.simplefilter("ignore")
            _entered_and_judged(seed, index, problem, way, rng, folder, tally)
    except TooSlow as fault:
        tally.fail("slow", f"[{problem.kind}, {way}] {fault}", where, {"table.jj": problem.jj()})
    except Exception:
        what = f"[{problem.kind}, {way}]\n{traceback.format_exc()[-1500:]}"
        tally.fail("crashes", what, where, {"table.jj": problem.jj()})
    return tally


def _entered_and_judged(
    seed: int, index: int, problem: Problem, way: str, rng: Random, folder: Path, tally: Tally
) -> None:
    tally.count("tables")
    tally.count(f"kind: {problem.kind.removesuffix(' with groups')}")
    if problem.groups:
        tally.count("kind: with groups")
    tally.count(f"way: {way}")
    where = f"python -m tests.campaign --only tables --seed {seed} --again {index}"
    try:
        entered = enter(problem, way, folder, rng)
    except Misread as fault:
        tally.fail("misread", f"[{problem.kind}, {way}] {fault}", where, {"table.jj": problem.jj()})
        return
    except InputError as fault:
        by = 100 if way == "array" else 1
        if problem.largest_sum() * by >= LARGEST // 4 and "too large" in str(fault):
            tally.count("refused: too large")
        elif "coincidence" in str(fault):
            tally.count("refused: looks like an undeclared sum")
        else:
            tally.fail("refused", f"[{problem.kind}, {way}] {fault}", where, {"table.jj": problem.jj()})
        return
    one = Step(seed, index, entered, _reading(rng, entered), tally, rng, folder)
    tally.count("whole" if one.reading.whole else "linear")
    _judged(one)


def _reading(rng: Random, entered: Entered) -> Reading:
    problem = entered.problem
    whole = all(v % problem.scale == 0 for v in problem.value) and len(problem) <= 40 and rng.random() < 0.25
    return Reading(
        strict=rng.random() < 0.2,
        whole=whole,
        level_zero=rng.random() < 0.85,
        protect_secondary=rng.random() < 0.12,
        unit=Fraction(problem.scale, entered.table.scale),
    )


def _judged(one: Step) -> None:
    problem, rng = one.problem, one.rng
    patterns = [problem.everything, *(_random_pattern(problem, rng) for _ in range(2))]
    protected = _protected(one) if rng.random() < WITH_A_METHOD else None
    if protected is not None:
        patterns.append(protected[0])
        extra = sorted(protected[0] - problem.forced)
        if extra:
            patterns.append(protected[0] - {rng.choice(extra)})
    best: int | None = None
    with_intervals = rng.sample(range(len(patterns)), rng.choice((0, 1, 1)))
    for at, pattern in enumerate(dict.fromkeys(patterns)):
        judge = Judge(problem, pattern, whole=one.reading.whole)
        try:
            unsafe = judge.unsafe(one.reading)
        except Undecided:
            one.tally.count("judge undecided")
            continue
        if not unsafe:
            cost = problem.cost(pattern)
            best = cost if best is None else min(best, cost)
        proof = None if protected is None or rng.random() < 0.5 else _mangled(protected[1].found.proof, rng)
        _check_audit(one, pattern, judge, intervals=at in with_intervals, proof=proof)
    if protected is not None:
        _check_bound(one, protected[1], best)
    if rng.random() < 0.25:
        _check_exposure(one)
    if rng.random() < 0.1:
        _check_round_trip(one)
    if one.entered.path is not None and rng.random() < BY_COMMAND:
        _check_command_line(one)


def _random_pattern(problem: Problem, rng: Random) -> frozenset[int]:
    share = rng.choice((0.1, 0.3, 0.5, 0.7))
    return problem.forced | {c for c in problem.free if rng.random() < share}


def _mask(problem: Problem, pattern: frozenset[int]) -> Any:
    mask = np.zeros(len(problem), bool)
    mask[list(pattern)] = True
    return mask


def _check_audit(one: Step, pattern: frozenset[int], judge: Judge, *, intervals: bool, proof: Any) -> None:
    """The audit's verdicts and intervals against the judge's."""
    problem, reading = one.problem, one.reading
    verdict = gpuga.audit(
        one.entered.table, _mask(problem, pattern), intervals=intervals, proof=proof, **one.asked_of_all()
    )
    one.tally.count("audits")
    how = f"audit(intervals={intervals}, proof={'given' if proof is not None else 'none'})"
    judged = set(judge.cells if reading.protect_secondary else problem.sensitive)
    shown = set(judge.cells) if intervals else judged
    if {c.cell for c in verdict.cells} != shown or verdict.audited != len(problem.sensitive):
        one.fail("wrong lists", f"{how} lists {len(verdict.cells)} cells of {len(shown)}", pattern)
    for cell in verdict.cells:
        one.tally.count("verdicts")
        right = cell.cell not in judged or judge.safe(cell.cell, reading)
        if cell.safe != right:
            one.fail("false unsafe" if right else "false safe", f"{how}: cell {cell.cell}", pattern)
        if intervals:
            _check_interval(one, pattern, judge, cell, how)
    if verdict.safe != all(c.safe for c in verdict.cells):
        one.fail("wrong lists", f"{how}: safe={verdict.safe} contradicts its cells", pattern)


def _check_interval(one: Step, pattern: frozenset[int], judge: Judge, cell: Any, how: str) -> None:
    """An interval against the judge's; one that is said not to be exact must lie inside it."""
    try:
        least, most = judge.interval(cell.cell)
    except Undecided:
        one.tally.count("judge undecided")
        return
    one.tally.count("intervals" if cell.exact else "intervals said not to be exact")
    inside = (least is None or (cell.min is not None and cell.min >= least)) and (
        most is None or (cell.max is not None and cell.max <= most)
    )
    if not inside or (cell.exact and (cell.min, cell.max) != (least, most)):
        seen = f"[{cell.min}, {cell.max}]"
        one.fail("wrong intervals", f"{how}: cell {cell.cell} is {seen}, not [{least}, {most}]", pattern)


def _mangled(proof: Any, rng: Random) -> Any:
    """A carried proof as it is, or with something wrong in it: the audit must believe what holds, and only that."""
    if proof is None or not len(proof) or rng.random() < 0.5:
        return proof
    kind = rng.choice(("more", "less", "twice", "cell", "denominator"))
    amount, cell, denominator = proof.amount.copy(), proof.cell.copy(), proof.denominator.copy()
    at = rng.randrange(len(amount)) if len(amount) else 0
    if not len(amount):
        return proof
    if kind == "more":
        amount[at] = amount[at] * 3
    elif kind == "less":
        amount[at] = 0
    elif kind == "twice" and at + 1 < len(cell):
        cell[at + 1] = cell[at]
    elif kind == "cell":
        cell[at] = (cell[at] + 1) % (int(cell.max()) + 1)
    else:
        denominator[rng.randrange(len(denominator))] = 1
    return replace(proof, amount=amount, cell=cell, denominator=denominator)


def _protected(one: Step) -> tuple[frozenset[int], Any] | None:
    """A method's pattern, once it is known to be safe; None where the method says that there is none."""
    problem, rng, table = one.problem, one.rng, one.entered.table
    plane = problem.kind == "2-way"
    names = [m.name for m in METHODS if plane or m.name not in PLANE_ONLY or rng.random() < 0.02]
    method = rng.choice(names)
    options = rng.choice(OPTIONS.get(method, ({},)))
    one.tally.count(f"method: {method}")
    asked = one.asked_of_all()
    how = f"protect({method}, {options}, {asked})"
    command = f"protect table.jj --out pattern.csv --method {method}"
    command += "".join(f" --{name} {value}" for name, value in options.items())
    try:
        found = gpuga.protect(table, method, seed=index_seed(one), seconds=SECONDS, options=options, **asked)
    except Infeasible:
        one.tally.count("infeasible")
        _demand_impossible(one, "false infeasible", how, command)
        return None
    except OutOfTime as fault:  # what can be protected is, in time
        one.tally.count("out of time")
        _demand_impossible(one, "slow", f"{how}: {fault}", command)
        return None
    except InputError as fault:
        if plane or method not in PLANE_ONLY:
            one.fail("refused", f"{how}: {fault}", command=command)
        return None
    except GpugaError as fault:
        if OWN_LIMIT not in str(fault):
            one.fail("refused", f"{how}: {fault}", command=command)
        one.tally.count("own limit of a method")
        return None
    except Exception:
        one.fail("crashes", f"{how}\n{traceback.format_exc()[-1500:]}", command=command)
        return None
    one.tally.count("protections")
    pattern = frozenset(np.flatnonzero(found.suppressed).tolist())
    _check_pattern(one, pattern, found, how, command)
    return pattern, found


def _demand_impossible(one: Step, kind: str, what: str, command: str) -> None:
    """A failure of that kind if the table can be protected."""
    try:
        if possible(one.problem, one.reading):
            one.fail(kind, what, command=command)
    except Undecided:
        one.tally.count("judge undecided")


def index_seed(one: Step) -> int:
    """A seed for the method that follows from the step's."""
    return one.index % 1000


def _check_pattern(one: Step, pattern: frozenset[int], found: Any, how: str, command: str) -> None:
    problem = one.problem
    if not problem.forced <= pattern <= problem.everything:
        one.fail("false safe", f"{how} hides too little or what must be published", pattern, command)
        return
    try:
        if unsafe := Judge(problem, pattern, whole=one.reading.whole).unsafe(one.reading):
            one.fail("false safe", f"{how} leaves cells {unsafe[:8]} unprotected", pattern, command)
    except Undecided:
        one.tally.count("judge undecided")
    cost = Fraction(problem.cost(pattern), problem.weight_scale)
    if Fraction(found.scaled_cost, found.table.weight_scale) != cost:
        one.fail("wrong cost", f"{how} says {found.cost}, not {cost}", pattern, command)


def _check_bound(one: Step, found: Any, best: int | None) -> None:
    """`optimal` and the lower bound against every safe pattern that is known, and all of them in small tables."""
    if found.bound is None:
        return
    problem, units = one.problem, one.entered.table.weight_scale
    bound = Fraction(found.bound.lower_bound) / units * problem.weight_scale
    one.tally.count("bounds")
    method = f"protect({found.method})"
    if best is not None and bound > best:
        one.fail("wrong bounds", f"{method}: bound {bound} above the safe cost {best}", command="bound table.jj")
    if len(problem.free) > TRIED_BY_HAND:
        return
    search = Search(problem, one.reading)
    try:
        cheaper = search.cheaper_than(-(-bound.numerator // bound.denominator))
    except (TooMany, Undecided):
        one.tally.count("optimum not found")
        return
    one.tally.count("optima tried")
    if found.optimal:
        one.tally.count("optimal confirmed")
    if cheaper is not None:
        kind = "optimal contradicted" if found.optimal else "wrong bounds"
        what = f"{method}: bound {bound} ({found.bound.kind}) and a safe pattern costs {problem.cost(cheaper)}"
        one.fail(kind, what, cheaper, "bound table.jj")


def _check_exposure(one: Step) -> None:
    if one.reading.protect_secondary:
        return
    asked = one.asked()
    seen = gpuga.exposure(one.entered.table, **asked)
    try:
        right = exposure(one.problem, one.reading)
    except Undecided:
        return
    one.tally.count("exposures")
    for name, cells in right.items():
        if list(getattr(seen, name)) != cells:
            what = f"{name}: {list(getattr(seen, name))}, not {cells}"
            one.fail("wrong exposure", what, one.problem.forced, "expose table.jj")
            return


def _check_round_trip(one: Step) -> None:
    """Written and read again, the table is the same."""
    table = one.entered.table
    suffixes = [".jj"] + ([".csv", ".parquet"] if table.grid is not None and not table.groups else [])
    suffix = one.rng.choice(suffixes)
    if suffix != ".jj" and (table.status[table.value == 0] == Status.SUPPRESSIBLE).any():
        return  # long files freeze zeros
    path = one.folder / f"again{suffix}"
    gpuga.write_table(table, path)
    trees = {}
    if suffix != ".jj":
        assert table.grid is not None
        trees = {d.name: _written_tree(d, one.folder) for d in table.grid.dimensions if len(d.codes) > 1}
    try:
        again = gpuga.read_table(path, hierarchies=trees)
    except InputError as fault:
        if "coincidence" not in str(fault):
            one.fail("misread", f"a written {suffix} file is refused: {fault}")
        return
    one.tally.count("round trips")
    for name in ("value", "lb", "ub", "status", "weight"):
        if not np.array_equal(_in_units(table, name), _in_units(again, name)):
            one.fail("misread", f"{name} changes when written as {suffix} and read again")
    for name in ("lower", "upper", "sliding"):
        sent, came = getattr(table.levels, name), getattr(again.levels, name)
        if [Fraction(int(x), table.scale) for x in sent] != [Fraction(int(x), again.scale) for x in came]:
            one.fail("misread", f"{name} changes when written as {suffix} and read again")


def _written_tree(dimension: Any, folder: Path) -> Path:
    from gpuga.files.hrc import write_hierarchy

    path = folder / f"again-{dimension.name}.hrc"
    write_hierarchy(dimension, path)
    return path


def _in_units(table: Any, name: str) -> list[Any]:
    scale = table.weight_scale if name == "weight" else 1 if name == "status" else table.scale
    return [x if abs(x) >= 2**62 else Fraction(x, scale) for x in getattr(table, name).tolist()]


def _check_command_line(one: Step) -> None:
    """The same table through `gpuga protect`, `gpuga audit` and `gpuga verify`."""
    assert one.entered.path is not None
    out, proof, answer = (one.folder / name for name in ("pattern.csv", "pattern.proof", "audit.json"))
    for old in (out, proof, answer):
        old.unlink(missing_ok=True)
    table = [str(one.entered.path), *one.entered.options]
    method = one.rng.choice(("hypercube", "incremental", "marginal", "circuits --generations 1"))
    proven = ["--proof", str(proof)] if one.rng.random() < 0.7 else []
    words = ["--out", str(out), "--method", *method.split(), "--seconds", "20", *proven]
    ended = run_command(["protect", *table, *words, *_flags(one)])
    one.tally.count("command lines")
    direct = f"protect table.jj --out p.csv --method {method}{' --proof p.proof' if proven else ''}"
    if ended.code == 3 and not possible(one.problem, one.reading):
        return
    if ended.code != 0 or not out.exists():
        one.fail("crashes", f"gpuga protect: exit {ended.code}: {ended.err[-300:]}", command=direct)
        return
    if proven:
        _check_proof(one, [*table, str(out), str(proof)], direct)
    ended = run_command(["audit", *table, str(out), "--json", str(answer), *_flags(one)])
    if ended.code != 0:
        one.fail("crashes", f"gpuga audit: exit {ended.code}: {ended.err[-300:]}", command=direct)
        return
    _check_answer(one, json.loads(answer.read_text()), method)


def _check_proof(one: Step, files: list[str], direct: str) -> None:
    """`gpuga verify` accepts the proof, and no longer once a number in it is another one."""
    if not files[0].endswith((".jj", ".csv")):
        return  # the checker reads text
    ended = run_command(["verify", *files])
    one.tally.count("proofs verified")
    if ended.code != 0:
        one.fail("proofs refused", f"gpuga verify: exit {ended.code}: {(ended.out + ended.err)[-300:]}", command=direct)
    proof = Path(files[-1])
    text = proof.read_text()
    digits = [at for at, sign in enumerate(text) if sign.isdigit()]
    at = one.rng.choice(digits)
    proof.write_text(text[:at] + one.rng.choice([d for d in "0123456789" if d != text[at]]) + text[at + 1 :])
    one.tally.count("changed proofs")
    if run_command(["verify", *files]).code == 0:
        one.fail("accepted", f"a proof with another digit at {at} is accepted", command=direct)


def _check_answer(one: Step, seen: dict[str, Any], method: str) -> None:
    """AUDIT.json against the judge: its numbers are exact, or as near as a float can be."""
    pattern = frozenset(c["cell"] for c in seen["cells"])
    judge = Judge(one.problem, pattern, whole=one.reading.whole)
    if unsafe := judge.unsafe(one.reading):
        one.fail("false safe", f"gpuga protect {method}: cells {unsafe[:8]} are not protected", pattern)
    for cell in seen["cells"]:
        one.tally.count("verdicts")
        for name, right in zip(("min", "max"), judge.interval(cell["cell"]), strict=True):
            if not _near(cell[name], right):
                what = f"AUDIT.json: {name} of cell {cell['cell']} is {cell[name]}, not {right}"
                one.fail("wrong intervals", what, pattern)


def _near(shown: float | str | None, right: Fraction | None) -> bool:
    if shown is None or right is None:
        return shown is None and right is None
    return abs(Fraction(shown) - right) <= abs(right) * Fraction(1, 10**14)


def _flags(one: Step) -> list[str]:
    flags = [
        f"--{name}"
        for name, on in (("strict", one.reading.strict), ("protect-secondary", one.reading.protect_secondary))
        if on
    ]
    flags += ["--whole", "yes" if one.reading.whole else "no"]
    return [*flags, "--level-zero", "exact" if one.reading.level_zero else "ignore"]
