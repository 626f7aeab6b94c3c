"""Tools of the tests: independent oracles and small random tables."""
