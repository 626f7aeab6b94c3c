"""The house rules: every package is shipped, the leaves stand alone, rooms look one way only."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpuga
from tests.rooms import EXCEPTIONS, PAGE, ROOMS, ROOT, Room, arrows, draw, imported, modules, room_of, syntax

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def packages(folder: Path, name: str) -> Iterator[str]:
    if (folder / "__init__.py").exists():
        yield name
        for below in folder.iterdir():
            if below.is_dir() and not below.is_symlink():
                yield from packages(below, f"{name}.{below.name}")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def test_every_package_is_listed() -> None:
    there = set(packages(ROOT / "gpuga", "gpuga"))
    for leaf in ("kernels", "lp"):
        there |= set(packages(ROOT / leaf, f"gpuga.{leaf}"))
    assert there == set(PYPROJECT["tool"]["setuptools"]["packages"])


def test_the_links_point_to_the_leaves() -> None:
    for leaf in ("kernels", "lp"):
        assert (ROOT / "gpuga" / leaf).is_symlink()
        assert (ROOT / "gpuga" / leaf).resolve() == (ROOT / leaf).resolve()


@pytest.mark.parametrize("leaf", ["kernels", "lp"])
def test_leaves_import_nothing_of_ours(leaf: str) -> None:
    for path in (ROOT / leaf).rglob("*.py"):
        depth = len(path.relative_to(ROOT / leaf).parts)
        for name in imports(path):
            climbs = len(name) - len(name.lstrip("."))
            assert not name.startswith("gpuga"), f"{path} imports {name}"
            assert climbs <= depth, f"{path} imports {name}"


def test_the_rules_let_every_room_look_down_only() -> None:
    names = [room.name for room in ROOMS]
    for place, room in enumerate(ROOMS):
        assert room.may_use <= set(names[:place]), f"{room.name} may use a room that stands beside or above it"


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_rooms_use_only_what_they_may(room: Room) -> None:
    for arrow in arrows():
        source, target = arrow.rooms
        if source == room.name and f"{source} -> {arrow.target}" not in EXCEPTIONS["arrows"]:
            assert target in room.may_use, f"{arrow.source} imports {arrow.target}"


def test_exceptions_that_are_no_longer_needed_are_taken_off_the_list() -> None:
    rules = {room.name: room.may_use for room in ROOMS}
    broken = {f"{a.rooms[0]} -> {a.target}" for a in arrows() if a.rooms[1] not in rules[a.rooms[0]]}
    assert set(EXCEPTIONS["arrows"]) == broken


def test_every_module_stands_in_a_room() -> None:
    assert {room_of(module) for module in modules()} == {room.name for room in ROOMS}


def test_the_drawing_of_the_rooms_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == draw(page), "run make house"


OWNERS = {"highspy": "lp", "cuopt": "lp", "cupy": "kernels", "cuda": "kernels", "click": "cli", "rich": "cli"}
OWNERS |= {"dask": "cluster", "distributed": "cluster"}


@pytest.mark.parametrize(("library", "owner"), OWNERS.items(), ids=str)
def test_libraries_are_imported_by_the_room_that_owns_them(library: str, owner: str) -> None:
    users = {name for name, path in modules().items() if library in {part.split(".")[0] for part in imports(path)}}
    strangers = {name for name in users if room_of(name) not in (owner, "bench")}
    assert strangers == set(EXCEPTIONS["libraries"].get(library, ()))


def test_what_belongs_together_is_passed_together() -> None:
    # a device's entry points take what a launch passes: plain arrays, by the launch table in the same file
    crowded = {name for name, path in modules().items() if any(count > 8 for count in parameters(path))}
    assert crowded == {"gpuga.kernels.cuda_kernels"}


def test_no_two_classes_have_the_same_name() -> None:
    """Whoever reads a name in a message or a traceback knows which class it is; bench is a program of its own."""
    places: dict[str, list[str]] = {}
    for module, path in modules().items():
        for node in ast.walk(syntax(path)):
            if isinstance(node, ast.ClassDef) and room_of(module) != "bench":
                places.setdefault(node.name, []).append(module)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def parameters(path: Path) -> Iterator[int]:
    """How many parameters each function of a file has, itself and what is passed on as a whole left out."""
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.FunctionDef):
            named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            yield sum(one.arg not in ("self", "cls") for one in named)


def test_every_longer_module_is_imported_by_a_test() -> None:
    tested = {module for path in (ROOT / "tests").rglob("*.py") for module in imported(path)}
    longer = {name for name, path in modules().items() if len(path.read_text(encoding="utf-8").splitlines()) > 60}
    called = {name for name in longer if room_of(name) in ("cli", "bench")}  # tests call commands by their words
    alone = {name for name in longer - tested - called if not mirror(name).exists()}
    assert alone == set(EXCEPTIONS["tests"]["reached_through_others"])


def mirror(module: str) -> Path:
    """Where the test of a module stands."""
    *folders, name = module.split(".")[1:]
    return ROOT.joinpath("tests", *folders, f"test_{name}.py")


def test_the_versions_agree() -> None:
    assert PYPROJECT["project"]["version"] == gpuga.__version__
    assert gpuga.__version__ in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {gpuga.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_server_runs_what_is_run_here_on_every_python_that_is_promised() -> None:
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    promised = [c.rpartition(" ")[2] for c in PYPROJECT["project"]["classifiers"] if "Python :: 3." in c]
    assert f"python: [{', '.join(f'{chr(34)}{version}{chr(34)}' for version in promised)}]" in workflow
    assert "- run: .ci/run" in workflow
    gpu = workflow.partition("\n  gpu:\n")[2]
    assert "vars.GPU_TESTS == 'true' && github.event_name == 'push'" in gpu
    assert "runs-on: [self-hosted, linux, gpu]" in gpu


def test_checks_before_a_commit_use_the_tools_of_the_project() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"repo: (\S+)", hooks) == ["local"]
    assert re.findall(r"entry: (\S+)", hooks) == [".venv/bin/ruff", ".venv/bin/ruff", ".venv/bin/mypy"]


def test_every_dependency_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    assert all("#" in line for line in block[1].splitlines())


def test_public_names_stay_functions() -> None:
    import gpuga.compare as _other  # noqa: F401
    import gpuga.protect as _module  # importing the module must not hide the function  # noqa: F401

    for name in ("read_table", "protect", "compare", "audit", "lower_bound", "exposure"):
        assert callable(getattr(gpuga, name)), name


def test_every_module_says_its_subject() -> None:
    for folder in ("gpuga", "kernels", "lp"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.name != "__init__.py":
                assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path
