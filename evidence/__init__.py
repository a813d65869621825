"""The large evidence behind our claims: ``make verify`` computes it, ``docs/evidence`` keeps it."""
