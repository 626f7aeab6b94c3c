"""A real browser, where there is one: what a page looks like once its script has run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

BROWSER = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)

needs_browser = pytest.mark.skipif(BROWSER is None, reason="no chromium or chrome is installed")


def dom(page: Path, *, width: int = 1200) -> str:
    """The document of a page after its script has run."""
    assert BROWSER is not None
    words = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={page.parent / 'profile'}"]
    words += [f"--window-size={width},900", "--virtual-time-budget=3000", "--dump-dom", page.as_uri()]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=True).stdout
