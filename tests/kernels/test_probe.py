"""What the probe reports of drivers, devices and packages, tried on stand-ins compiled for the purpose."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gpuga.kernels import get_backend
from gpuga.kernels.backend import LEAST_WORK, BackendUnavailable, available_backends, choose, device_of, kind_of
from gpuga.kernels.probe import device_name, device_problem, probe_cuda, probe_driver
from gpuga.lp.cuopt_probe import probe_cuopt

DRIVER = r"""
#include <string.h>
int cuInit(unsigned flags) { return %(status)d; }
int cuDriverGetVersion(int *v) { *v = 13020; return 0; }
int cuDeviceGetCount(int *n) { *n = %(devices)d; return 0; }
int cuDeviceGet(int *d, int i) { *d = i; return 0; }
int cuDeviceGetName(char *name, int room, int d) { strncpy(name, "Test Device", room); return 0; }
int cuDeviceGetAttribute(int *v, int which, int d) { *v = which == 75 ? 9 : 0; return 0; }
int cuDeviceTotalMem_v2(unsigned long *bytes, int d) { *bytes = 1ul << 34; return 0; }
"""


def driver(folder: Path, status: int = 0, devices: int = 1) -> str:
    """A stand-in for the CUDA driver's library."""
    source, library = folder / "driver.c", folder / "libdriver.so"
    source.write_text(DRIVER % {"status": status, "devices": devices})
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    return str(library)


def test_a_device_is_described(tmp_path: Path) -> None:
    found = probe_driver(driver(tmp_path))
    assert found.version == (13, 2)
    assert found.problem is None
    (device,) = found.devices
    assert (device.name, device.compute_capability, device.memory) == ("Test Device", (9, 0), 2**34)


def test_a_driver_without_a_device_and_a_driver_that_fails_say_so(tmp_path: Path) -> None:
    assert "no device" in str(probe_driver(driver(tmp_path, devices=0)).problem)
    (tmp_path / "broken").mkdir()
    assert "cuInit returned 999" in str(probe_driver(driver(tmp_path / "broken", status=999)).problem)
    assert "no CUDA driver" in str(probe_driver("libnot-there.so").problem)


def test_a_missing_package_comes_with_its_install_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuga.kernels.probe.installed", lambda *names: None)
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    report = probe_cuda(driver(tmp_path))
    assert report.problem == 'numba-cuda is not installed: pip install "gpuga[cuda13]"'
    assert report.cupy.version is None


def test_a_back_end_that_cannot_work_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuga.kernels.probe.cuda_problem", lambda: "no device here")
    with pytest.raises(BackendUnavailable, match="no device here"):
        get_backend("cuda")
    with pytest.raises(BackendUnavailable, match="no back end called"):
        get_backend("abacus")
    assert get_backend("auto").name == "cpu"
    assert available_backends() == {"numpy": None, "cpu": None, "cuda": "no device here"}


@pytest.mark.parametrize(("solver", "stub"), [(False, True), (True, False)])
def test_the_empty_cuopt_package_is_told_from_the_real_one(tmp_path: Path, solver: bool, stub: bool) -> None:
    package, info = tmp_path / "cuopt", tmp_path / "cuopt-26.8.0.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: cuopt\nVersion: 26.8.0\n")
    if solver:
        (package / "linear_programming").mkdir()
        (package / "linear_programming" / "__init__.py").touch()
    script = "from gpuga.lp.cuopt_probe import probe_cuopt; print(probe_cuopt())"
    root = Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env={"PYTHONPATH": f"{tmp_path}:{root}"},
    )  # fmt: skip
    assert ("empty stub" in run.stdout) == stub
    assert ("version='26.8.0'" in run.stdout) == solver


def test_cuopt_that_is_not_there_comes_with_its_install_line() -> None:
    report = probe_cuopt(12)
    assert report.version is not None or report.install == 'pip install "gpuga[cuopt12]"'


def test_a_device_is_found_by_its_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    two = driver(tmp_path, devices=2)
    assert [device_problem(number, two) for number in (0, 1)] == [None, None]
    assert device_problem(2, two) == "there is no CUDA device 2: this machine has 0 to 1"
    assert device_name(1, two) == "1 (Test Device)"
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")
    assert device_problem(0, "libnot-there.so") is None
    assert device_problem(1, "libnot-there.so") == "there is no CUDA device 1: this machine has device 0"
    assert device_name(0) == "0 (simulator)"


def test_auto_takes_a_device_from_a_certain_size_of_the_work_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuga.kernels.probe.cuda_problem", lambda: None)
    assert choose("auto", work=LEAST_WORK).name == choose("auto").name == "cuda"
    small = choose("auto", work=LEAST_WORK - 1)
    assert small.name == "cpu"
    assert f"{LEAST_WORK - 1:,}" in small.why
    assert choose("cuda", work=1).name == "cuda"


def test_without_a_device_auto_is_the_cpu_whatever_the_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuga.kernels.probe.cuda_problem", lambda: "no device here")
    assert choose("auto", work=1 << 40) == ("cpu", "no device here")
    with pytest.raises(BackendUnavailable, match="no device here"):
        choose("auto", device=0)


def test_naming_a_device_asks_for_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuga.kernels.probe.cuda_problem", lambda: None)
    monkeypatch.setattr("gpuga.kernels.probe.device_problem", lambda n: None if n < 2 else f"there is no device {n}")
    assert choose("auto", device=1, work=1).name == choose("cuda", device=1).name == "cuda:1"
    assert (kind_of("cuda:1"), device_of("cuda:1")) == ("cuda", 1)
    assert (kind_of("cpu"), device_of("cpu"), device_of("cuda")) == ("cpu", None, None)
    with pytest.raises(BackendUnavailable, match="there is no device 2"):
        choose("auto", device=2)
    with pytest.raises(BackendUnavailable, match="uses no CUDA device"):
        choose("cpu", device=0)
    with pytest.raises(BackendUnavailable, match="no back end called 'cpu:1'"):
        choose("cpu:1")
