"""The parameters of every method: the one place of their types, ranges, defaults and meanings.

Imports nothing heavy, because the command line makes its options and its help from these classes.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpuga.declared import Parameters, parameter

SELECTIONS = ("elite", "roulette", "rank", "tournament")
REPLACEMENTS = ("elite", "kill", "similar", "random", "crowding", "probabilistic-crowding")
ITEMS = ("one-p", "one-k", "group-k", "group-k-row", "group-k-column", "ku", "group-ku")
SEEDS = ("almeida", "hypercube")
MUTATIONS = ("swap", "insert", "invert", "self-adaptive")
INGREDIENTS = ("prover", "components", "inherit", "destroy", "newcomers", "dissimilarity", "programs")
OBJECTIVES = ("cost", "cells", "totals", "difference")
CLEAN_UP = "clean-up"
TOPOLOGIES = ("ring", "best")
BETWEEN_EXCHANGES = 5
"""Generations between two exchanges of islands, where the user names no number."""

MOST_ON_FRONT = 12
"""Patterns of a front that are returned; of more the least crowded."""

_POPULATION = "Population size."
_GENERATIONS = "Maximum number of generations."
_PATIENCE = "Maximum number of generations without improvement."
_PATIENCE_OF_BOTH = "Maximum number of generations in which neither the pattern nor the bound improves."
_SELECTION = "Selection strategy."
_REPLACEMENT = "Replacement strategy."
_AS_PUBLISHED = "Work to the letter of the paper; docs/papers.md says what differs otherwise, and why."


@dataclass(frozen=True)
class SolverParameters(Parameters, method="every method"):
    """Which solver of linear programs a run may use."""

    no_fallback: bool = parameter(
        False,
        "Fail (exit code 2) if the solver named by --lp is not available, instead of using HiGHS.",
        role="machine",
    )
    cuopt_host: str | None = parameter(
        None, "cuOpt server for --lp cuopt, instead of a GPU of this machine.", metavar="HOST[:PORT]", role="machine"
    )


@dataclass(frozen=True)
class StopParameters(Parameters):
    """When a search ends, apart from the time limit and a proof of optimality."""

    generations: int | None = parameter(None, _GENERATIONS, metavar="N", unset="no limit", role="stop")
    patience: int | None = parameter(None, _PATIENCE, metavar="N", unset="no limit", role="stop")
    improvement_rate: float | None = parameter(
        None,
        "Stop when the cost improves by less than this share per second.",
        least=0,
        metavar="SHARE",
        unset="no limit",
        role="stop",
    )


@dataclass(frozen=True)
class EvolutionParameters(StopParameters):
    """What the genetic algorithms over patterns have in common."""

    population: int = parameter(20, _POPULATION, metavar="N")
    log: str | None = parameter(None, "Write one JSON line per generation to this file.", metavar="FILE", role="file")


@dataclass(frozen=True)
class CircuitsParameters(EvolutionParameters, method="circuits"):
    """Parameters of `circuits`."""

    PATIENCE = 100

    patience: int | None = parameter(
        None,
        _PATIENCE_OF_BOTH,
        metavar="N",
        unset=f"{PATIENCE} (with --seconds: no limit)",
        role="stop",
    )
    population: int = parameter(256, _POPULATION, metavar="N")
    selection: str | None = parameter(None, _SELECTION, choices=SELECTIONS, unset="tournament of two")
    replacement: str | None = parameter(None, _REPLACEMENT, choices=REPLACEMENTS, unset="by cost and dissimilarity")
    without: tuple[str, ...] = parameter(
        (), "Ingredients to switch off, to measure what each contributes.", choices=INGREDIENTS, python_only=True
    )
    objectives: tuple[str, ...] = parameter(
        (),
        "Objectives of which a front of patterns is kept; difference needs an earlier pattern.",
        choices=OBJECTIVES,
        unset="the cost alone",
        python_only=True,
    )
    alternatives: int = parameter(
        0, "Number of further safe patterns, the cheapest that differ.", least=0, metavar="K", role="result"
    )
    islands: int | None = parameter(
        None,
        "Number of populations that evolve apart, each of the population size, and exchange their best patterns.",
        metavar="N",
        unset="one population",
    )
    exchange: int | None = parameter(
        None,
        "Number of generations after which islands exchange patterns.",
        metavar="N",
        unset=str(BETWEEN_EXCHANGES),
        needs="islands",
    )
    topology: str | None = parameter(
        None,
        "Who hears from whom: every island from its neighbour in a ring, or all from the best.",
        choices=TOPOLOGIES,
        unset="ring",
        needs="islands",
    )
    cluster: str | None = parameter(
        None,
        "Dask cluster that islands work on: address of its scheduler, its scheduler file, or local.",
        metavar="ADDRESS|FILE|local",
        unset="processes of this machine",
        needs="islands",
        role="machine",
    )
    cluster_backend: str | None = parameter(
        None,
        "Back end of the workers of a cluster.",
        choices=("auto", "cuda", "cpu"),
        unset="that of this machine",
        needs="cluster",
        role="machine",
    )
    checkpoint: str | None = parameter(None, "Save the state of the run in this directory.", metavar="DIR", role="file")
    resume: bool = parameter(False, "Resume from the latest checkpoint.", needs="checkpoint", role="file")

    @property
    def generations_between(self) -> int:
        """Generations between two exchanges of islands."""
        return self.exchange or BETWEEN_EXCHANGES

    def patience_for(self, limited: bool) -> int | None:
        """Generations without improvement after which a run ends; with a time limit, that ends it."""
        return self.patience if self.patience is not None or limited else self.PATIENCE


@dataclass(frozen=True)
class HeurGeneParameters(EvolutionParameters, method="heurgene"):
    """Parameters of `heurgene`; the defaults are the paper's."""

    generations: int | None = parameter(1000, _GENERATIONS, metavar="N", role="stop")
    patience: int | None = parameter(100, _PATIENCE, metavar="N", role="stop")
    population: int = parameter(10, _POPULATION, metavar="N")
    selection: str | None = parameter(None, _SELECTION, choices=SELECTIONS, unset="drawn from the portfolio")
    replacement: str | None = parameter(None, _REPLACEMENT, choices=REPLACEMENTS, unset="drawn from the portfolio")
    as_published: bool = parameter(False, _AS_PUBLISHED)


@dataclass(frozen=True)
class GenSupParameters(EvolutionParameters, method="gensup"):
    """Parameters of `gensup`; the defaults are the paper's."""

    generations: int = parameter(20, _GENERATIONS, metavar="N", role="stop")
    patience: int | None = parameter(10, _PATIENCE, metavar="N", role="stop")
    seeds: str = parameter(
        "almeida", "First population: that of its authors, or hypercube as in Herrington's tests.", choices=SEEDS
    )
    as_published: bool = parameter(False, _AS_PUBLISHED)


@dataclass(frozen=True)
class GapnParameters(EvolutionParameters, method="gapn"):
    """Parameters of `gapn`; Herrington's summary names none, so the defaults are ours."""

    generations: int | None = parameter(200, _GENERATIONS, metavar="N", role="stop")
    patience: int | None = parameter(30, _PATIENCE, metavar="N", role="stop")
    selection: str = parameter("tournament", _SELECTION, choices=SELECTIONS)


@dataclass(frozen=True)
class OrderingParameters(StopParameters):
    """What both searches over orderings have in common; a generation evaluates four orderings."""

    generations: int | None = parameter(2500, _GENERATIONS, least=0, metavar="N", role="stop")
    patience: int | None = parameter(250, _PATIENCE, metavar="N", role="stop")
    variant: str = parameter(
        "ku",
        "Items to order and, after a colon, the mutation operator (otherwise self-adaptive), such as group-k:swap.",
        choices=(*ITEMS, *(f"{items}:{mutation}" for items in ITEMS for mutation in MUTATIONS)),
    )
    groups: int = parameter(40, "Number of groups by weight (the paper: 40, for its largest tables 20).", metavar="N")
    as_published: bool = parameter(False, _AS_PUBLISHED)


@dataclass(frozen=True)
class OrderingGaParameters(OrderingParameters, method="ordering-ga"):
    """Parameters of `ordering-ga`."""

    population: int = parameter(10, _POPULATION, metavar="N")


@dataclass(frozen=True)
class OrderingLsParameters(OrderingParameters, method="ordering-ls"):
    """Parameters of `ordering-ls`."""


@dataclass(frozen=True)
class IncrementalParameters(Parameters, method="incremental"):
    """Parameters of `incremental`."""

    variant: str | None = parameter(
        None, f"Use {CLEAN_UP} to remove redundant suppressions at the end.", choices=(CLEAN_UP,), unset="as published"
    )


@dataclass(frozen=True)
class PbpParameters(Parameters, method="pbp"):
    """Parameters of `pbp`."""

    population: int = parameter(20, _POPULATION, metavar="N")
    as_published: bool = parameter(False, _AS_PUBLISHED)


@dataclass(frozen=True)
class HypercubeParameters(Parameters, method="hypercube"):
    """Parameters of `hypercube`."""

    runs: int = parameter(10, "Random orders of the sensitive cells that are tried with --as-published.", metavar="N")
    as_published: bool = parameter(False, _AS_PUBLISHED)


@dataclass(frozen=True)
class CastroParameters(Parameters, method="castro"):
    """Parameters of `castro`."""

    as_published: bool = parameter(False, _AS_PUBLISHED)
