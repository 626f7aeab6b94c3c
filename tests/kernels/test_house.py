"""The kernels are a leaf: plain arrays in, plain arrays out, nothing of ours but themselves."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import gpuga.kernels

PACKAGE = Path(gpuga.kernels.__file__).parent
ALLOWED = {"__future__", "numpy", "numba", "cupy", *sys.stdlib_module_names}


def imported(path: Path) -> set[str]:
    """The top-level names of a file's absolute imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.ImportFrom):
            # A relative import must not climb out of the package.
            depth = len(path.relative_to(PACKAGE).parts)
            assert node.level <= depth, path
    return names


def test_kernels_import_only_numpy_numba_and_themselves() -> None:
    for path in PACKAGE.rglob("*.py"):
        assert imported(path) <= ALLOWED, path


def test_only_one_file_imports_the_cuda_target_of_numba() -> None:
    users = [path.name for path in PACKAGE.rglob("*.py") if "from numba import cuda" in path.read_text()]
    assert users == ["cuda_kernels.py"]


def test_importing_the_kernels_touches_no_cuda_module() -> None:
    script = "import sys, gpuga.kernels; print({'numba.cuda', 'cupy', 'cuda'} & set(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=PACKAGE.parents[0]
    )
    assert run.stdout.strip() == "set()"
