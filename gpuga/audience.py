"""For whom something is written: what the office keeps says so on its face."""

from __future__ import annotations

OFFICE = "office"
"""The audience of everything but what `gpuga publish` and `gpuga report --public` write."""

CONFIDENTIAL = "CONFIDENTIAL: internal use only"
