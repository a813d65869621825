"""``python -m evidence [module …]``: compute what is missing in docs/evidence, check all of it.

With names, such as ``python -m evidence sharpness recovery``, only those modules. A change of the
code makes all rows count as missing; ``EVIDENCE_KEEPS=1 python -m evidence`` keeps rows of other
code, which say so, and computes only rows that were never computed.
"""

import sys

from evidence import (
    catalog_claims,
    defence,
    defence_limits,
    heavy_tails,
    recovery,
    sharpness,
)

MODULES = (
    catalog_claims, recovery, sharpness, heavy_tails, defence, defence_limits,
)  # fmt: skip
chosen = sys.argv[1:]
unknown = set(chosen) - {module.__name__.removeprefix("evidence.") for module in MODULES}
if unknown:
    sys.exit(f"no such module of evidence: {', '.join(sorted(unknown))}")
for module in MODULES:
    if not chosen or module.__name__.removeprefix("evidence.") in chosen:
        module.run()
print("all evidence present and in favour")
