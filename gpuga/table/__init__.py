"""Tables: cells, equations, levels; exact integers throughout."""

from gpuga.table.table import INFINITE, Dimension, Grid, Levels, Lines, Status, Table
from gpuga.table.two_way import TwoWayTable, two_way_table

__all__ = ["INFINITE", "Dimension", "Grid", "Levels", "Lines", "Status", "Table", "TwoWayTable", "two_way_table"]
