"""What a pattern takes away and why: losses, reasons, and a page to look at."""
