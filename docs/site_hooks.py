"""What the site has besides the pages in docs: files of the repository, notebooks, the Python reference, benchmarks.

mkdocs calls `on_files` and `on_page_markdown`. Links are written as they work in the repository; here they are turned
to where their targets are on the site, and what is no page is copied.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))
from site_api import api_page
from site_benchmarks import benchmark_page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "bench/RESULTS.md": "results.md",
    "bench/EARLIER.md": "earlier_results.md",
}
"""Pages that are made from files outside docs, by the places of these files."""

COPIED = "repository"
"""The folder of the site for files of the repository that pages link to."""

LINK = re.compile(r"\]\(([^)\s]+)\)")


def target_of(link: str, source: Path) -> Path | None:
    """The file of the repository that a link in `source` leads to; None for addresses and for places on the page."""
    path = link.partition("#")[0]
    if not path or re.match(r"[a-z]+:", path):
        return None
    return Path(os.path.normpath(source.parent / path))


def place_of(target: Path) -> str:
    """Where a file of the repository is on the site."""
    inside = target.relative_to(ROOT).as_posix()
    if inside in OUTSIDE:
        return OUTSIDE[inside]
    if target.is_relative_to(DOCS):
        return target.relative_to(DOCS).as_posix().replace(".ipynb", ".md")
    return f"{COPIED}/{inside}"


def relinked(text: str, source: Path, place: str) -> str:
    """A page whose links lead to places of the site; `place` is its own. Blocks of code stay as they are."""

    def turned(match: re.Match[str]) -> str:
        link = match.group(1)
        target = target_of(link, source)
        if target is None:
            return match.group(0)
        anchor = "".join(link.partition("#")[1:])
        return f"]({os.path.relpath(place_of(target), os.path.dirname(place) or '.')}{anchor})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(turned, part) for part in parts)


def notebook_page(path: Path) -> str:
    """A notebook as a page: its texts, and its code in blocks."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    source = f"This page is the notebook `docs/notebooks/{path.name}`, which the tests run.\n"
    parts = []
    for cell in cells:
        text = "".join(cell["source"]).rstrip()
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    return "\n\n".join([parts[0], source, *parts[1:]]) + "\n"


def made_pages() -> dict[str, str]:
    """The pages that no file in docs is, by their places."""
    pages = {
        place: relinked((ROOT / name).read_text(encoding="utf-8"), ROOT / name, place)
        for name, place in OUTSIDE.items()
    }
    for path in sorted((DOCS / "notebooks").glob("*.ipynb")):
        place = place_of(path)
        pages[place] = relinked(notebook_page(path), path, place)
    return pages | {"api.md": api_page(), "benchmarks.md": benchmark_page(ROOT / "bench" / "results")}


def copied_files() -> set[Path]:
    """The files of the repository that some page links to and that are no pages."""
    sources = [*(ROOT / name for name in OUTSIDE), *DOCS.glob("*.md")]
    found = set()
    for source in sources:
        for link in LINK.findall(source.read_text(encoding="utf-8")):
            target = target_of(link, source)
            if target is not None and target.is_file() and place_of(target).startswith(f"{COPIED}/"):
                found.add(target)
    return found


def on_files(files: Files, *, config: Any) -> Files:
    """Add the made pages and the copied files; notebooks are there as pages."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(file)
    for place, text in made_pages().items():
        files.append(File.generated(config, place, content=text))
    for path in sorted(copied_files()):
        files.append(File.generated(config, place_of(path), content=path.read_bytes()))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Turn the links of the pages in docs; those of made pages are turned already."""
    source = DOCS / page.file.src_uri
    return relinked(markdown, source, page.file.src_uri) if source.is_file() else markdown
