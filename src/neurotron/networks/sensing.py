r"""Sensing matrices M: the trainer's own, r × n.

Neuro-Tron moves by M x where a gradient method moves by the network's gradient. What M can do is
governed by :math:`\bar A \Sigma M^\top` with :math:`\Sigma = E[xx^\top]`: training needs its
symmetric part to be positive definite, λ1 > 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neurotron import _check, _seeds
from neurotron._types import Array
from neurotron.networks.network import FilterNetwork

__all__ = ["SENSING", "gaussian", "mean", "optimal", "polar", "sensing_matrix", "wishart"]

SENSING = ("optimal", "polar", "mean")


def mean(network: FilterNetwork) -> Array:
    """Return M = Ā, the paper's choice."""
    return network.mean_gate


def polar(network: FilterNetwork, covariance: npt.ArrayLike) -> Array:
    r"""Return the polar factor M = U Vᵀ of ĀΣ = U S Vᵀ.

    No other matrix has a larger λ1/λ2 = λ_min(sym(ĀΣMᵀ))/‖M‖₂, on which Theorem 1's trade-off and
    rate depend; it attains s_min(ĀΣ).
    """
    left, singular, right = np.linalg.svd(
        network.mean_gate @ _covariance(network, covariance), full_matrices=False
    )
    _require_rank(singular)
    return _check.freeze(left @ right)


def optimal(network: FilterNetwork, covariance: npt.ArrayLike) -> Array:
    r"""Return M = (ĀΣĀᵀ)⁻¹Ā, for which ĀΣMᵀ = I.

    By Gauss–Markov no M has a smaller error floor √λ_max(MΣMᵀ)/λ1 under attack.

    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=6, filter_size=2, width=4)
    >>> bool(np.allclose(network.mean_gate @ nt.networks.sensing.optimal(network, np.eye(6)).T,
    ...                  np.eye(2)))
    True
    """
    gate = network.mean_gate
    gram = gate @ _covariance(network, covariance) @ gate.T
    _require_rank(np.sqrt(np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0)))
    return _check.freeze(np.asarray(np.linalg.solve(gram, gate), np.float64))


def gaussian(filter_size: int, n_inputs: int, *, seed: int = 0) -> Array:
    """Return a matrix of independent N(0, 1) entries (r × n), full rank checked.

    >>> gaussian(2, 5).shape
    (2, 5)
    """
    r, n = _shape(filter_size, n_inputs)
    return _full_rank(_seeds.generator(seed, "sensing", "gaussian").standard_normal((r, n)))


def wishart(filter_size: int, n_inputs: int, *, degrees: int | None = None, seed: int = 0) -> Array:
    """Return Remark 1's matrix: a Wishart block Σ g_i g_iᵀ (r × r), completed by N(0, 1) columns.

    `degrees` is the number of terms g_i ~ N(0, I_r); the block has full rank only from r on
    (default).

    >>> wishart(2, 5).shape
    (2, 5)
    """
    r, n = _shape(filter_size, n_inputs)
    terms = _check.integer("degrees", r if degrees is None else degrees, 1)
    if terms < r:
        raise _check.InputError(
            f"`degrees` must be at least `filter_size` = {r} for full rank, got {terms}"
        )
    draw = _seeds.generator(seed, "sensing", "wishart")
    factors = draw.standard_normal((r, terms))
    return _full_rank(np.hstack([factors @ factors.T, draw.standard_normal((r, n - r))]))


def sensing_matrix(
    sensing: str | npt.ArrayLike, network: FilterNetwork, covariance: Array | None
) -> Array:
    """Return the matrix meant by a trainer's `sensing`: a word of `SENSING`, or an array.

    `covariance` is Σ, None if the law has none (only "mean" and a given array need none).
    """
    if not isinstance(sensing, str):
        return _full_rank(_check.array("sensing", sensing, (network.filter_size, network.n_inputs)))
    _check.choice("sensing", sensing, SENSING)
    if sensing == "mean":
        return mean(network)
    if covariance is None:
        raise _check.InputError(
            f"sensing={sensing!r} needs a law of finite variance: use sensing='mean' or an array"
        )
    return polar(network, covariance) if sensing == "polar" else optimal(network, covariance)


def _covariance(network: FilterNetwork, covariance: npt.ArrayLike) -> Array:
    return _check.array("covariance", covariance, (network.n_inputs, network.n_inputs))


def _shape(filter_size: int, n_inputs: int) -> tuple[int, int]:
    n = _check.integer("n_inputs", n_inputs, 1)
    return _check.integer("filter_size", filter_size, 1, n), n


def _full_rank(matrix: Array) -> Array:
    singular = np.linalg.svd(matrix, compute_uv=False)
    if singular[-1] <= singular[0] * matrix.shape[1] * np.finfo(float).eps:
        raise _check.InputError("the sensing matrix must have full rank: its rows are dependent")
    return _check.freeze(matrix)


def _require_rank(singular: Array) -> None:
    """Refuse rank(ĀΣ) < r; 1e-7 leaves room for the square root of a rounded eigenvalue."""
    if not singular[-1] > 1e-7 * singular[0]:
        raise _check.InputError(
            "no sensing matrix can train this network on this law: the mean gate Ā = (1/k) Σ q_i "
            "A_i, seen through the covariance of x, has dependent rows (rank(ĀΣ) < filter_size); "
            "a circular convolution needs a stride, opposite gates need different outer weights"
        )
