"""Safe patterns made of fractional or broken ones: by paths in two-way tables, by covers in others."""
