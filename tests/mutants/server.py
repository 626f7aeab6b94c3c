"""A pytest that has collected its tests and waits: every request forks a child that runs some of them.

The child puts the mutated functions in place of the originals and ends at the first failure, so a mutant costs
hardly more than the tests that it takes. It runs under NUMBA_DISABLE_JIT=1, compiled functions as plain Python: the
compile cache would not notice a changed callee.
"""

from __future__ import annotations

import ast
import gc
import importlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mutants.kept import reviewed
from tests.mutants.rooms import ROOMS, ROOT

MODULE_LEVEL = "module"  # the change is outside every function: only a new process will do
GRACE, SLOWER = 2.0, 6.0  # a test has this many seconds and this many times its usual processor time
WAITING = 12.0  # and so many times that by the clock on the wall, for whoever waits for what never comes


def functions_of(code: types.CodeType) -> Iterator[types.CodeType]:
    """The outermost functions of a module's code, in order."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            if const.co_flags & 0x2:  # a function's locals are its own; a class body's are not
                yield const
            else:
                yield from functions_of(const)


def frame_of(code: types.CodeType) -> tuple[Any, ...]:
    """What a module does outside its functions, comparable."""
    inner = tuple(
        frame_of(c) if isinstance(c, types.CodeType) and not c.co_flags & 0x2 else repr(c)
        for c in code.co_consts
        if not (isinstance(c, types.CodeType) and c.co_flags & 0x2)
    )
    return code.co_code, code.co_names, inner


def replaced(path: str, before: str, after: str) -> list[tuple[types.CodeType, types.CodeType]] | None:
    """The functions that differ between two texts of a module, as pairs; None where more than functions differs."""
    old, new = (compile(text, path, "exec") for text in (before, after))
    pairs = list(zip(functions_of(old), functions_of(new), strict=False))
    if frame_of(old) != frame_of(new) or len(list(functions_of(old))) != len(list(functions_of(new))):
        return None
    return [(a, b) for a, b in pairs if a != b]


def changed_constants(path: str, before: str, after: str) -> dict[str, Any] | None:
    """The module's constants that another text of it gives another value; None where the difference is no constant."""
    trees = [ast.parse(text).body for text in (before, after)]
    differing = [a for a, b in zip(*trees, strict=False) if ast.dump(a) != ast.dump(b)]
    if len(trees[0]) != len(trees[1]) or not all(isinstance(node, ast.Assign | ast.AnnAssign) for node in differing):
        return None
    module = next(m for m in list(sys.modules.values()) if os.path.realpath(getattr(m, "__file__", None) or "") == path)
    made = types.ModuleType(module.__name__)
    made.__dict__.update({"__file__": module.__file__, "__package__": module.__package__})
    sys.modules[module.__name__], kept = made, module  # dataclasses look their module up by name
    try:
        exec(compile(after, path, "exec"), made.__dict__)
    finally:
        sys.modules[module.__name__] = kept
    plain = (int, float, str, tuple, dict, list, set, frozenset, re.Pattern, np.ndarray, np.generic)
    return {
        name: value
        for name, value in vars(made).items()
        if not name.startswith("__") and isinstance(value, plain) and repr(value) != repr(vars(module).get(name))
    }


def put(constants: dict[str, Any], path: str) -> None:
    """Give constants their new values in their module and wherever they were imported by name."""
    module = next(m for m in list(sys.modules.values()) if os.path.realpath(getattr(m, "__file__", None) or "") == path)
    for name, value in constants.items():
        old = vars(module).get(name)
        for other in list(sys.modules.values()):
            if other is module or (hasattr(other, "__dict__") and vars(other).get(name, module) is old):
                setattr(other, name, value)


def modules() -> list[str]:
    """The names of all modules that may be mutated."""
    files = {str(p.relative_to(ROOT)) for room in ROOMS.values() for p in room.paths()} | {m.path for m in reviewed()}
    dotted = [file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in sorted(files)]
    return [name if name.startswith("gpuga.") else f"gpuga.{name}" for name in dotted]


class Server:
    """Collected tests that wait for requests, one JSON line each, on two pipes."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.incoming, self.outgoing = os.fdopen(incoming), os.fdopen(outgoing, "w")
        self.functions: dict[tuple[str, str, int], list[types.FunctionType]] = {}
        self.config: pytest.Config

    def pytest_configure(self, config: pytest.Config) -> None:
        """Make properties repeatable and quick to fail."""
        from hypothesis import Phase, settings

        self.config = config
        settings.register_profile(
            "mutants", derandomize=True, database=None, deadline=None, phases=(Phase.explicit, Phase.generate)
        )
        settings.load_profile("mutants")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer requests until the pipe is closed."""
        self.items = {item.nodeid: item for item in session.items}
        for module in modules():  # some are imported only when a test first needs them
            importlib.import_module(module)
        for thing in gc.get_objects():
            if isinstance(thing, types.FunctionType):
                code = thing.__code__
                key = os.path.realpath(code.co_filename), code.co_qualname, code.co_firstlineno
                self.functions.setdefault(key, []).append(thing)
        gc.collect()
        gc.freeze()
        for line in self.incoming:
            request = json.loads(line)
            if "list" in request:
                self._answer({"tests": list(self.items)})
            else:
                self._answer(self._measured(request) if "measure" in request else self._judged(request))
        return True

    def _answer(self, answer: dict[str, Any]) -> None:
        self.outgoing.write(json.dumps(answer) + "\n")
        self.outgoing.flush()

    def _judged(self, request: dict[str, Any]) -> dict[str, Any]:
        """Whether any of the tests notices a mutant."""
        path, original, source = request["path"], request["original"], request["source"]
        pairs, constants = replaced(path, original, source), {}
        if pairs is None:
            try:
                found = changed_constants(path, original, source)
            except Exception as fault:  # whatever a mutated module raises while it is imported
                return {"verdict": "noticed", "by": f"import: {type(fault).__name__}"}
            if not found:
                return {"verdict": MODULE_LEVEL}
            pairs, constants = [], found
        swaps = [
            (function, new)
            for old, new in pairs
            for function in self.functions.get((path, old.co_qualname, old.co_firstlineno), [])
        ]
        if not swaps and not constants:
            return {"verdict": "survived", "why": "no function that is in use has this code"}

        def child(out: Path) -> int:
            for function, code in swaps:
                function.__code__ = code
            put(constants, path)
            for test, seconds in request["tests"]:
                _limit(seconds)
                if not self._passes(test):
                    out.write_text(test)
                    return 1
            return 0

        status, said = self._forked(child)
        if os.WIFSIGNALED(status):
            slow = os.WTERMSIG(status) in (signal.SIGPROF, signal.SIGALRM)
            return {"verdict": "noticed", "by": "timeout" if slow else f"signal {os.WTERMSIG(status)}"}
        return {"verdict": "noticed", "by": said} if os.WEXITSTATUS(status) else {"verdict": "survived"}

    def _measured(self, request: dict[str, Any]) -> dict[str, Any]:
        """Which lines of which files one test executes, and its processor time."""

        def child(out: Path) -> int:
            import coverage

            signal.setitimer(signal.ITIMER_PROF, request["limit"])
            signal.setitimer(signal.ITIMER_REAL, WAITING * request["limit"])
            measure = coverage.Coverage(data_file=None, config_file=False, include=request["files"])
            measure.start()
            passed = self._passes(request["measure"])
            measure.stop()
            data = measure.get_data()
            lines = {os.path.realpath(f): sorted(data.lines(f) or ()) for f in data.measured_files()}
            spent = os.times()
            out.write_text(json.dumps({"lines": lines, "seconds": spent.user + spent.system}))
            return 0 if passed else 1

        status, said = self._forked(child)
        if status != 0:
            return {"fails": True, "slow": os.WIFSIGNALED(status)}
        return json.loads(said)  # type: ignore[no-any-return]

    def _passes(self, test: str) -> bool:
        from _pytest.runner import runtestprotocol

        reports = runtestprotocol(self.items[test], nextitem=None, log=False)
        return not any(report.failed for report in reports)

    def _forked(self, child: Callable[[Path], int]) -> tuple[int, str]:
        """The status of a child that runs a function, and what it wrote."""
        folder = Path(tempfile.mkdtemp(prefix="mutant-"))
        process = os.fork()
        if process == 0:
            code = 3
            try:
                os.setpgid(0, 0)
                _silence()
                self.config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
                code = child(folder / ".said")
            finally:
                os._exit(code)
        _, status = os.waitpid(process, 0)
        _end_group(process)
        said = (folder / ".said").read_text() if (folder / ".said").exists() else ""
        shutil.rmtree(folder, ignore_errors=True)
        return status, said


def _limit(seconds: float) -> None:
    """End this process by a signal when a test takes much longer than it usually does, working or waiting."""
    signal.setitimer(signal.ITIMER_PROF, GRACE + SLOWER * seconds)
    signal.setitimer(signal.ITIMER_REAL, WAITING * (GRACE + SLOWER * seconds))


def _silence() -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


def _end_group(leader: int) -> None:
    """End what a child has left behind: processes that its tests started."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def main() -> None:
    """Collect the tests named on the command line and serve."""
    incoming, outgoing, *paths = sys.argv[1:]
    server = Server(int(incoming), int(outgoing))
    sys.exit(pytest.main(["-q", "-s", "-p", "no:cacheprovider", "-p", "no:warnings", *paths], plugins=[server]))


if __name__ == "__main__":
    main()
