"""The rooms whose code is mutated, and the tests that are asked about each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Room:
    """Modules, and the tests to ask: first those at hand, narrowed to what executes the changed line."""

    files: tuple[str, ...]
    tests: tuple[str, ...]

    def paths(self) -> list[Path]:
        """The modules, sorted."""
        return sorted({path for pattern in self.files for path in ROOT.glob(pattern)})


ROOMS = {
    "table": Room(("gpuga/table/*.py",), ("tests/table", "tests/files")),
    "files": Room(
        ("gpuga/files/*.py", "gpuga/proof_file.py"),
        ("tests/table", "tests/files", "tests/test_proof_file.py", "tests/test_verify.py", "tests/cli"),
    ),
    "logic": Room(("kernels/logic/*.py",), ("tests/kernels",)),
    "bounds": Room(
        (
            "gpuga/bounds/knapsack.py",
            "gpuga/bounds/master.py",
            "gpuga/bounds/proof.py",
            "gpuga/bounds/separators/bridges.py",
            "gpuga/bounds/separators/capacity_cuts.py",
            "gpuga/bounds/separators/line_cuts.py",
            "gpuga/bounds/separators/zero_half.py",
        ),
        ("tests/bounds",),
    ),
    "safety": Room(
        ("gpuga/safety/*.py",),
        (
            "tests/safety",
            "tests/circuits/test_exact_changes.py",
            "tests/problem/test_requirements.py",
            "tests/table/test_groups.py",
            "tests/test_protect.py",
        ),
    ),
}
EVERYWHERE = (
    "tests/problem/test_requirements.py",
    "tests/evolution/test_checkpoint.py::test_tables_that_differ_in_a_status_have_different_fingerprints",
    "tests/evolution/test_replacement.py",
    "tests/evolution/test_selection.py",
    "tests/circuits/test_path_cover.py",
)
"""Tests that only the reviewed changes need besides those of the rooms."""
LEFT_OUT = ("tests/kernels/test_simulator.py",)
"""Tests in processes of their own, which no mutant reaches."""
