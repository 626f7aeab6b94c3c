"""The judge: which tests execute a changed line, and whether one of them fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.mutants.kept import Verdicts, digest, reviewed, text_of
from tests.mutants.operators import Mutant
from tests.mutants.rooms import EVERYWHERE, LEFT_OUT, ROOMS, ROOT

SLOWEST = 5.0  # processor seconds, measured; slower tests are not asked
PATIENCE = 12.0  # seconds of tests that one mutant may take; a module's own are asked first, then narrow ones
LONG_PATIENCE = 60.0  # for constants, which many tests touch, and for the reviewed changes
SAVED_EVERY = 30.0


class Server:
    """One waiting pytest."""

    def __init__(self, tests: Sequence[str]) -> None:
        requests, incoming = os.pipe(), os.pipe()
        command = [sys.executable, "-m", "tests.mutants.server", str(requests[0]), str(incoming[1]), *tests]
        command += [f"--deselect={test}" for test in LEFT_OUT]
        self.process = subprocess.Popen(
            command, pass_fds=(requests[0], incoming[1]), env=environment(), cwd=ROOT, stdout=subprocess.DEVNULL
        )
        os.close(requests[0])
        os.close(incoming[1])
        self.requests, self.answers = os.fdopen(requests[1], "w"), os.fdopen(incoming[0])

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its answer."""
        self.requests.write(json.dumps(request) + "\n")
        self.requests.flush()
        answer = self.answers.readline()
        if not answer:
            raise SystemExit("the tests could not be collected; run pytest to see why")
        return json.loads(answer)  # type: ignore[no-any-return]


def environment() -> dict[str, str]:
    """One thread, so that children can be forked; compiled functions run as the Python they are written in."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return dict(os.environ) | threads | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}


class Judge:
    """Tries mutants with several workers, each with its own servers."""

    def __init__(self, verdicts: Verdicts, workers: int, tests: Sequence[str]) -> None:
        self.verdicts, self.workers, self.asked = verdicts, workers, sorted(set(tests))
        self.here = threading.local()
        self.lock = threading.Lock()
        self.saved = time.monotonic()
        self.of_room = {name: {str(p.relative_to(ROOT)) for p in room.paths()} for name, room in ROOMS.items()}
        self.elsewhere = {m.path for m in reviewed()}.difference(*self.of_room.values())
        self.lines: dict[tuple[str, int], list[str]] = {}
        self.seconds: dict[str, float] = {}
        self.breadth: dict[str, int] = {}  # how many modules a test executes: of few, it looks closely

    def try_all(self, mutants: Sequence[Mutant]) -> None:
        """Find the verdict of every mutant that has none yet."""
        left = [m for m in mutants if self.verdicts.find(m) is None]
        if left:
            with ThreadPoolExecutor(self.workers) as pool:
                self._measure(pool)
                for number, _ in enumerate(pool.map(self._try, left), 1):
                    print(f"\r{number} of {len(left)} mutants", end="", file=sys.stderr, flush=True)
            print(file=sys.stderr)
        self.verdicts.save()

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Ask this worker's own server, which starts with the first question."""
        if not hasattr(self.here, "server"):
            self.here.server = Server(self.asked)
        return self.here.server.ask(request)  # type: ignore[no-any-return]

    def _measure(self, pool: ThreadPoolExecutor) -> None:
        """Which tests execute which lines; only tests that changed, or whose modules did, are run again."""
        tests = pool.submit(lambda: self._ask({"list": True})["tests"]).result()
        left = [t for t in tests if not self._still_true(t)]
        for number, _ in enumerate(pool.map(self._measure_one, left), 1):
            print(f"\r{number} of {len(left)} tests measured", end="", file=sys.stderr, flush=True)
        if left:
            print(file=sys.stderr)
        for test in tests:
            found = self.verdicts.measured[test]
            self.seconds[test], self.breadth[test] = found["seconds"], len(found["lines"])
            if found["seconds"] <= SLOWEST:
                for path, numbers in found["lines"].items():
                    for number in numbers:
                        self.lines.setdefault((path, number), []).append(test)
        self.verdicts.save()

    def _still_true(self, test: str) -> bool:
        found = self.verdicts.measured.get(test)
        return found is not None and found["digest"] == self._digest(test, found["lines"])

    def _files(self, test: str) -> list[str]:
        """The modules that a test is asked about: those of its rooms, and reviewed ones that lie in no room."""
        mine = [self.of_room[name] for name, room in ROOMS.items() if test.startswith(room.tests)]
        return sorted(set().union(*mine, self.elsewhere if test.startswith(EVERYWHERE) else ()))

    def _digest(self, test: str, touched: dict[str, list[int]]) -> str:
        """Of the test and the modules that it executes; of all that it may be asked about if it failed."""
        return digest(text_of(test.split("::")[0]), *(text_of(f) for f in sorted(touched) or self._files(test)))

    def _measure_one(self, test: str) -> None:
        files = [os.path.realpath(ROOT / f) for f in self._files(test)]
        answer = self._ask({"measure": test, "files": files, "limit": SLOWEST})
        lines = {os.path.relpath(f, ROOT): numbers for f, numbers in answer.get("lines", {}).items() if numbers}
        found = {"lines": lines, "seconds": answer.get("seconds", 1e9), "digest": self._digest(test, lines)}
        with self.lock:
            self.verdicts.measured[test] = found
            self._save_at_times()

    def _tests(self, path: str, numbers: Sequence[int], patience: float = PATIENCE) -> list[tuple[str, float]]:
        """The tests that execute one of these lines, as many as patience lasts."""
        seconds = self.seconds
        names = {test for number in numbers for test in self.lines.get((path, number), [])}
        chosen, total = [], 0.0
        own = f"/test_{Path(path).stem}.py"
        for test in sorted(names, key=lambda t: (own not in t, self.breadth[t], seconds[t], t)):
            total += seconds[test]
            if total > patience:
                break
            chosen.append((test, seconds[test]))
        return chosen

    def _try(self, mutant: Mutant) -> None:
        if self.verdicts.find(mutant) is not None:
            return
        path = os.path.relpath(os.path.realpath(ROOT / mutant.path), ROOT)
        full, touching = str(ROOT / path), sorted({n for f, n in self.lines if f == path})
        lines = range(mutant.lines[0], mutant.lines[1] + 1) if mutant.function else touching
        tests = self._tests(path, lines, LONG_PATIENCE if mutant.function in ("", "reviewed") else PATIENCE)
        texts = {"original": text_of(mutant.path), "source": mutant.source}
        answer = self._ask({"path": full, "tests": tests} | texts)
        if answer["verdict"] == "module":
            answer = in_a_new_process(full, mutant.source, [t for t, _ in self._tests(path, touching, 10.0)])
        with self.lock:
            self.verdicts.note(mutant, answer | {"asked": len(tests)})
            self._save_at_times()

    def _save_at_times(self) -> None:
        if time.monotonic() - self.saved > SAVED_EVERY:
            self.saved = time.monotonic()
            self.verdicts.save()


def in_a_new_process(module: str, text: str, tests: list[str]) -> dict[str, Any]:
    """The verdict on a change outside every function."""
    if not tests:
        return {"verdict": "survived"}
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / "changed.py"
        changed.write_text(text)
        command = [sys.executable, "-m", "tests.mutants.once", module, str(changed), f"--basetemp={folder}/t", *tests]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, timeout=20 * PATIENCE)
        except subprocess.TimeoutExpired:
            return {"verdict": "noticed", "by": "timeout"}
    return {"verdict": "noticed", "by": "in a new process"} if done.returncode else {"verdict": "survived"}
