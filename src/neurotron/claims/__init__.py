"""Statements as executable checks: the paper's, and those of the studies `mirror` and `frontier`.

>>> import neurotron as nt
>>> nt.claims.VERDICTS
('holds', 'holds only as published', 'does not hold', 'undecided', 'not tested')
"""

from neurotron.claims.families import FAMILIES, evaluate, family_of, write
from neurotron.claims.model import VERDICTS, Claim, Finding
from neurotron.claims.paper import CLAIMS

__all__ = [
    "CLAIMS", "FAMILIES", "VERDICTS", "Claim", "Finding", "evaluate", "family_of", "write",
]  # fmt: skip
