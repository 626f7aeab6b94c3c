"""Files: tables and hierarchies in, tables and patterns out; one module per format."""
