"""The numbers behind the guarantees: constants, recursions, and the paper's Theorem 1.

Everything here is a function of networks, moments, sensing matrices and budgets. Statements about
trainers are in `neurotron.guarantees`.
"""

from neurotron.theory.constants import lambda1, lambda2, lambda3
from neurotron.theory.corollaries import (
    compensating_weight,
    gaussian_risk_probability,
    gaussian_scale,
    gaussian_trade_off,
)
from neurotron.theory.recursion import Recursion
from neurotron.theory.sharp import SharpConstants, sharp_constants
from neurotron.theory.theorem1 import Theorem1

__all__ = [
    "Recursion", "SharpConstants", "Theorem1", "compensating_weight", "gaussian_risk_probability",
    "gaussian_scale", "gaussian_trade_off", "lambda1", "lambda2", "lambda3", "sharp_constants",
]  # fmt: skip
