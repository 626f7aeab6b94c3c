"""Beyond one process: islands of one table, and many jobs, on processes of this machine or on a Dask cluster."""
