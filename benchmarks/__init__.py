"""How fast it is: frozen workloads, measured as ratios within one run (``python -m benchmarks``)."""
