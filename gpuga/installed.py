"""Which back ends, solvers and extras work on this machine, and how to install the others."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata
from importlib.util import find_spec
from typing import NamedTuple

from gpuga.kernels.backend import available_backends
from gpuga.kernels.probe import probe_driver
from gpuga.lp.cuopt_probe import probe_cuopt, probe_server

BACKENDS = {"cuda": "evaluates on the GPU", "cpu": "evaluates on all cores", "numpy": "slow reference implementation"}

EXTRAS = (
    ("pyarrow", "files", "Parquet tables"),
    ("openpyxl", "excel", "workbooks"),
    ("duckdb", "microdata", "large microdata"),
    ("matplotlib", "plots", "plots"),
    ("distributed", "cluster", "islands and jobs on a Dask cluster"),
    ("mkdocs", "docs", "the site"),
    ("pytauargus", "peers", "comparison with another tool"),
)


class Part(NamedTuple):
    """A back end, solver or extra: what is wrong with it (None: it works), and what it does or which one it is."""

    kind: str
    name: str
    problem: str | None
    note: str


def parts(environment: Mapping[str, str]) -> list[Part]:
    """Everything that gpuga can use, in the order in which it is preferred; the environment names a cuOpt server."""
    found = available_backends().items()
    backends = [Part("back end", name, problem, BACKENDS.get(name, "")) for name, problem in found]
    highs = Part("solver", "highs", None, f"version {metadata.version('highspy')}")
    return [*backends, highs, _cuopt(environment), *map(_extra, EXTRAS)]


def _cuopt(environment: Mapping[str, str]) -> Part:
    """cuOpt on the server that the environment names, which needs no GPU here, else on this machine's GPU."""
    driver = probe_driver()
    report = probe_cuopt(12 if driver.version is not None and driver.version[0] < 13 else 13)
    missing = None if report.problem is None else f"{report.problem}: {report.install}"
    server = probe_server(environment)
    if server is None:
        return Part("solver", "cuopt", driver.problem or missing, f"version {report.version}")
    note = f"version {report.version}, asks the server {server.address}, where somebody answers"
    return Part("solver", "cuopt", missing or server.problem, note)


def _extra(extra: tuple[str, str, str]) -> Part:
    module, name, note = extra
    return Part("extra", name, None if find_spec(module) else f"not installed: pip install 'gpuga[{name}]'", note)
