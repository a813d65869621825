"""The list of the built-in laws, and their names.

To add one, import it here like the others and put it in `BUILT_IN`. Its name in text, its export
from `neurotron.laws` and its place in the compiled loop follow from that.
"""

from __future__ import annotations

import numpy as np

from neurotron import _check
from neurotron._registry import Registry
from neurotron._types import Array
from neurotron.laws.base import Law, ProductLaw, ScaledLaw
from neurotron.laws.correlated import Correlated
from neurotron.laws.empirical import Empirical
from neurotron.laws.laplace import Laplace as Laplace
from neurotron.laws.normal import Normal as Normal
from neurotron.laws.rademacher import Rademacher as Rademacher
from neurotron.laws.rows_file import read_rows
from neurotron.laws.student_t import StudentT as StudentT
from neurotron.laws.uniform import Uniform as Uniform

BUILT_IN: tuple[type[ScaledLaw], ...] = (Normal, Laplace, StudentT, Uniform, Rademacher)


def named_inside(text: str, n_inputs: int | None = None) -> Law:
    """Return a law that is a parameter of another one, written with semicolons for commas.

    >>> named_inside("student-t:dof=4;scale=2")
    StudentT(scale=2.0, dof=4.0)
    """
    defaults = {} if n_inputs is None else {"n_inputs": n_inputs}
    return BY_NAME.build(_check.text("law", text).replace(";", ","), **defaults)


def _autoregressive(rho: float, n_inputs: int, law: str = "normal") -> Correlated:
    """Return inputs of variance 1 with correlation rho^|i − j| between x_i and x_j."""
    rho = _check.number("rho", rho, "(-1, 1)")
    place = np.arange(_check.integer("n_inputs", n_inputs, 1, 3000))
    return _correlated(rho ** np.abs(np.subtract.outer(place, place)), law)


def _equicorrelated(rho: float, n_inputs: int, law: str = "normal") -> Correlated:
    """Return inputs of variance 1 with the same correlation rho between all of them."""
    n = _check.integer("n_inputs", n_inputs, 1, 3000)
    rho = _check.number("rho", rho, "(-1, 1)")
    if rho * (n - 1) <= -1.0:
        raise _check.InputError(
            f"`rho` must be above {-1.0 / (n - 1):.4g} for {n} inputs, got {rho:g}: no inputs have "
            "such correlations"
        )
    return _correlated(np.where(np.eye(n, dtype=bool), 1.0, rho), law)


def _correlated(covariance: Array, law: str) -> Correlated:
    """Return the law with a covariance, from independent coordinates of a built-in law."""
    base = named_inside(law)
    if not isinstance(base, ProductLaw):
        raise _check.InputError(
            f"`law` must have independent coordinates, such as normal or laplace, got {law!r}"
        )
    return Correlated.from_covariance(covariance, base)


def _empirical(rows: str, symmetrized: bool = False, sha256: str | None = None) -> Empirical:
    """Return the rows of a file, each drawn with the same probability.

    The file is a CSV file of numbers or a .npy file. In studies its sha256 must be given.
    """
    return Empirical(read_rows(rows, sha256), symmetrized)


_NAMED = Registry.of("law", BUILT_IN, Law).factories
BY_NAME: Registry[Law] = Registry(
    "law",
    {
        **_NAMED,
        "autoregressive": _autoregressive,
        "equicorrelated": _equicorrelated,
        "empirical": _empirical,
    },
    Law,
)
