"""Heuristics: safe patterns built step by step."""
