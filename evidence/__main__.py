"""``python -m evidence``: compute what is missing in docs/evidence, check all of it."""

from evidence import (
    comparison,
    heavy_tails,
    interruption,
    mirror,
    plans,
    recovery,
    safety,
    sharpness,
    streams,
)

for module in (
    streams, mirror, recovery, safety, sharpness, heavy_tails, plans, comparison, interruption,
):  # fmt: skip
    module.run()
print("all evidence present and in favour")
