"""Evolution: genetic algorithms whose chromosomes carry their own proof of safety, driven by DEAP."""
