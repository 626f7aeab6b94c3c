"""The campaign: a long run that looks for a table, an input or a fault on which gpuga's promises fail.

`python -m tests.campaign` runs it (`make campaign`). The judges (`problem`, `simplex`, `judge`, `optimum`) share
no line with the product; only `product` and the parts that provoke it import gpuga.
"""
