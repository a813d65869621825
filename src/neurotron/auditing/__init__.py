"""Audits of any regressor: what an attacker can do to a model, and what nobody can do.

The function is `neurotron.audit`.
"""

from neurotron._extras import require

require("sklearn")

from neurotron.auditing.auditor import audit  # noqa: E402
from neurotron.auditing.finding import (  # noqa: E402
    Breaking,
    Ceiling,
    Damage,
    InfluentialRow,
    Remedy,
)
from neurotron.auditing.report import Audit  # noqa: E402

__all__ = ["Audit", "Breaking", "Ceiling", "Damage", "InfluentialRow", "Remedy", "audit"]
