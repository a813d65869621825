"""Guarantees: certificates of what training will reach, plans, and verification afterwards.

>>> import neurotron as nt
>>> problem = nt.Problem.draw(nt.networks.relu_gate(4), nt.Normal(), seed=1)
>>> nt.certify(problem, nt.Arm(nt.NeuroTron("fastest")), batch_size=16, steps=5000).kind
'theorem'
"""

from neurotron.guarantee import Assumption, Guarantee
from neurotron.guarantees.certificate import Certificate
from neurotron.guarantees.certify import certify
from neurotron.guarantees.paper import (
    UniqueMinimum,
    biased_weights,
    impersonated_mean,
    unique_minimum,
)
from neurotron.guarantees.plan import NotAchievable, Plan, plan
from neurotron.guarantees.verify import Verification, verify

__all__ = [
    "Assumption", "Certificate", "Guarantee", "NotAchievable", "Plan", "UniqueMinimum",
    "Verification", "biased_weights", "certify", "impersonated_mean", "plan", "unique_minimum",
    "verify",
]  # fmt: skip
