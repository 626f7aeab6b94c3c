"""Where cuts come from: the only place where two-way tables and others differ."""
