"""`python -m tests.release`: build a release, look into it, install it into an empty environment and use it there.

`make release-check` and the slow test of this name run it. The wheel is built from the sdist, so both are tried.
Packages that the wheel depends on come from wherever pip is set up to take them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from email import message_from_string
from email.message import Message
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SHIPPED = ("CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md")
"""Single files of the sdist beside the folders."""

UNWANTED = ("__pycache__", ".pyc", ".venv/", ".git/", "_cache/", "campaign-out", "demo-out", ".part")

Smoke = tuple[tuple[str, ...], ...]
SMOKE: Smoke = (
    ("--version",),
    ("doctor",),
    ("generate", "class2", "--rows", "6", "--cols", "6", "--seed", "1", "--out", "table.jj"),
    ("protect", "table.jj", "--out", "pattern.csv", "--proof", "proof.gz", "--json", "summary.json", "--seed", "1"),
    ("audit", "table.jj", "pattern.csv"),
    ("verify", "table.jj", "pattern.csv", "proof.gz"),
)
"""What a fresh installation must be able to do."""


class Unfit(Exception):
    """Why this is no release."""


def built(folder: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it."""
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)], check=True, env=outside())
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def outside() -> dict[str, str]:
    """The environment of the user without what leads back into this repository."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def check_wheel(wheel: Path) -> None:
    """Every module that is in the tree and nothing else, and the metadata that pyproject.toml promises."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        (entries,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
        _check_metadata(message_from_string(archive.read(metadata).decode("utf-8")))
        if "gpuga = gpuga.cli.main:main" not in archive.read(entries).decode("utf-8"):
            raise Unfit(f"{wheel.name} has no command gpuga")
    _refuse_unwanted(wheel, names)
    inside = {name for name in names if ".dist-info/" not in name}
    if inside != shipped_modules():
        raise Unfit(f"{wheel.name} differs from the tree in {', '.join(sorted(inside ^ shipped_modules()))}")
    if not any(name.endswith("/LICENSE") for name in names):
        raise Unfit(f"{wheel.name} has no licence")


def shipped_modules() -> set[str]:
    """Where every module of the tree lies once it is installed."""
    packages = {name: name.replace(".", "/") for name in PYPROJECT["tool"]["setuptools"]["packages"]}
    places = packages | PYPROJECT["tool"]["setuptools"]["package-dir"]
    modules = {f"{packages[name]}/{path.name}" for name in packages for path in (ROOT / places[name]).glob("*.py")}
    return modules | {"gpuga/py.typed"}


def _check_metadata(metadata: Message) -> None:
    project = PYPROJECT["project"]
    promised = {
        "Name": project["name"],
        "Version": project["version"],
        "Summary": project["description"],
        "Requires-Python": project["requires-python"],
        "License-Expression": project["license"],
        "Description-Content-Type": "text/markdown",
    }
    for name, value in promised.items():
        if metadata[name] != value:
            raise Unfit(f"the metadata say {name}: {metadata[name]}, not {value}")
    if set(metadata.get_all("Provides-Extra", [])) != set(project["optional-dependencies"]):
        raise Unfit("the metadata have other extras than pyproject.toml")
    if not str(metadata.get_payload()).strip():
        raise Unfit("the metadata have no description")


def check_sdist(sdist: Path) -> None:
    """All that somebody needs who wants to build, test and change it; no traces of work."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    _refuse_unwanted(sdist, names)
    missing = [name for name in SHIPPED if name not in names]
    missing += [f for f in ("tests", "bench", "docs", "examples") if not any(n.startswith(f"{f}/") for n in names)]
    if missing:
        raise Unfit(f"{sdist.name} lacks {', '.join(missing)}")


def _refuse_unwanted(archive: Path, names: set[str]) -> None:
    if found := sorted(name for name in names if any(part in name for part in UNWANTED)):
        raise Unfit(f"{archive.name} holds {', '.join(found[:5])}")


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel into an environment of its own and run every command of `SMOKE` there."""
    home = folder / "environment"
    venv.create(home, with_pip=True)
    install = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", str(wheel)]
    subprocess.run(install, check=True, env=outside())
    for words in SMOKE:
        print("gpuga", *words, flush=True)
        done = subprocess.run([str(home / "bin" / "gpuga"), *words], cwd=folder, env=outside())
        if done.returncode != 0:
            raise Unfit(f"gpuga {' '.join(words)} ends with exit code {done.returncode} in a fresh installation")


def main() -> int:
    """Check a release of this tree; 0 if it is fit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        try:
            sdist, wheel = built(folder / "dist")
            check_sdist(sdist)
            check_wheel(wheel)
            try_wheel(wheel, folder)
        except (Unfit, subprocess.CalledProcessError) as fault:
            print(f"no release: {fault}", file=sys.stderr)
            return 1
    print(f"{sdist.name} and {wheel.name} are fit to be released")
    return 0


if __name__ == "__main__":
    sys.exit(main())
