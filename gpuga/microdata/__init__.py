"""Microdata: tabulation, local suppression and global recoding."""
