"""Parameters are declared once; help, documentation, summaries and checkpoints follow from the declarations."""

from __future__ import annotations

import dataclasses
import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import gpuga
from gpuga.cli.main import run
from gpuga.cli.report import summary
from gpuga.declared import Parameters
from gpuga.errors import InputError
from gpuga.methods import METHODS, Method, find_method
from gpuga.parameters import CircuitsParameters, GapnParameters, HeurGeneParameters, PbpParameters, SolverParameters
from gpuga.table.generate import herrington

ROOT = Path(__file__).parents[1]
DECLARED = [method for method in METHODS if method.options]


@pytest.mark.parametrize("method", DECLARED, ids=lambda method: method.name)
def test_a_method_takes_an_object_of_the_class_that_bears_its_name(method: Method) -> None:
    assert method.parameters.method == method.name
    assert method.checked({}) == method.parameters()
    assert dataclasses.is_dataclass(method.parameters)


@pytest.mark.parametrize("cls", [*(method.parameters for method in DECLARED), SolverParameters])
def test_every_parameter_has_a_valid_default_and_a_meaning_in_one_sentence(cls: type[Parameters]) -> None:
    assert vars(cls()) == {one.name: one.default for one in cls.declared()}
    for one in cls.declared():
        assert one.meaning.endswith(".")
        assert one.default is not None or one.unset or one.role in ("file", "machine")


def test_parameters_are_checked_when_they_are_made_and_never_change() -> None:
    with pytest.raises(InputError, match="--population: 0 is too small: pbp needs at least 1"):
        PbpParameters(population=0)
    with pytest.raises(InputError, match="--population: pbp needs a whole number, not 'None'"):
        PbpParameters(population=None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown selection 'dissimilar' of gapn"):
        GapnParameters(selection="dissimilar")
    with pytest.raises(InputError, match="--resume: needs --checkpoint"):
        CircuitsParameters(resume=True)
    with pytest.raises(dataclasses.FrozenInstanceError):
        PbpParameters().population = 3  # type: ignore[misc]
    assert CircuitsParameters(checkpoint=Path("folder")).checkpoint == "folder"  # type: ignore[arg-type]


def test_the_same_parameters_by_name_and_as_an_object_give_the_same_pattern() -> None:
    table = herrington(12, 10, 0.06, 2)
    named = gpuga.protect(table, "heurgene", options={"generations": 4, "population": 6})
    typed = gpuga.protect(table, "heurgene", parameters=HeurGeneParameters(generations=4, population=6))
    assert named.parameters == typed.parameters
    assert (named.suppressed == typed.suppressed).all()


def test_parameters_of_another_method_or_given_twice_are_refused() -> None:
    table = herrington(5, 5, 0.1, 1)
    with pytest.raises(InputError, match="HeurGeneParameters are not the parameters of circuits"):
        gpuga.protect(table, parameters=HeurGeneParameters())
    with pytest.raises(InputError, match="not in both"):
        gpuga.protect(table, "pbp", parameters=PbpParameters(), options={"population": 3})
    assert gpuga.protect(table, "pbp", parameters=PbpParameters(), options={"no_fallback": True}).audit.safe


def test_the_summary_records_what_was_used_defaults_included() -> None:
    found = gpuga.protect(herrington(8, 8, 0.08, 1), "pbp", options={"population": 3})
    assert summary(found)["parameters"] == {"population": 3, "as_published": False}
    assert summary(gpuga.protect(herrington(8, 8, 0.08, 1), "pbp"))["parameters"] == {
        "population": 20,
        "as_published": False,
    }
    used = CircuitsParameters(log="log", checkpoint="folder", without=("prover",)).values()
    assert {"population", "generations", "patience", "without"} <= set(used)
    assert not {"log", "checkpoint", "resume"} & set(used), "where files lie is no part of how a pattern was found"
    json.dumps(used)


def test_a_parameter_at_its_default_changes_nothing() -> None:
    table = herrington(8, 8, 0.08, 1)
    plain, said = gpuga.protect(table), gpuga.protect(table, options={"population": CircuitsParameters().population})
    assert plain.found.details == said.found.details
    assert not CircuitsParameters(population=256, log="log").changed()
    assert CircuitsParameters(population=255, patience=3, log="log").changed() == {"population", "patience"}


@pytest.mark.parametrize(("given", "limited", "patience"), [(None, False, 100), (None, True, None), (3, True, 3)])
def test_the_patience_of_circuits(given: int | None, limited: bool, patience: int | None) -> None:
    assert CircuitsParameters(patience=given).patience_for(limited) == patience


@pytest.mark.parametrize("word", ["--population", "--generations", "--patience"])
def test_a_zero_is_refused_and_not_taken_for_nothing(
    word: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gpuga.write_table(herrington(5, 5, 0.1, 1), tmp_path / "t.csv")
    assert run(["protect", str(tmp_path / "t.csv"), "--out", str(tmp_path / "p.csv"), word, "0"]) == 2
    assert capsys.readouterr().err == f"gpuga: {word}: 0 is too small: circuits needs at least 1\n"


def test_the_help_names_meaning_methods_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["protect", "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Population size. [circuits: 256; heurgene, ordering-ga: 10; gensup, gapn, pbp: 20]" in said
    assert run(["methods", "gapn"]) == 0
    assert "--population (integer >= 1; default: 20) Population size." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("words", [["protect", "--help"], ["methods"], ["methods", "circuits"], ["compare", "--help"]])
def test_help_about_methods_loads_nothing_heavy(words: list[str]) -> None:
    heavy = "{'numpy', 'numba', 'scipy', 'highspy', 'cupy', 'deap'}"
    code = (
        f"import sys; from gpuga.cli.main import run; code = run({words}); "
        f"print(code, sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "0 []"


def test_the_tables_in_the_documentation_are_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "make_methods.py"))
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    assert script["page"](text) == text, "run make docs"
    for method in METHODS:
        assert f"### {method.name}\n" in text


def test_methods_without_parameters_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="is not an option of shortest-path, which has no options of its own"):
        find_method("shortest-path").checked({"population": 3})
    assert run(["methods", "shortest-path"]) == 0
    assert "no options of its own" in capsys.readouterr().out
