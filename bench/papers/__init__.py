"""The papers' experiments run again: tables from the papers' generators, their methods and ours, side by side."""
