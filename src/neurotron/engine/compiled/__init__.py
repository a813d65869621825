"""The cohort loop, compiled: formulas on numbers, inside loops that work on eight arms at once."""
