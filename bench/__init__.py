"""Benchmarks: python -m bench NAME.  Each one is a module of this package with a function main(arguments)."""
