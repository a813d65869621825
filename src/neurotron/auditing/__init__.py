"""What can an attacker do to my model? Audits of any regressor, with exact ceilings where they exist.

The function is `neurotron.audit`.
"""

from neurotron.auditing.auditor import audit
from neurotron.auditing.finding import Breaking, Ceiling, Damage, InfluentialRow, Remedy
from neurotron.auditing.report import Audit

__all__ = ["Audit", "Breaking", "Ceiling", "Damage", "InfluentialRow", "Remedy", "audit"]
