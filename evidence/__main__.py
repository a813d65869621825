"""``python -m evidence``: compute what is missing in docs/evidence, check all of it."""

from evidence import (
    catalog_claims,
    comparison,
    defence,
    defence_limits,
    heavy_tails,
    interruption,
    plans,
    recovery,
    safety,
    sharpness,
    streams,
)

MODULES = (
    catalog_claims, interruption, streams, recovery, safety, sharpness, heavy_tails, plans,
    comparison, defence, defence_limits,
)  # fmt: skip
for module in MODULES:
    module.run()
print("all evidence present and in favour")
