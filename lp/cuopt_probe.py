"""Is NVIDIA cuOpt here, is it the real one, and does the server answer that it is set up to ask?

PyPI's package called plain `cuopt` is an empty stub that only reserves the name; the solver is `cuopt-cu12` or
`cuopt-cu13`.  Nothing is imported: cuOpt starts CUDA when it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata, util
from importlib.machinery import PathFinder

from .cuopt_server import HOST, Server

_REAL = ("cuopt-cu13", "cuopt-cu12")


@dataclass(frozen=True)
class CuoptReport:
    """The solver's version (None: not installed), what is wrong, and the line that installs it."""

    version: str | None
    problem: str | None
    install: str


def probe_cuopt(cuda_major: int = 13) -> CuoptReport:
    """Look for cuOpt; `cuda_major` (12 or 13) decides which extra to recommend."""
    install = f'pip install "gpuga[cuopt{12 if cuda_major == 12 else 13}]"'
    for name in _REAL:
        version = _version(name)
        if version is not None:
            return CuoptReport(version, None, install)
    stub = _version("cuopt")
    if stub is None:
        return CuoptReport(None, "cuOpt is not installed", install)
    if _has_solver():
        return CuoptReport(stub, None, install)
    problem = f"PyPI's package cuopt {stub} is an empty stub without a solver; remove it: pip uninstall cuopt"
    return CuoptReport(None, problem, install)


@dataclass(frozen=True)
class ServerReport:
    """The server that the user has set for cuOpt, and why nobody answers there (None: somebody does)."""

    address: str
    problem: str | None


def probe_server(environment: Mapping[str, str]) -> ServerReport | None:
    """The server that cuOpt asks instead of this machine's GPU; None where none is set."""
    try:
        server = Server.of(environment)
    except ValueError as fault:
        return ServerReport(environment[HOST], f"{HOST}: {fault}")
    return None if server is None else ServerReport(f"{server.address}:{server.port}", server.problem())


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _has_solver() -> bool:
    """Does the package called cuopt hold the linear programming module?  Looked up without importing it."""
    spec = util.find_spec("cuopt")
    places = spec.submodule_search_locations if spec is not None else None
    if not places:
        return False
    return PathFinder.find_spec("cuopt.linear_programming", list(places)) is not None
