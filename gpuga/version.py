"""The version, for whatever is written down with it."""

__version__ = "0.1.0"
