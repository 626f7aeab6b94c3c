"""Mutation testing: one small change of the code at a time, and whether any test notices it."""
