"""The command line: words and numbers in and out, one small file per command."""
