"""Every block of code on the pages runs, in the order of the page, in a folder with the files that it names."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path
from string import Template

import pytest

import gpuga
from bench.__main__ import COMMANDS
from gpuga.cli.main import run
from tests.docs.pages import PAGES, ROOT, Block, blocks, name_of
from tests.docs.prepared import names_for, prepare, prepare_examples

NOT_RUN = {"text", "mermaid", "pycon"}
"""Forms of files and drawings: no code."""

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
TARGETS = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def commands(text: str) -> list[list[str]]:
    """The commands of a block as words, with what its variables stand for; comments and optional words are left out."""
    found: list[list[str]] = []
    variables: dict[str, str] = {}
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(Template(line).safe_substitute(variables), comments=True)
        if words and (given := re.fullmatch(r"([A-Z]+)=(.*)", words[0])):
            variables[given[1]] = given[2]
        elif words:
            found.append([word for word in words if not re.fullmatch(r"\[[A-Z]+\]", word)])
    return found


def run_command(words: list[str]) -> None:
    """Run a command of gpuga; of the others, which last long or need a network, see that there is such a thing."""
    program, *arguments = words
    if arguments[:1] == ["warm-up"]:  # compiles everything
        arguments = ["warm-up", "--help"]
    if program == "gpuga":
        assert run(["6" if word == "60" else word for word in arguments]) == 0, shlex.join(words)
    elif program == "make":
        assert TARGETS is not None
        assert arguments[0] in TARGETS.group(1).split(), shlex.join(words)
    elif program == "pip":
        named = [extra for word in arguments for extra in re.findall(r"\[(.+)\]", word)]
        assert named, shlex.join(words)
        assert set(named) <= EXTRAS.keys(), shlex.join(words)
    elif program.startswith(".ci/"):
        assert (ROOT / program).is_file()
    else:
        raise AssertionError(f"{program} is neither run nor checked: {shlex.join(words)}")


def blocks_of(page: Path) -> list[Block]:
    return [block for block in blocks(page.read_text(encoding="utf-8")) if block.language not in NOT_RUN]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_blocks_of_code_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path)
    if page.name == "README.md":
        prepare_examples(tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "page", **names_for(name_of(page), tmp_path)}
    for block in blocks_of(page):
        where = f"{name_of(page)}, line {block.line}"
        if block.language == "toml":
            assert tomllib.loads(block.text), where
            continue
        if block.language == "python":
            exec(compile(block.text.replace("seconds=60", "seconds=6"), where, "exec"), names)
            continue
        assert block.language == "sh", f"{where}: a block without a language that is known"
        for words in commands(block.text):
            run_command(words)


def test_examples_in_the_docstrings_of_the_reference_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    run_command(
        shlex.split("gpuga tabulate records.csv --by region,activity --value turnover --rule p:10 --out turnover.csv")
    )
    names = {"gpuga": gpuga, "table": gpuga.read_table("turnover.csv"), **names_for("README.md", tmp_path)}
    documented = [gpuga, *(getattr(gpuga, name) for name in gpuga.__all__ if not name.startswith("_"))]
    lines = [
        line.strip()[4:]
        for one in documented
        for line in (one.__doc__ or "").splitlines()
        if line.strip().startswith(">>> ")
    ]
    assert len(lines) >= 6
    for line in lines:
        exec(compile(line.replace("seconds=60", "seconds=5"), line, "exec"), names)
    assert Path("public.csv").exists()


def test_a_command_that_fails_or_is_unknown_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["gpuga", "audit", "nothing.csv", "p.csv"], ["make", "coffee"], ["pip", "install", ".[tea]"], ["rm"]):
        with pytest.raises(AssertionError):
            run_command(words)
    assert commands('A="b c"\ngpuga $A d') == [["gpuga", "b", "c", "d"]]
    assert commands("gpuga methods [NAME]  # one\n\nmake \\\n  x\n") == [["gpuga", "methods"], ["make", "x"]]


def test_the_benchmarks_that_pages_name_are_there() -> None:
    named = {
        name
        for page in PAGES
        for name in re.findall(r"python -m bench ([a-z][a-z0-9-]*)", page.read_text(encoding="utf-8"))
    }
    assert named >= {"papers", "contest", "throughput"}
    assert named <= COMMANDS.keys()
