"""The house rules: every package is shipped, the leaves stand alone, rooms look one way only."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpuga

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def packages(folder: Path, name: str) -> Iterator[str]:
    if (folder / "__init__.py").exists():
        yield name
        for below in folder.iterdir():
            if below.is_dir() and not below.is_symlink():
                yield from packages(below, f"{name}.{below.name}")


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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


@pytest.mark.parametrize(
    ("room", "may_use"),
    [
        ("table", {"table", "errors", "compiled"}),
        ("safety", {"table", "errors", "compiled", "safety", "kernels", "lp", "context", "circuits"}),
        ("problem", {"table", "errors", "compiled", "safety", "kernels", "lp", "context", "memory", "problem"}),
        ("circuits", {"table", "errors", "compiled", "safety", "kernels", "lp", "context", "problem", "circuits"}),
    ],
)
def test_rooms_look_one_way_only(room: str, may_use: set[str]) -> None:
    for path in (ROOT / "gpuga" / room).rglob("*.py"):
        for name in imports(path):
            if name.startswith("gpuga."):
                assert name.split(".")[1] in may_use, f"{path} imports {name}"


def test_only_the_room_of_solvers_imports_them() -> None:
    for folder in ("gpuga", "kernels", "bench", "examples"):
        for path in (ROOT / folder).rglob("*.py"):
            if ROOT / "lp" not in path.resolve().parents:
                assert not {name for name in imports(path) if name.split(".")[0] in {"highspy", "cuopt"}}, path


def test_the_versions_agree() -> None:
    assert PYPROJECT["project"]["version"] == gpuga.__version__
    assert gpuga.__version__ in (ROOT / "CHANGELOG.md").read_text()


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
