"""Bounds: what no safe pattern can undercut, and proven optima."""
