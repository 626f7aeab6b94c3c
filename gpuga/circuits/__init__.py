"""Circuits: how proofs of safety are made and kept."""
