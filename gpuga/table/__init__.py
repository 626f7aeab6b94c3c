"""Tables: cells, equations, levels; exact integers throughout."""

from gpuga.table.plane import Plane, plane_of
from gpuga.table.table import INFINITE, Dimension, Grid, Levels, Lines, Status, Table

__all__ = ["INFINITE", "Dimension", "Grid", "Levels", "Lines", "Plane", "Status", "Table", "plane_of"]
