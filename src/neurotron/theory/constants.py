r"""The constants that the guarantees use (paper, section 2; docs/theory.md (c), (d)).

.. math:: \lambda_1 = \lambda_{\min}(\mathrm{sym}(\bar A \Sigma M^\top)), \quad
          \lambda_2 = \|M\|_2, \quad \lambda_3 = \tfrac1k \textstyle\sum_i q_i^2 \|A_i\|_2^2

They are meaningful only for a parity-symmetric law; an asymmetric one is refused.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem


def lambda1(problem: Problem, sensing: npt.ArrayLike, weighting: str | None = None) -> float:
    """Return λ1, the smallest eigenvalue of the symmetric part of ĀΣMᵀ, Σ = E[ω xxᵀ].

    It must be positive for Neuro-Tron to converge. The paper states λ_min of a matrix that need not
    be symmetric; its proof uses dᵀĀΣMᵀd, which depends on the symmetric part only.

    Parameters
    ----------
    problem
        The problem, whose law must be parity symmetric.
    sensing
        The sensing matrix M, shape (r, n).
    weighting
        None for ω = 1, or "inverse-norm" for ω = ‖x‖⁻².
    """
    _check.instance("problem", problem, Problem).law.require_symmetric("λ1")
    matrix = sensing_of(problem, sensing)
    product = problem.network.mean_gate @ _covariance(problem, weighting) @ matrix.T
    return float(np.linalg.eigvalsh((product + product.T) / 2.0)[0])


def lambda2(sensing: npt.ArrayLike) -> float:
    """Return λ2, the spectral norm of M."""
    return float(np.linalg.norm(_check.array("sensing", sensing, ("r", "n")), 2))


def lambda3(network: FilterNetwork) -> float:
    """Return λ3 = (1/k) Σ q_i² ‖A_i‖₂²."""
    _check.instance("network", network, FilterNetwork)
    norms = np.linalg.norm(network.gates, 2, axis=(1, 2))
    return float(np.mean((network.outer_weights * norms) ** 2))


def sensing_of(problem: Problem, sensing: npt.ArrayLike) -> Array:
    """Return a sensing matrix after checking that it fits the problem, (r, n)."""
    network = problem.network
    shape = network.filter_size, network.n_inputs
    return _check.array("sensing", sensing, shape, _check.LARGEST)


def _covariance(problem: Problem, weighting: str | None = None) -> Array:
    covariance = problem.weighted_covariance(weighting)
    if covariance is None:
        raise _check.InputError(f"{problem.law!r} has no finite covariance")
    return covariance
