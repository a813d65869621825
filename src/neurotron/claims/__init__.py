"""Statements as executable checks: the paper's, and those of the other studies of the catalog.

A study names its claims; `evaluate` judges its results by these.

>>> import neurotron as nt
>>> nt.claims.CLAIMS["impersonation-wins"].source
'section 3.5'
>>> nt.claims.VERDICTS
('holds', 'holds only as published', 'does not hold', 'undecided', 'not tested')
"""

from neurotron.claims.catalog import CLAIMS
from neurotron.claims.judging import evaluate, write
from neurotron.claims.model import VERDICTS, Claim, Finding, Judgement

__all__ = ["CLAIMS", "VERDICTS", "Claim", "Finding", "Judgement", "evaluate", "write"]
