"""How fast it is: frozen workloads, measured as ratios in one run (``make bench``)."""
