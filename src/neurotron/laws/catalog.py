"""The list of the built-in laws, and their names.

To add one, import it here like the others and put it in `BUILT_IN`. Its name in text, its export
from `neurotron.laws` and its place in the compiled loop follow from that.
"""

from __future__ import annotations

import numpy as np

from neurotron import _check
from neurotron._registry import Registry
from neurotron.laws.base import Law, ScaledLaw
from neurotron.laws.correlated import Correlated
from neurotron.laws.corrupted import Corrupted
from neurotron.laws.laplace import Laplace as Laplace
from neurotron.laws.normal import Normal as Normal
from neurotron.laws.rademacher import Rademacher as Rademacher
from neurotron.laws.student_t import StudentT as StudentT
from neurotron.laws.uniform import Uniform as Uniform

BUILT_IN: tuple[type[ScaledLaw], ...] = (Normal, Laplace, StudentT, Uniform, Rademacher)


def _corrupted(scale: float, probability: float = 1.0, law: str = "normal") -> Corrupted:
    """Return inputs with normal noise, added after the labels were computed.

    The law is written as elsewhere, with a semicolon between its parameters:
    law=student-t:dof=4;scale=2.
    """
    _check.instance("law", law, str)
    return Corrupted(BY_NAME.build(law.replace(";", ",")), scale, probability)


def _autoregressive(rho: float, n_inputs: int) -> Correlated:
    """Return normal inputs with correlation rho^|i − j| between x_i and x_j."""
    rho = _check.number("rho", rho, "(-1, 1)")
    place = np.arange(_check.integer("n_inputs", n_inputs, 1, 3000))
    return Correlated.from_covariance(rho ** np.abs(np.subtract.outer(place, place)))


_NAMED = Registry.of("law", BUILT_IN).factories
BY_NAME: Registry[Law] = Registry(
    "law", {**_NAMED, "autoregressive": _autoregressive, "corrupted": _corrupted}
)
