"""The register of methods: name, function, typed parameters. Adding one is one entry; nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from gpuga import parameters
from gpuga.declared import Parameter, Parameters
from gpuga.errors import InputError, printable

if TYPE_CHECKING:
    from gpuga.context import Context
    from gpuga.protection import Found
    from gpuga.table.table import Table

Run: TypeAlias = "Callable[[Table, Context], Found]"


@dataclass(frozen=True)
class Method:
    """One way to find a safe pattern; loaded when first used, so that listing costs nothing."""

    name: str
    where: str
    summary: str
    source: str
    parameters: type[Parameters] = Parameters
    starts: bool = False  # whether it takes patterns to start from
    evolves: bool = False  # whether it has a DEAP toolbox, whose operators can be replaced
    two_way: bool = False  # whether it takes two-way tables only

    @property
    def options(self) -> tuple[Parameter, ...]:
        """The declarations of its parameters."""
        return self.parameters.declared()

    def load(self, given: Parameters) -> Run:
        """The function with its parameters."""
        module, _, attribute = self.where.partition(":")
        run = getattr(import_module(module), attribute)
        return partial(run, parameters=given) if self.options else run  # type: ignore[no-any-return]

    def checked(self, options: Mapping[str, Any], start: Sequence[object] = ()) -> Parameters:
        """The options as typed parameters; one that the method does not use is refused."""
        if start and not self.starts:
            names = ", ".join(method.name for method in METHODS if method.starts)
            raise InputError(f"is not an option of {self.name}; methods that take it are {names}", field="--start")
        return self.parameters.of(options, self.name)


DEFAULT = "circuits"
"""The method of `protect` when none is named."""

COMPARED = ("hypercube", "shortest-path", "castro", "pbp", "exact")
"""The methods of `compare` when none are named."""

METHODS: tuple[Method, ...] = (
    Method(
        "circuits",
        "gpuga.cluster.circuits:circuits",
        "genetic algorithm on certified circuits in the back end, with the exact prover beside it; any table",
        "after Herrington 2015, Almeida et al. 2008",
        parameters=parameters.CircuitsParameters,
        starts=True,
        evolves=True,
    ),
    Method(
        "heurgene",
        "gpuga.evolution.heurgene:heurgene",
        "two-way tables: genetic algorithm whose crossover swaps circuits; portfolio of strategies",
        "Herrington 2015",
        parameters=parameters.HeurGeneParameters,
        starts=True,
        evolves=True,
        two_way=True,
    ),
    Method(
        "gensup",
        "gpuga.evolution.gensup:gensup",
        "two-way tables: genetic algorithm on cells with shortest-path repair",
        "Almeida et al. 2008",
        parameters=parameters.GenSupParameters,
        starts=True,
        evolves=True,
        two_way=True,
    ),
    Method(
        "gapn",
        "gpuga.evolution.gapn:gapn",
        "two-way tables: genetic algorithm on protection networks of rectangles",
        "Ditrich 2010, after Herrington 2015",
        parameters=parameters.GapnParameters,
        starts=True,
        evolves=True,
        two_way=True,
    ),
    Method(
        "hypercube",
        "gpuga.heuristics.hypercube:hypercube",
        "cheapest boxes (rectangles in two dimensions) around each sensitive cell, then redundancy removal",
        "GHMITER; Herrington 2015",
        parameters=parameters.HypercubeParameters,
    ),
    Method(
        "incremental",
        "gpuga.heuristics.incremental:incremental",
        "cheapest consistent change for each sensitive cell, by two attacker LPs; any table",
        "Smith et al. 2012",
        parameters=parameters.IncrementalParameters,
    ),
    Method(
        "ordering-ga",
        "gpuga.evolution.ordering_ga:ordering_ga",
        "genetic algorithm over orders of the sensitive cells; variants one-p, one-k, group-k, ku, group-ku",
        "Smith et al. 2012",
        parameters=parameters.OrderingGaParameters,
    ),
    Method(
        "ordering-ls",
        "gpuga.evolution.ordering_ga:ordering_ls",
        "local search over orders of the sensitive cells; the same variants",
        "Smith et al. 2012",
        parameters=parameters.OrderingLsParameters,
    ),
    Method(
        "modular",
        "gpuga.bounds.modular:modular",
        "sub-tables from the top of the hierarchy down by exact search, with backtracking, then the whole table",
        "HiTaS, de Wolf 2002",
    ),
    Method(
        "marginal",
        "gpuga.heuristics.marginal:marginal",
        "last resort: suppresses totals along with every sensitive cell",
        "named by Smith et al. 2012",
    ),
    Method(
        "shortest-path",
        "gpuga.heuristics.shortest_path:shortest_path",
        "two-way tables: cheapest augmenting paths for each level, then clean-up",
        "Carvalho et al. 1994; Almeida et al. 2008",
        two_way=True,
    ),
    Method(
        "castro",
        "gpuga.heuristics.castro:castro",
        "two-way tables: disjoint shortest paths that credit every sensitive cell they pass",
        "Castro 2005; Almeida et al. 2008",
        parameters=parameters.CastroParameters,
        two_way=True,
    ),
    Method(
        "pbp",
        "gpuga.heuristics.pbp:pbp",
        "two-way tables: parallel bound and path, the best of N diverse patterns",
        "Almeida et al. 2008",
        parameters=parameters.PbpParameters,
        two_way=True,
    ),
    Method(
        "exact",
        "gpuga.bounds.exact:exact",
        "cutting planes and branch and bound, to proven optimality; two-way and small general tables",
        "after Fischetti, Salazar 1999; knapsack covers",
        starts=True,
    ),
    Method(
        "classical-ip",
        "gpuga.bounds.classical_ip:classical_ip",
        "small tables: the classical integer program over all primaries",
        "Fischetti, Salazar 2001; Serpell et al. 2008",
    ),
    Method(
        "modified-ip",
        "gpuga.bounds.classical_ip:modified_ip",
        "small tables: the integer program over the initially exposed primaries, audited for all",
        "Serpell et al. 2008",
    ),
)


def find_method(name: str) -> Method:
    """The method of that name, or a sentence that lists the names."""
    for method in METHODS:
        if method.name == name:
            return method
    names = ", ".join(m.name for m in METHODS)
    raise InputError(f"unknown method {printable(name)!r}; choose one of {names}", field="--method")


def method_names(methods: str | Sequence[str]) -> list[str]:
    """Names of methods, from a list or a text with commas; each must exist and occur once."""
    names = [name.strip() for name in methods.split(",")] if isinstance(methods, str) else list(methods)
    if not names or not all(names) or len(set(names)) < len(names):
        raise InputError("give a list of different methods, such as shortest-path,pbp,exact", field="--methods")
    return [find_method(name).name for name in names]
