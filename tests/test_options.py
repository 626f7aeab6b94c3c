"""Every method says which options it takes; what it does not take is refused, and named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gpuga
from gpuga import parameters
from gpuga.cli.main import run
from gpuga.declared import Parameter
from gpuga.errors import InputError
from gpuga.evolution import ordering_ga, replacement, selection
from gpuga.methods import METHODS, find_method
from gpuga.parameters import CircuitsParameters
from gpuga.table.generate import herrington
from gpuga.table.table import Table

GOOD: dict[str, Any] = {
    "population": 4, "generations": 2, "patience": 2, "improvement_rate": 0.1, "selection": "elite",
    "replacement": "elite", "without": ("prover",), "checkpoint": "folder", "resume": True, "log": "log",
    "variant": None,
}  # fmt: skip
BAD: dict[str, list[Any]] = {
    "population": [0, -1, 2.5, "10", True, float("nan"), [3]],
    "generations": [-1, 1.5, "many"],
    "patience": [0, "2"],
    "improvement_rate": [-0.1, float("nan"), float("inf"), "fast"],
    "selection": ["nonsense", "", 3],
    "replacement": ["nonsense", 3],
    "without": ["prover", ("nothing",), 3],
    "checkpoint": [3],
    "resume": ["yes", 1],
    "log": [3],
    "variant": ["zzz", "ku:jump", 3],
}

WRONG: dict[type, list[Any]] = {int: [2.5, "10", True], float: ["fast", float("nan")], bool: ["yes", 1], str: [3]}
"""What an option of a type cannot be, whatever it means."""


@pytest.fixture(scope="module")
def table() -> Table:
    return herrington(5, 5, 0.1, 1)


@pytest.mark.parametrize("method", [m.name for m in METHODS])
@pytest.mark.parametrize("option", GOOD)
def test_a_method_refuses_the_options_that_it_does_not_use(method: str, option: str) -> None:
    chosen = find_method(method)
    if option in [known.name for known in chosen.options]:
        given = {option: GOOD[option]} | ({"checkpoint": "folder"} if option == "resume" else {})
        taken = vars(chosen.checked(given))
        assert {name: taken[name] for name, value in given.items() if value is not None} == {
            name: value for name, value in given.items() if value is not None
        }
    else:
        with pytest.raises(InputError, match=f"--{option.replace('_', '-')}: is not an option of {method}"):
            chosen.checked({option: GOOD[option]})


@pytest.mark.parametrize(
    ("method", "option"), [(m.name, o) for m in METHODS for o in m.options], ids=lambda x: getattr(x, "name", x)
)
def test_a_method_refuses_values_that_an_option_cannot_have(method: str, option: Parameter) -> None:
    for value in BAD.get(option.name, WRONG.get(option.kind, [object()])):
        with pytest.raises(InputError, match=f"{option.flag}: .*{method}"):
            find_method(method).checked({option.name: value})


def test_the_least_value_of_an_option_is_taken() -> None:
    given = {"population": 1, "patience": 1, "improvement_rate": 0}
    assert find_method("circuits").checked(given) == CircuitsParameters(population=1, patience=1, improvement_rate=0.0)


@pytest.mark.parametrize("method", [m.name for m in METHODS])
def test_a_misspelt_option_is_refused_by_every_method(table: Table, method: str) -> None:
    with pytest.raises(InputError, match=f"--populaton: is not an option of {method}"):
        gpuga.protect(table, method, options={"populaton": 5})


@pytest.mark.parametrize("method", [m.name for m in METHODS])
def test_only_methods_that_start_from_patterns_take_them(table: Table, method: str) -> None:
    if find_method(method).starts:
        assert find_method(method).checked({}, [table.suppressible]) == find_method(method).parameters()
    else:
        with pytest.raises(InputError, match=f"--start: is not an option of {method}"):
            gpuga.protect(table, method, start=[table.suppressible])


def test_a_start_that_publishes_a_sensitive_cell_is_refused(table: Table) -> None:
    with pytest.raises(InputError, match="publishes the sensitive"):
        gpuga.protect(table, "circuits", start=[table.forced & False])


@pytest.mark.parametrize("method", [m.name for m in METHODS])
def test_the_options_of_a_method_are_listed_and_taken_by_the_command(
    method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["methods", method]) == 0
    said = capsys.readouterr().out
    assert run(["protect", "--help"]) == 0
    taken = capsys.readouterr().out
    for option in find_method(method).options:
        assert f"  {option.flag}  " in said
        assert (f"  {option.flag} " in taken) != option.python_only
    assert ("--start" in said) == find_method(method).starts


def test_resume_needs_a_checkpoint() -> None:
    with pytest.raises(InputError, match="needs --checkpoint"):
        find_method("circuits").checked({"resume": True})
    assert find_method("circuits").checked({"resume": False}) == CircuitsParameters(resume=False)


def test_the_words_of_options_are_those_that_the_methods_know() -> None:
    assert set(parameters.SELECTIONS) == set(selection.SELECTIONS)
    assert set(parameters.REPLACEMENTS) == set(replacement.REPLACEMENTS)
    assert {*ordering_ga.OPERATORS, ordering_ga.SELF_ADAPTIVE} == set(parameters.MUTATIONS)


def test_a_population_that_the_memory_cannot_hold_is_refused(table: Table) -> None:
    with pytest.raises(InputError, match=r"--population: 1,000,000,000 is more than the memory"):
        gpuga.protect(table, "heurgene", options={"population": 10**9})


REFUSED = [
    "--method castro --population 500",
    "--method castro --selection nonsense",
    "--method shortest-path --checkpoint folder",
    "--method shortest-path --log log.jsonl",
    "--method hypercube --variant zzz",
    "--method ordering-ga --variant zzz",
    "--method heurgene --selection dissimilar",
    "--method gapn --selection dissimilar",
    "--method gapn --replacement elite",
    "--method heurgene --resume",
    "--method exact --generations 5",
    "--resume",
    "--selection nonsense",
    "--replacement nonsense",
    "--improvement-rate nan",
    "--improvement-rate inf",
    "--population 1000000000",
    "--population 99999999999999999999999999",
]


@pytest.mark.parametrize("words", REFUSED)
def test_the_command_refuses_them_in_one_sentence(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    gpuga.write_table(herrington(5, 5, 0.1, 1), "t.csv")
    assert run(["protect", "t.csv", "--out", "p.csv", "--quiet", *words.split()]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert next(word for word in reversed(words.split()) if word.startswith("--")) in said
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
