"""A release is checked before it is one: what it holds, what its metadata say, and that a fresh installation works."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

from tests.release import PYPROJECT, ROOT, SHIPPED, Unfit, check_sdist, check_wheel, main, shipped_modules

METADATA = f"""\
Metadata-Version: 2.4
Name: gpuga
Version: {PYPROJECT["project"]["version"]}
Summary: {PYPROJECT["project"]["description"]}
Requires-Python: {PYPROJECT["project"]["requires-python"]}
License-Expression: Apache-2.0
Description-Content-Type: text/markdown
{chr(10).join(f"Provides-Extra: {extra}" for extra in PYPROJECT["project"]["optional-dependencies"])}

# gpuga
"""
ABOUT = {
    "METADATA": METADATA,
    "entry_points.txt": "[console_scripts]\ngpuga = gpuga.cli.main:main\n",
    "licenses/LICENSE": "Apache",
}


def wheel_of(folder: Path, modules: set[str], about: dict[str, str]) -> Path:
    wheel = folder / "gpuga-0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in sorted(modules):
            archive.writestr(name, "")
        for name, text in about.items():
            archive.writestr(f"gpuga-0.dist-info/{name}", text)
    return wheel


def test_a_wheel_of_the_whole_tree_is_fit(tmp_path: Path) -> None:
    check_wheel(wheel_of(tmp_path, shipped_modules(), ABOUT))


@pytest.mark.parametrize(
    ("extra", "lost", "word"),
    [
        ({"tests/test_house.py"}, set(), "test_house"),
        ({"gpuga/__pycache__/x.pyc"}, set(), "pycache"),
        (set(), {"gpuga/kernels/logic/judge.py"}, "logic/judge"),
        (set(), {"gpuga/py.typed"}, "py.typed"),
    ],
)
def test_a_wheel_that_differs_from_the_tree_is_not(tmp_path: Path, extra: set[str], lost: set[str], word: str) -> None:
    with pytest.raises(Unfit, match=word):
        check_wheel(wheel_of(tmp_path, (shipped_modules() | extra) - lost, ABOUT))


@pytest.mark.parametrize(
    ("name", "old", "new", "word"),
    [
        ("METADATA", "Version: 0", "Version: 99", "99"),
        ("METADATA", "Provides-Extra: files\n", "", "extras"),
        ("METADATA", "\n# gpuga\n", "\n", "description"),
        ("entry_points.txt", "gpuga = ", "other = ", "command"),
    ],
)
def test_metadata_must_say_what_pyproject_says(tmp_path: Path, name: str, old: str, new: str, word: str) -> None:
    assert old in ABOUT[name]
    with pytest.raises(Unfit, match=word):
        check_wheel(wheel_of(tmp_path, shipped_modules(), ABOUT | {name: ABOUT[name].replace(old, new)}))


def sdist_of(folder: Path, names: set[str]) -> Path:
    sdist = folder / "gpuga-0.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        for name in sorted(names):
            archive.addfile(tarfile.TarInfo(f"gpuga-0/{name}"), BytesIO())
    return sdist


def test_an_sdist_brings_tests_and_documentation_along(tmp_path: Path) -> None:
    complete = {*SHIPPED, "tests/x.py", "bench/x.py", "docs/x.md", "examples/x.py"}
    check_sdist(sdist_of(tmp_path, complete))
    for missing, word in (("LICENSE", "LICENSE"), ("tests/x.py", "tests"), ("docs/x.md", "docs")):
        with pytest.raises(Unfit, match=word):
            check_sdist(sdist_of(tmp_path, complete - {missing}))
    with pytest.raises(Unfit, match="campaign-out"):
        check_sdist(sdist_of(tmp_path, complete | {"tests/campaign-out/x"}))


@pytest.mark.slow
def test_a_release_of_this_tree_works_in_an_empty_environment(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("build", reason="pip install '.[dev]' brings what builds a release")
    assert main() == 0
    assert "fit to be released" in capfd.readouterr().out


def test_a_release_check_is_one_command() -> None:
    asked = subprocess.run(["make", "-n", "-C", str(ROOT), "release-check"], capture_output=True, text=True, check=True)
    assert "-m tests.release" in asked.stdout
