"""The attacker: what he can compute from a pattern, and the exact proofs that he cannot."""
