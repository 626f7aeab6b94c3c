"""Which devices, drivers and packages are here, and what to install where something is missing.

The driver is asked through its own library, without making a CUDA context and without any Python package.
"""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from importlib import metadata

_DRIVER_LIBRARY = "libcuda.so.1"
_MAJOR, _MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR


@dataclass(frozen=True)
class Device:
    """One CUDA device: its name, compute capability and memory in bytes."""

    name: str
    compute_capability: tuple[int, int]
    memory: int


@dataclass(frozen=True)
class Driver:
    """The CUDA driver: the CUDA version it serves (major, minor), its devices, and what is wrong with it."""

    version: tuple[int, int] | None
    devices: tuple[Device, ...]
    problem: str | None


@dataclass(frozen=True)
class Package:
    """A Python package: its version (None: not installed) and the line that installs it."""

    name: str
    version: str | None
    install: str


@dataclass(frozen=True)
class CudaReport:
    """Everything the `cuda` back end depends on; `problem` is None when it works here."""

    driver: Driver
    numba_cuda: Package
    cupy: Package
    simulator: bool
    problem: str | None


def simulated() -> bool:
    """Is numba's CUDA simulator switched on?"""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


def probe_driver(library: str = _DRIVER_LIBRARY) -> Driver:
    """Ask the CUDA driver for its version and devices."""
    try:
        cuda = ctypes.CDLL(library)
    except OSError:
        return Driver(None, (), f"no CUDA driver ({_DRIVER_LIBRARY} is not installed)")
    status = cuda.cuInit(0)
    if status != 0:
        return Driver(None, (), f"the CUDA driver does not start (cuInit returned {status})")
    number, count = ctypes.c_int(), ctypes.c_int()
    cuda.cuDriverGetVersion(ctypes.byref(number))
    cuda.cuDeviceGetCount(ctypes.byref(count))
    version = (number.value // 1000, number.value % 1000 // 10)
    devices = tuple(_device(cuda, index) for index in range(count.value))
    return Driver(version, devices, None if devices else "the CUDA driver finds no device")


def _device(cuda: ctypes.CDLL, index: int) -> Device:
    handle, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    memory, name = ctypes.c_size_t(), ctypes.create_string_buffer(256)
    cuda.cuDeviceGet(ctypes.byref(handle), index)
    cuda.cuDeviceGetName(name, len(name), handle)
    cuda.cuDeviceGetAttribute(ctypes.byref(major), _MAJOR, handle)
    cuda.cuDeviceGetAttribute(ctypes.byref(minor), _MINOR, handle)
    cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), handle)
    return Device(name.value.decode(errors="replace"), (major.value, minor.value), memory.value)


def installed(*names: str) -> str | None:
    """The version of the first of these packages that is installed."""
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return None


def probe_cuda(library: str = _DRIVER_LIBRARY) -> CudaReport:
    """What the `cuda` back end finds on this machine, and what it lacks."""
    driver = probe_driver(library)
    major = 12 if driver.version is not None and driver.version[0] < 13 else 13
    install = f'pip install "gpuga[cuda{major}]"'
    numba_cuda = Package("numba-cuda", installed("numba-cuda"), install)
    cupy = Package("CuPy", installed("cupy-cuda13x", "cupy-cuda12x", "cupy"), install)
    return CudaReport(driver, numba_cuda, cupy, simulated(), _problem(driver, numba_cuda, cupy))


def _problem(driver: Driver, numba_cuda: Package, cupy: Package) -> str | None:
    needed = [numba_cuda] if simulated() else [numba_cuda, cupy]
    if not simulated() and driver.problem is not None:
        return driver.problem
    for package in needed:
        if package.version is None:
            return f"{package.name} is not installed: {package.install}"
    return None


def cuda_problem() -> str | None:
    """Why the `cuda` back end cannot work here, or None."""
    return probe_cuda().problem


def device_problem(number: int, library: str = _DRIVER_LIBRARY) -> str | None:
    """Why there is no device of that number here, or None; the simulator is device 0."""
    count = 1 if simulated() else len(probe_driver(library).devices)
    if 0 <= number < count:
        return None
    return f"there is no CUDA device {number}: this machine has {'device 0' if count == 1 else f'0 to {count - 1}'}"


def device_name(number: int, library: str = _DRIVER_LIBRARY) -> str:
    """A device for people: its number and what it is."""
    return f"{number} (simulator)" if simulated() else f"{number} ({probe_driver(library).devices[number].name})"
