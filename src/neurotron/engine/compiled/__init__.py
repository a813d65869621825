"""The compiled cohort loop, which works on eight arms at once."""
