"""The paper's statements as executable checks: what holds, what holds only as published.

>>> import neurotron as nt
>>> nt.claims.VERDICTS
('reproduced', 'reproduced only as published', 'not reproduced', 'not covered')
"""

from neurotron.claims.model import VERDICTS, Claim, Finding
from neurotron.claims.paper import CLAIMS, evaluate
from neurotron.claims.record import write

__all__ = ["CLAIMS", "VERDICTS", "Claim", "Finding", "evaluate", "write"]
