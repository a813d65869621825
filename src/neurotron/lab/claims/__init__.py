"""Claims: statements of the paper and of this package that results can be tested against.

A study names its claims. `evaluate` returns a judgement on each: the verdict, the effect (what was
measured, in words) and the findings behind it.

>>> import neurotron as nt
>>> nt.lab.CLAIMS["impersonation-wins"].source
'section 3.5'
>>> nt.lab.VERDICTS
('holds', 'true of the published code only', 'does not hold', 'undecided', 'not tested')
"""

from neurotron.lab.claims.catalog import CLAIMS, evaluate, write
from neurotron.lab.claims.model import VERDICTS, Claim, Finding, Judgement

__all__ = ["CLAIMS", "VERDICTS", "Claim", "Finding", "Judgement", "evaluate", "write"]
