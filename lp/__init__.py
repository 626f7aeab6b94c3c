"""Linear programs: sparse matrices and bounds in, points and duals out. A leaf: knows no table."""
