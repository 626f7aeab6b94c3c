"""Part `faults`: what machines and people do to a run. Each is survived with the right result, or refused with one
sentence and the right exit code; no half-written file is left, and nothing that was there is lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from tests.campaign.judge import Judge, Reading
from tests.campaign.part_counts import count_table
from tests.campaign.problem import Problem
from tests.campaign.tally import Tally
from tests.campaign.terminal import Ended, run_command, run_process, surroundings

SMALL = 64 * 1024  # bytes of the small disk
NOBODY = 65534
MEGABYTES = (300, 360, 450, 800)
PATIENCE = 600.0


class Fault(Exception):
    """The fault was not survived as it should be."""


class Bench:
    """One fault's surroundings: a table, a folder, and what the undisturbed run writes."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        self.folder, self.tally = folder, tally
        self.problem: Problem = count_table(Random("faults"))
        self.table = folder / "table.jj"
        self.table.write_text(self.problem.jj())
        os.chmod(folder, 0o755)

    def protect(self, out: Path, *more: str, **how: object) -> Ended:
        """`gpuga protect` in a process of its own."""
        return run_process(self.words(out, *more), seconds=PATIENCE, **how)  # type: ignore[arg-type]

    def words(self, out: Path, *more: str) -> list[str]:
        """The arguments of `gpuga protect`."""
        words = ["protect", str(self.table), "--out", str(out), *more]
        return words if "--method" in more else [*words, "--method", "hypercube"]

    def undisturbed(self, *more: str) -> bytes:
        """The pattern that a run writes when nothing happens."""
        out = self.folder / "undisturbed.csv"
        ended = self.protect(out, *more)
        self.demand(ended.code == 0, f"the undisturbed run ends with {ended.code}: {ended.err}")
        return out.read_bytes()

    def generate(self, words: str, out: Path) -> None:
        """`gpuga generate` in a process of its own."""
        made = run_process(["generate", *words.split(), "--out", str(out)])
        self.demand(made.code == 0, f"generate: {made.err}")

    def demand(self, holds: bool, what: str) -> None:
        """End with a fault unless it holds."""
        if not holds:
            raise Fault(what)

    def refused(self, ended: Ended, codes: tuple[int, ...] = (2,)) -> None:
        """One sentence and an exit code."""
        said = [line for line in ended.err.strip().splitlines() if "note:" not in line and "compiling" not in line]
        self.demand(ended.code in codes, f"exit {ended.code} instead of {codes}: {ended.err[-500:]}")
        self.demand(len(said) == 1 and "Traceback" not in ended.err, f"not one sentence: {ended.err[-500:]}")

    def safe(self, out: Path) -> None:
        """The pattern that was written is whole and protects every sensitive cell."""
        rows = [line.split(",") for line in out.read_text().split()[1:]]
        self.demand(len(rows) == len(self.problem), f"{out.name} has {len(rows)} rows of {len(self.problem)}")
        pattern = {int(c) for c, word in rows if word != "published"}
        self.demand(not Judge(self.problem, pattern).unsafe(Reading()), f"{out.name} is not safe")

    def nothing_left(self, folder: Path, *known: str) -> None:
        """No file but the known ones."""
        left = sorted(p.name for p in folder.iterdir() if p.name not in known)
        self.demand(not left, f"files were left in {folder.name}: {left}")


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[bool]:
    """A small file system of its own where this user may mount one; else a plain folder (and False)."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True)
    try:
        yield done.returncode == 0
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], capture_output=True)


def _limited(limit: int, amount: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(limit, (amount, amount))


def _filled(folder: Path, left: int) -> None:
    """Fill a small disk but for so many bytes."""
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize - left
    (folder / "filler").write_bytes(bytes(max(0, free)))


# --- disks


def disk_full_at_the_pattern(bench: Bench) -> None:
    """The pattern does not fit: a sentence, no half of it, and the old one stays."""
    with mounted(bench.folder / "small", f"size={SMALL}") as real:
        out = bench.folder / "small" / "pattern.csv"
        out.write_text("the old one\n")
        if real:
            bench.tally.count("full disks that are real (tmpfs of 64 kB)")
            _filled(bench.folder / "small", 0)
            ended = bench.protect(out)
        else:
            bench.tally.count("full disks that are limits of file size")
            ended = bench.protect(out, preexec_fn=_limited(resource.RLIMIT_FSIZE, 100))
        bench.refused(ended, (1, 2))
        bench.demand(out.read_text() == "the old one\n", "the old pattern was lost")
        bench.nothing_left(bench.folder / "small", "pattern.csv", "filler")


def disk_full_at_the_summary(bench: Bench) -> None:
    """The pattern fits and the summary does not: both or none."""
    with mounted(bench.folder / "small", f"size={SMALL}") as real:
        if not real:
            return
        _filled(bench.folder / "small", 0)
        out = bench.folder / "pattern.csv"
        ended = bench.protect(out, "--json", str(bench.folder / "small" / "summary.json"))
        bench.refused(ended, (1, 2))
        bench.demand(not out.exists(), "the pattern was written although the summary could not be")
        bench.nothing_left(bench.folder / "small", "filler")


def disk_full_at_the_checkpoint(bench: Bench) -> None:
    """Checkpoints do not fit: the run goes on and ends as it would have."""
    more = ("--method", "circuits", "--generations", "4", "--population", "10", "--seed", "3")
    right = bench.undisturbed(*more)
    with mounted(bench.folder / "small", f"size={SMALL}") as real:
        if not real:
            return
        (bench.folder / "small" / "checkpoint").mkdir()
        _filled(bench.folder / "small", 0)
        out = bench.folder / "pattern.csv"
        ended = bench.protect(out, *more, "--checkpoint", str(bench.folder / "small" / "checkpoint"))
        if ended.code == 2:  # found before the work
            bench.refused(ended)
            return
        bench.demand(ended.code == 0, f"exit {ended.code}: {ended.err[-400:]}")
        bench.demand(out.read_bytes() == right, "the pattern is another one")


def read_only_disk(bench: Bench) -> None:
    """A disk that cannot be written: a sentence before the work."""
    with mounted(bench.folder / "still", f"size={SMALL},ro") as real:
        if not real:
            return
        for words in (
            ("still/pattern.csv",),
            ("pattern.csv", "--json", "still/s.json"),
            ("pattern.csv", "--checkpoint", "still/c"),
        ):
            out, *more = words
            more = [str(bench.folder / w) if w.startswith("still") else w for w in more]
            method = ["--method", "circuits", "--generations", "1"] if "--checkpoint" in more else []
            bench.refused(bench.protect(bench.folder / out, *more, *method))
            bench.demand(not (bench.folder / "pattern.csv").exists(), "a pattern was written")


def device_full(bench: Bench) -> None:
    """`/dev/full` takes nothing."""
    out = bench.folder / "pattern.csv"
    bench.refused(bench.protect(out, "--json", "/dev/full"), (1, 2))
    bench.demand(not out.exists(), "the pattern was written although the summary could not be")


def folder_vanishes(bench: Bench) -> None:
    """The folder of the pattern is removed while the run goes on: a sentence, or the folder's absence noticed."""
    gone = bench.folder / "gone"
    gone.mkdir()
    words = bench.words(
        gone / "pattern.csv", "--method", "circuits", "--generations", "200", "--patience", "200", "--seconds", "20"
    )
    child = _process(words)
    time.sleep(4)
    shutil.rmtree(gone, ignore_errors=True)
    ended = _waited(child)
    if ended.code != 0:
        bench.refused(ended, (1, 2))


# --- users


def another_user(bench: Bench) -> None:
    """Somebody who may neither write here nor read that."""
    if os.geteuid() != 0:
        return
    bench.tally.count("runs as another user")
    closed, open_ = bench.folder / "closed", bench.folder / "open"
    closed.mkdir(mode=0o755)
    open_.mkdir()
    os.chmod(open_, 0o777)
    bench.refused(_as_nobody(bench.words(closed / "pattern.csv")))
    bench.nothing_left(closed)
    os.chmod(bench.table, 0o600)
    bench.refused(_as_nobody(bench.words(open_ / "pattern.csv")))
    bench.nothing_left(open_)
    os.chmod(bench.table, 0o644)
    ended = _as_nobody(bench.words(open_ / "pattern.csv"))
    bench.demand(ended.code == 0, f"another user cannot run it: exit {ended.code}: {ended.err[-500:]}")
    bench.safe(open_ / "pattern.csv")


def _as_nobody(words: list[str]) -> Ended:
    """A command as a user with no rights; tried first as this one, so that Python and all modules are loaded."""
    program = (
        "import json, os, sys, tempfile; from tests.campaign.terminal import run_command;"
        "words = json.loads(sys.argv[1]);"
        "run_command([*words[:3], tempfile.mkdtemp() + '/first.csv', *words[4:]]);"
        f"os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY}); os.environ['HOME'] = '/nonexistent';"
        "ended = run_command(words); print(json.dumps([ended.code, ended.out, ended.err]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(words)],
        capture_output=True,
        text=True,
        env=surroundings(),
        timeout=PATIENCE,
    )
    if done.returncode != 0:
        raise Fault(f"the run as another user died: {done.stderr[-500:]}")
    return Ended(*json.loads(done.stdout.splitlines()[-1]))


# --- the compile cache


def _audit(bench: Bench, cache: Path) -> Ended:
    """A command that compiles something: the audit of a two-way table."""
    table, pattern = bench.folder / "plane.csv", bench.folder / "hidden.csv"
    table.write_text(
        "a,b,value,status\n"
        + "".join(f"r{i},c{j},{3 + i * j},{'u' if i == j else 's'}\n" for i in range(4) for j in range(4))
    )
    cells = [f"r{i},c{j},{'primary' if i == j else 'secondary'}" for i in range(4) for j in range(4)]
    pattern.write_text("a,b,suppression\n" + "\n".join(cells) + "\n")
    return run_process(
        ["audit", str(table), str(pattern)], seconds=PATIENCE, environment={"NUMBA_CACHE_DIR": str(cache)}
    )


def _cache_files(cache: Path) -> list[Path]:
    return sorted(p for p in cache.rglob("*") if p.suffix == ".nbc")


def damaged_cache(bench: Bench) -> None:
    """Compiled functions that are cut, garbled or empty on the disk: compiled again, same answer."""
    cache = bench.folder / "cache"
    cache.mkdir()
    right = _audit(bench, cache)
    bench.demand(right.code in (0, 1), f"exit {right.code}: {right.err[-300:]}")
    kept = {path: path.read_bytes() for path in _cache_files(cache)}
    bench.demand(bool(kept), "nothing was compiled into NUMBA_CACHE_DIR")
    bench.tally.count("compile cache files damaged", len(kept))
    damages: tuple[Callable[[bytes], bytes], ...] = (
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: bytes(len(content)),
        lambda content: content[:100] + bytes(b ^ 85 for b in content[100:140]) + content[140:],
    )
    for damage in damages:
        for path, content in kept.items():
            path.write_bytes(damage(content))
        again = _audit(bench, cache)
        bench.tally.count("runs on a damaged compile cache")
        same = (again.code, again.out) == (right.code, right.out)
        bench.demand(same, f"cache damaged: exit {again.code}, {again.out[-200:]} {again.err[-600:]}")


def shared_cache(bench: Bench) -> None:
    """Two first runs at once fill one empty compile cache."""
    cache = bench.folder / "cache"
    cache.mkdir()
    _audit_words = _audit(bench, bench.folder / "other-cache")
    environment = surroundings() | {"NUMBA_CACHE_DIR": str(cache)}
    words = ["audit", str(bench.folder / "plane.csv"), str(bench.folder / "hidden.csv")]
    ends = [_waited(child) for child in [_process(words, environment) for _ in range(2)]]
    for ended in ends:
        same = (ended.code, ended.out) == (_audit_words.code, _audit_words.out)
        bench.demand(same, f"exit {ended.code}: {ended.err[-500:]}")


def read_only_cache(bench: Bench) -> None:
    """No place for compiled functions: the command works all the same."""
    cache = bench.folder / "cache-file"
    cache.write_text("a file where a folder should be")
    ended = _audit(bench, cache)
    bench.demand(ended.code in (0, 1) and "Traceback" not in ended.err, f"exit {ended.code}: {ended.err[-500:]}")


# --- two at once, limits, clocks, signals


def two_runs_on_one_checkpoint(bench: Bench) -> None:
    """One of them is refused with a sentence; the other ends as if it were alone."""
    table = bench.folder / "plane.csv"
    bench.generate("herrington --rows 24 --cols 24 --sensitive 8% --seed 1", table)
    more = ["--method", "circuits", "--generations", "8", "--population", "20", "--seed", "3"]

    def words(name: str, *others: str) -> list[str]:
        return ["protect", str(table), "--out", str(bench.folder / f"{name}.csv"), *more, *others]

    ended = run_process(words("alone"), seconds=PATIENCE)
    bench.demand(ended.code == 0, f"the undisturbed run ends with {ended.code}: {ended.err}")
    shared = ("--checkpoint", str(bench.folder / "shared"))
    ends = [_waited(child) for child in [_process(words(name, *shared)) for name in "ab"]]
    bench.demand(any(e.code == 0 for e in ends), f"both runs failed: {[e.err[-200:] for e in ends]}")
    for name, ended in zip("ab", ends, strict=True):
        out = bench.folder / f"{name}.csv"
        if ended.code == 0:
            same = out.read_bytes() == (bench.folder / "alone.csv").read_bytes()
            bench.demand(same, "a run that shared its checkpoints ends differently")
        else:
            bench.tally.count("runs refused because the checkpoint folder is in use")
            bench.refused(ended)
            bench.demand(not out.exists(), "the refused run wrote a pattern")


def little_memory(bench: Bench) -> None:
    """A big table and too little memory: a result, or a sentence; never a traceback or a half-written file."""
    big = bench.folder / "big.csv"
    bench.generate("smith3d --shape 60x21x24 --sensitive 0.1 --zeros 0.1 --seed 1", big)
    before = big.read_bytes()
    compiled = bench.protect(bench.folder / "compiled.csv")  # what compiles is the compiler's memory, not ours
    bench.demand(compiled.code == 0, f"without a limit: {compiled.err}")
    for megabytes in MEGABYTES:
        out = bench.folder / f"big-{megabytes}.csv"
        words = ["protect", str(big), "--out", str(out), "--method", "hypercube", "--seconds", "15"]
        try:
            limit = _limited(resource.RLIMIT_AS, megabytes * 2**20)
            ended = run_process(words, seconds=120, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            raise Fault(f"{megabytes} MB: still running after 120 s of the 15 s it was given") from None
        bench.tally.count(f"memory limit: exit code {ended.code}")
        bench.demand("Traceback" not in ended.err, f"{megabytes} MB: {ended.err[-700:]}")
        bench.demand(ended.code in (0, 1, 2, 4), f"{megabytes} MB: exit {ended.code}: {ended.err[-300:]}")
        bench.demand(
            out.exists() == (ended.code == 0), f"{megabytes} MB: exit {ended.code}, pattern there: {out.exists()}"
        )
    bench.demand(big.read_bytes() == before, "the table was changed")
    bench.nothing_left(bench.folder, "table.jj", "compiled.csv", "big.csv", *(f"big-{m}.csv" for m in MEGABYTES))


def clock_jumps(bench: Bench) -> None:
    """The time of day jumps by years, both ways, while the run goes on."""
    more = ("--method", "circuits", "--generations", "2", "--population", "8", "--seed", "3")
    right = bench.undisturbed(*more)
    honest = time.time
    jumps = Random(1)
    time.time = lambda: honest() + jumps.choice((-1e9, 0, 1e9))
    try:
        out = bench.folder / "jumped.csv"
        ended = run_command(bench.words(out, *more, "--seconds", "300"))
    finally:
        time.time = honest
    bench.demand(ended.code == 0, f"exit {ended.code}: {ended.err[-300:]}")
    bench.demand(out.read_bytes() == right, "the pattern is another one")


def interrupted(bench: Bench) -> None:
    """Ctrl-C at any moment: the best pattern so far is written, or the run ends without one and says so."""
    words = ("--method", "circuits", "--generations", "100000", "--patience", "100000", "--population", "20")
    for after in (0.5, 2.5, 5.0, 9.0):
        out = bench.folder / f"after-{after}.csv"
        child = _process(bench.words(out, *words, "--seconds", "60"))
        time.sleep(after)
        child.send_signal(signal.SIGINT)
        ended = _waited(child)
        bench.tally.count(f"interrupted: exit code {ended.code}")
        if out.exists():
            bench.demand(ended.code == 0, f"a pattern was written and the exit code is {ended.code}")
            bench.safe(out)
        else:
            bench.demand(ended.code in (1, 2, 4, 130, -2), f"exit {ended.code}, and no pattern: {ended.err[-300:]}")
        bench.demand("Traceback" not in ended.err or after < 2, f"a traceback after {after} s: {ended.err[-500:]}")


def _process(words: list[str], environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "gpuga", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment or surroundings(),
    )


def _waited(child: subprocess.Popen[str]) -> Ended:
    try:
        out, err = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise Fault(f"still running after {PATIENCE} s") from None
    return Ended(child.returncode, out, err)


FAULTS: tuple[Callable[[Bench], None], ...] = (
    disk_full_at_the_pattern,
    disk_full_at_the_summary,
    disk_full_at_the_checkpoint,
    read_only_disk,
    device_full,
    folder_vanishes,
    another_user,
    damaged_cache,
    shared_cache,
    read_only_cache,
    two_runs_on_one_checkpoint,
    little_memory,
    clock_jumps,
    interrupted,
)
TARGET = len(FAULTS)


def step(seed: int, index: int, folder: Path) -> Tally:
    """One fault."""
    tally = Tally()
    fault = FAULTS[index % len(FAULTS)]
    home = folder / fault.__name__
    home.mkdir()
    os.chmod(folder, 0o755)
    where = f"python -m tests.campaign --only faults --again {index % len(FAULTS)}"
    name = fault.__name__.replace("_", " ")
    try:
        fault(Bench(home, tally))
        tally.count("faults survived")
        tally.count(f"survived: {name}")
    except Fault as seen:
        tally.fail("not survived", f"{name}: {seen}", where)
    except Exception:
        tally.fail("crashes", f"{name}\n{traceback.format_exc()[-1200:]}", where)
    shutil.rmtree(home, ignore_errors=True)
    return tally
