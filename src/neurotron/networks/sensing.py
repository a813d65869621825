r"""Sensing matrices M, r × n, which Neuro-Tron uses in place of gradients.

Neuro-Tron moves along M x where a gradient method moves along the network's gradient. Whether that
works depends on :math:`\bar A \Sigma M^\top` with :math:`\Sigma = E[xx^\top]`: its symmetric part
must be positive definite, λ1 > 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neurotron import _check, _seeds
from neurotron._types import Array
from neurotron.networks.network import FilterNetwork

SENSING = ("optimal", "polar", "mean", "center")


def mean(network: FilterNetwork) -> Array:
    """Return M = Ā, the paper's choice."""
    return _check.instance("network", network, FilterNetwork).mean_gate


def center(network: FilterNetwork) -> Array:
    """Return M = (1/k) Σ A_i, the mean gate without outer weights.

    For symmetric gates M ± jC it is their center M. The paper trains networks with different outer
    weights with this one matrix (section 3.6).

    >>> import neurotron as nt
    >>> heavy = nt.networks.symmetric(n_inputs=6, filter_size=2, width=4, outer_weights=10.0)
    >>> bool(np.allclose(heavy.mean_gate, 10.0 * center(heavy)))
    True
    """
    _check.instance("network", network, FilterNetwork)
    every = np.ones(network.width)
    share = (every if network.mix is None else every @ network.mix) / network.width
    return _check.freeze(network.basis.combine(share))


def polar(network: FilterNetwork, covariance: npt.ArrayLike) -> Array:
    r"""Return the polar factor M = U Vᵀ of ĀΣ = U S Vᵀ.

    It has the largest possible ratio λ1/λ2 = λ_min(sym(ĀΣMᵀ))/‖M‖₂, which is s_min(ĀΣ). The
    trade-off and the rate of Theorem 1 depend on this ratio.

    Parameters
    ----------
    network
        The network to train.
    covariance
        Σ = E[xxᵀ] of the inputs, (n, n).
    """
    sigma = _covariance(network, covariance)
    _require_trainable(network, sigma)
    left, _, right = np.linalg.svd(network.mean_gate @ sigma, full_matrices=False)
    return _check.freeze(left @ right)


def optimal(network: FilterNetwork, covariance: npt.ArrayLike) -> Array:
    r"""Return M = (ĀΣĀᵀ)⁻¹Ā, for which ĀΣMᵀ = I.

    By the Gauss–Markov theorem, no other M has a smaller error floor √λ_max(MΣMᵀ)/λ1 under attack.

    Parameters
    ----------
    network
        The network to train.
    covariance
        Σ = E[xxᵀ] of the inputs, (n, n).

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=6, filter_size=2, width=4)
    >>> bool(np.allclose(network.mean_gate @ nt.networks.sensing.optimal(network, np.eye(6)).T,
    ...                  np.eye(2)))
    True
    """
    sigma = _covariance(network, covariance)
    _require_trainable(network, sigma)
    gate = network.mean_gate
    return _check.freeze(np.asarray(np.linalg.solve(gate @ sigma @ gate.T, gate), np.float64))


def gaussian(filter_size: int, n_inputs: int, *, seed: int = 0) -> Array:
    """Return a matrix of full rank with independent N(0, 1) entries.

    Parameters
    ----------
    filter_size, n_inputs
        The shape r × n of the matrix, r ≤ n.
    seed
        Seed of the matrix.

    Examples
    --------
    >>> gaussian(2, 5).shape
    (2, 5)
    """
    r, n = _shape(filter_size, n_inputs)
    return _full_rank(_seeds.generator(seed, "sensing", "gaussian").standard_normal((r, n)))


def wishart(filter_size: int, n_inputs: int, *, degrees: int | None = None, seed: int = 0) -> Array:
    """Return Remark 1's matrix: a Wishart block Σ g_i g_iᵀ (r × r), extended by N(0, 1) columns.

    Parameters
    ----------
    filter_size, n_inputs
        The shape r × n of the matrix, r ≤ n.
    degrees
        Number of terms g_i ~ N(0, I_r), at least r, so that the block has full rank; r by default.
    seed
        Seed of the matrix.

    Examples
    --------
    >>> wishart(2, 5).shape
    (2, 5)
    """
    r, n = _shape(filter_size, n_inputs)
    terms = _check.integer("degrees", r if degrees is None else degrees, 1)
    _check.entries("the terms", r, terms)
    if terms < r:
        raise _check.InputError(
            f"`degrees` must be at least `filter_size` = {r} for full rank, got {terms}"
        )
    draw = _seeds.generator(seed, "sensing", "wishart")
    factors = draw.standard_normal((r, terms))
    return _full_rank(np.hstack([factors @ factors.T, draw.standard_normal((r, n - r))]))


def sensing_matrix(
    sensing: str | npt.ArrayLike,
    network: FilterNetwork,
    covariance: Array | None,
    remedy: str = "",
) -> Array:
    """Return the matrix described by a trainer's `sensing`: a name in `SENSING`, or an array.

    `covariance` is Σ, or None if the law has none; "optimal" and "polar" need it. A `remedy` is
    added to the advice of the error message in that case.
    """
    _check.instance("network", network, FilterNetwork)
    if covariance is not None:
        covariance = _check.array("covariance", covariance, (network.n_inputs,) * 2)
    _require_trainable(network, covariance)
    if not isinstance(sensing, str):
        shape = (network.filter_size, network.n_inputs)
        return _full_rank(_check.array("sensing", sensing, shape))
    _check.choice("sensing", sensing, SENSING)
    if sensing in ("mean", "center"):
        return mean(network) if sensing == "mean" else center(network)
    if covariance is None:
        raise _check.InputError(
            f"sensing={sensing!r} needs a law of finite variance: use {remedy}sensing='mean' or an "
            "array"
        )
    return polar(network, covariance) if sensing == "polar" else optimal(network, covariance)


def _covariance(network: FilterNetwork, covariance: npt.ArrayLike) -> Array:
    _check.instance("network", network, FilterNetwork)
    sigma = _check.array("covariance", covariance, (network.n_inputs, network.n_inputs))
    largest = np.abs(sigma).max()
    if not np.allclose(sigma, sigma.T, rtol=1e-10, atol=1e-12 * largest):
        raise _check.InputError("`covariance` must be symmetric")
    if np.linalg.eigvalsh(sigma)[0] < -1e-10 * largest:
        raise _check.InputError("`covariance` must not have negative eigenvalues")
    return sigma


def _shape(filter_size: int, n_inputs: int) -> tuple[int, int]:
    n = _check.integer("n_inputs", n_inputs, 1)
    r = _check.integer("filter_size", filter_size, 1, n)
    _check.entries("the sensing matrix", r, n)
    return r, n


def _full_rank(matrix: Array) -> Array:
    if np.linalg.matrix_rank(matrix) < len(matrix):
        raise _check.InputError(
            "the sensing matrix must have full rank, but its rows are linearly dependent"
        )
    return _check.freeze(matrix)


def _require_trainable(network: FilterNetwork, covariance: Array | None) -> None:
    """Refuse rank(ĀΣ) < r, where no M gives λ1 > 0 (docs/errata.md#e12)."""
    gate = network.mean_gate
    seen = gate if covariance is None else gate @ covariance
    if np.linalg.matrix_rank(seen) < network.filter_size:
        raise _check.InputError(
            "no sensing matrix can train this network on these inputs: the mean gate Ā = (1/k) Σ "
            "q_i A_i times the covariance of x has linearly dependent rows, up to rounding "
            "(rank(ĀΣ) < filter_size). Rows of data must have at least as many different inputs as "
            "the filter has weights, and no column that is a combination of others; a circular "
            "convolution needs a stride above 1; opposite gates need different outer weights"
        )
