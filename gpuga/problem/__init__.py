"""What has to be protected, with which cells: made once per run and handed on."""
