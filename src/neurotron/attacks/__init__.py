"""Who tampers with the labels: one attack = one formula.

>>> import neurotron as nt
>>> nt.attacks.AlternatingSign(bound=0.25, probability=0.5)
AlternatingSign(bound=0.25, probability=0.5)
"""

from neurotron.attacks.adaptive import Adaptive
from neurotron.attacks.alternating_sign import AlternatingSign
from neurotron.attacks.base import Attack, Query
from neurotron.attacks.budget import Budget
from neurotron.attacks.burst import Burst
from neurotron.attacks.constant import Constant
from neurotron.attacks.half_space import HalfSpace
from neurotron.attacks.impersonation import Impersonation
from neurotron.attacks.large_norm import LargeNorm
from neurotron.attacks.mixture import Mixture
from neurotron.attacks.multiplicative import Multiplicative
from neurotron.attacks.names import BY_NAME, build
from neurotron.attacks.odd_direction import OddDirection
from neurotron.attacks.random_sign import RandomSign
from neurotron.attacks.replacement import Replacement
from neurotron.attacks.sign_flip import SignFlip
from neurotron.attacks.uniform_noise import UniformNoise

__all__ = [
    "BY_NAME",
    "Adaptive",
    "AlternatingSign",
    "Attack",
    "Budget",
    "Burst",
    "Constant",
    "HalfSpace",
    "Impersonation",
    "LargeNorm",
    "Mixture",
    "Multiplicative",
    "OddDirection",
    "Query",
    "RandomSign",
    "Replacement",
    "SignFlip",
    "UniformNoise",
    "build",
]
