"""Where Neuro-Tron is drawn to if inputs are corrupted after their labels were computed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._types import Array
from neurotron.data import Corrupted
from neurotron.problem import Problem
from neurotron.theory.constants import sensing_of

__all__ = ["biased_weights"]


def biased_weights(problem: Problem, sensing: npt.ArrayLike) -> Array:
    r"""Return the weights w̄ at which Neuro-Tron's mean update is zero, with corrupted inputs.

    Labels are those of x, and the trainer sees x'. If (x, x') and (−x, −x') have the same law, only
    the odd parts of the outputs count, which are linear, so

    .. math:: M E[x'x'^\top] \bar A^\top \bar w = M E[x'x^\top] \bar A^\top w^* .

    This is a limit of the mean, not a guarantee: it is known only because the corruption is. It
    does not depend on the slope of the activation.

    Parameters
    ----------
    problem
        A problem whose data are `data.Corrupted`.
    sensing
        The sensing matrix M, shape (r, n).

    Examples
    --------
    >>> import neurotron as nt
    >>> noisy = nt.data.Corrupted(nt.Normal(), scale=0.5)
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(2), noisy, true_weights=[1.0, 2.0])
    >>> biased_weights(problem, [[1.0, 0.0], [0.0, 1.0]])  # w*/(1 + 0.5²)
    array([0.8, 1.6])
    """
    data = _check.instance("problem", problem, Problem).data
    if not isinstance(data, Corrupted):
        raise _check.InputError(f"the inputs of {data!r} are not corrupted, so w̄ is w* itself")
    data.law.require_symmetric("the limit of the mean")
    truth = problem.true_weights
    if truth is None:
        raise _check.InputError("the problem has no `true_weights`: give them to Problem.draw")
    moments = data.seen_moments(problem.network)
    if moments is None:
        raise _check.InputError(
            f"E[x'x'ᵀ] or E[x'xᵀ] is not known for {data!r}: take normal inputs, or "
            "Empirical(rows) with rows drawn from the law"
        )
    matrix, gate = sensing_of(problem, sensing), problem.network.mean_gate
    seen, mixed = (matrix @ moment @ gate.T for moment in moments)
    if np.linalg.matrix_rank(seen) < len(seen):
        raise _check.InputError(
            "`sensing` leaves more than one limit, because M E[x'x'ᵀ] Āᵀ has no inverse: use "
            "another matrix, such as problem.sensing_matrix('optimal')"
        )
    return np.asarray(np.linalg.solve(seen, mixed @ truth))
