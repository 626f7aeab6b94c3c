"""The runner: hands out steps to workers, goes on where it stopped, prints and writes what was seen."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from tests.campaign.parts import PARTS, Part, part_named
from tests.campaign.report import failed, table_of, write_document
from tests.campaign.state import Progress, State, commit_id
from tests.campaign.tally import Tally
from tests.campaign.terminal import ROOT

SAVED_EVERY = 5.0
MOST_DEATHS = 20


def main() -> int:
    """Run what was asked for; 1 if anything failed."""
    given = _arguments()
    if given.again is not None:
        return _again(part_named(given.only or "tables"), given.seed, given.again)
    state = State(given.out, commit_id(), given.seed)
    end = None if given.hours is None else time.monotonic() + 3600 * given.hours
    parts = [part_named(given.only)] if given.only else list(PARTS)
    for part in parts:
        _run(part, part.target, given, state, end)
    if end is not None:
        for part in (p for p in parts if p.endless):
            left = end - time.monotonic()
            share = left / (1 + parts[parts.index(part) + 1 :].__len__()) if left > 0 else 0
            _run(part, 10**9, given, state, time.monotonic() + share)
    print(table_of(state))
    if given.document:
        write_document(state, Path(given.document))
    return 1 if failed(state) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description="Run the campaign, or go on with it.")
    parser.add_argument("--hours", type=float, help="stop after so long; without it, when every part is complete")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", metavar="PART", help=", ".join(p.name for p in PARTS))
    parser.add_argument("--out", type=Path, default=ROOT / "campaign-out", help="where it remembers what it did")
    parser.add_argument("--document", metavar="FILE", help="write the counts here, for docs/reliability.md")
    parser.add_argument("--again", type=int, metavar="STEP", help="only this step of --only, with everything it says")
    return parser.parse_args()


def _again(part: Part, seed: int, index: int) -> int:
    """One step, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        tally = part.step()(seed, index, Path(folder))
    for failure in tally.failures:
        print(f"--- {failure['kind']}: {failure['what']}\n    {failure['command']}")
    print(dict(sorted(tally.counts.items())))
    return 1 if tally.failures else 0


def _work(part: str, seed: int, steps: list[int]) -> tuple[Tally, float]:
    """Some steps of a part, in a worker."""
    step = part_named(part).step()
    tally, begun = Tally(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="campaign-") as folder:
        for index in steps:
            tally.add(step(seed, index, Path(folder)))
    return tally, time.monotonic() - begun


def _run(part: Part, target: int, given: argparse.Namespace, state: State, end: float | None) -> None:
    """Do a part up to its target or until the end."""
    progress = state.load(part.name)
    deaths = 0
    while progress.steps < target and (end is None or time.monotonic() < end):
        try:
            _run_pool(part, target, given, state, end, progress)
        except BrokenProcessPool:
            state.save(part.name, progress)
            deaths += 1
            if deaths == MOST_DEATHS:
                print(f"{part.name}: given up, {deaths} workers died", file=sys.stderr)
                break
        except KeyboardInterrupt:
            state.save(part.name, progress)
            raise SystemExit("interrupted; the same command goes on from here") from None
    state.save(part.name, progress)


def _run_pool(
    part: Part, target: int, given: argparse.Namespace, state: State, end: float | None, progress: Progress
) -> None:
    """Hand out steps to workers; a worker that dies makes its steps a failure."""
    fresh = multiprocessing.get_context("spawn")
    under_way: dict[Future[tuple[Tally, float]], list[int]] = {}
    saved = time.monotonic()
    with ProcessPoolExecutor(given.workers, mp_context=fresh) as pool:
        while True:
            busy = {s for steps in under_way.values() for s in steps}
            while len(under_way) < given.workers and progress.steps + len(busy) < target:
                if end is not None and time.monotonic() > end:
                    break
                steps = progress.next_steps(min(part.chunk, target - progress.steps - len(busy)), busy)
                under_way[pool.submit(_work, part.name, given.seed, steps)] = steps
                busy.update(steps)
            if not under_way:
                return
            over, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for one in over:
                steps = under_way.pop(one)
                try:
                    tally, seconds = one.result()
                except BrokenProcessPool:
                    progress.done(steps, _died(part, given.seed, steps), 0.0)
                    raise
                progress.done(steps, tally, seconds)
            if time.monotonic() - saved > SAVED_EVERY:
                state.save(part.name, progress)
                saved = time.monotonic()
                _say(part, progress, target)


def _died(part: Part, seed: int, steps: list[int]) -> Tally:
    tally = Tally()
    command = f"python -m tests.campaign --only {part.name} --seed {seed} --again STEP"
    tally.fail("crashes", f"a worker died in one of the steps {steps[0]} to {steps[-1]}", command)
    return tally


def _say(part: Part, progress: Progress, target: int) -> None:
    of = f" of {target}" if target < 10**9 else ""
    failures = len(progress.tally.failures)
    print(f"{part.name}: {progress.steps}{of} steps, {progress.seconds:.0f} s, {failures} failures", file=sys.stderr)
