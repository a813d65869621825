"""How fast it is: frozen workloads, measured as ratios in one run (``make bench``).

``BENCHMARKS_QUICK=1 make bench`` is a rehearsal in a few minutes: everything runs, but briefly, and
the table goes to out/benchmarks instead of docs/evidence.
"""
