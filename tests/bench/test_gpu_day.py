"""The day on a CUDA machine: nothing without a device, all parts in a dry run, none lost because another one failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import gpu_day
from gpuga.kernels.probe import cuda_problem, simulated


@pytest.mark.skipif(cuda_problem() is None, reason="there is a device here")
def test_without_a_device_it_says_so_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "day.md"
    assert gpu_day.main(["--out", str(out)]) == gpu_day.NO_DEVICE == 2
    said = capsys.readouterr().err
    assert said.startswith("no device: ")
    assert len(said.splitlines()) == 1
    assert not out.exists()


@pytest.mark.slow  # half a minute of simulated kernels
@pytest.mark.skipif(simulated(), reason="runs in the simulator already")
def test_a_dry_run_writes_the_whole_report_and_says_that_it_means_nothing(tmp_path: Path) -> None:
    out = tmp_path / "new" / "day.md"
    assert gpu_day.main(["--dry-run", "--out", str(out)]) == 0
    lines = out.read_text().splitlines()
    assert lines[2] == gpu_day.MEANINGLESS
    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == list(gpu_day.PARTS)
    assert any(line.startswith("1 passed") for line in lines)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if gpu_day.TINY.name in line]
    measured = {row[1] for row in rows}
    assert {"safe", "clean", "children", "exchange", "in", "out", "cpu", "cuda", "circuits", "exact"} <= measured
    costs = {row[4] for row in rows if row[1] in ("circuits", "exact")}
    assert len(costs) == 1, "the same pattern is optimal on every back end"


def test_a_part_that_fails_says_so_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(plan: gpu_day.Plan) -> str:
        """A part."""
        raise ValueError("this kernel does not launch")

    def sound(plan: gpu_day.Plan) -> str:
        """Another part."""
        return "all is well"

    monkeypatch.setattr(gpu_day, "PARTS", {"First": broken, "Second": sound})
    text, whole = gpu_day.report(gpu_day.DRY, dry=False)
    assert not whole
    assert "**Failed**: ValueError: this kernel does not launch" in text
    assert "## Second\n\nAnother part.\n\nall is well" in text
    assert gpu_day.MEANINGLESS not in text
