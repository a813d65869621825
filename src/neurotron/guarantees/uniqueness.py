r"""Whether the true filter is the only one that explains the labels (Remark 1.2 of the paper).

Without an attack the filter w* has the risk E(f_w(x) − f_{w*}(x))² = 0, so every other minimum has
it too. The risk is at least that of its odd part, which is linear in d = w − w*:

.. math:: E(f_w - f_{w^*})^2 \ge c\,\|d\|^2, \qquad
          c = \left(\tfrac{1+\alpha}2\right)^2 \lambda_{\min}(\bar A \Sigma \bar A^\top) .

If c > 0, there is no second minimum (docs/theory.md (c)).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.guarantees.assumptions import Assumption, parity
from neurotron.problem import Problem
from neurotron.theory.constants import lambda3

__all__ = ["UniqueMinimum", "unique_minimum"]

NEGLIGIBLE, CANCELLED = 1e-14, 1e-28
"""Parts of the largest eigenvalue, and of the gates' own size, that are zero up to rounding."""


@dataclass(frozen=True)
class UniqueMinimum:
    """Whether w* is the only minimum of the risk, and what that rests on."""

    growth: float
    """c with E[ω(x) (f_w(x) − f_{w*}(x))²] ≥ c ‖w − w*‖² for every w; 0 if none is known."""
    weighting: str | None
    """The weight ω of that mean: None for 1, "inverse-norm" where inputs have no variance."""
    assumptions: tuple[Assumption, ...]

    @property
    def holds(self) -> bool:
        """Whether it is proved that there is no second minimum."""
        return all(assumption.holds for assumption in self.assumptions)

    @property
    def failed(self) -> tuple[Assumption, ...]:
        """The assumptions that do not hold: with them the proof fails, and w* may not be unique."""
        return tuple(assumption for assumption in self.assumptions if not assumption.holds)

    @property
    def statement(self) -> str:
        """What is proved, or which assumption is missing, in one sentence."""
        if self.holds:
            weighted = "" if self.weighting is None else " weighted by ‖x‖⁻²"
            return (
                "The true filter w* is the only minimum: the risk E(f_w(x) − f_w*(x))²"
                f"{weighted} is at least {self.growth:.4g} ‖w − w*‖²."
            )
        names = " and ".join(assumption.name for assumption in self.failed)
        return f"It is not proved that w* is the only minimum, because this does not hold: {names}."

    def __str__(self) -> str:
        return "\n".join([self.statement, *map(str, self.assumptions)])


def unique_minimum(problem: Problem) -> UniqueMinimum:
    """Return whether w* is the only filter without risk, or which assumption is missing.

    This is Remark 1.2 of the paper, with a bound. It needs no fourth moments and no sensing matrix:
    symmetric inputs, or a network that is linear, and a mean gate whose outputs Āx are not linearly
    dependent.

    Parameters
    ----------
    problem
        The problem; its true weights need not be known.

    Examples
    --------
    >>> import neurotron as nt
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal(scale=2.0))
    >>> nt.guarantees.unique_minimum(problem).growth
    1.0
    >>> opposite = nt.networks.from_gates([[[1.0, 0.0]], [[-1.0, 0.0]]])  # f_w = f_(−w)
    >>> print(nt.guarantees.unique_minimum(nt.Problem.draw(opposite, nt.Normal())).statement)
    It is not proved that w* is the only minimum, because this does not hold: rank(ĀΣ) = r.
    """
    network = _check.instance("problem", problem, Problem).network
    problem.data.require_seen("a unique minimum")
    assumptions = [] if network.is_linear else [parity(problem)]
    weighting = None if problem.covariance is not None else "inverse-norm"
    covariance = problem.weighted_covariance(weighting)
    if covariance is None:
        raise _check.InputError(
            f"the second moments of {problem.law!r} are not known, not even with inverse-norm "
            "weights: take Empirical(rows) as the law, with rows drawn from it"
        )
    spread = network.mean_gate @ covariance @ network.mean_gate.T
    cancelled = CANCELLED * lambda3(network) * float(np.linalg.norm(covariance, 2))
    assumptions.append(_full_rank(spread, cancelled))
    holds = all(assumption.holds for assumption in assumptions)
    least = float(np.linalg.eigvalsh(spread)[0])
    growth = network.odd_slope**2 * least if holds else 0.0
    return UniqueMinimum(growth, weighting, tuple(assumptions))


def _full_rank(spread: Array, cancelled: float) -> Assumption:
    """Return the assumption that no direction of the weights is without effect on Āx.

    Gates that cancel leave rounding errors in Ā, whose squares are below `cancelled`.
    """
    eigenvalues = np.linalg.eigvalsh(spread)
    rank = int((eigenvalues > max(NEGLIGIBLE * float(eigenvalues[-1]), cancelled)).sum())
    return Assumption(
        "rank(ĀΣ) = r",
        "The outputs Āx of the mean gate Ā = (1/k) Σ q_i A_i are linearly independent.",
        f"the rank is {rank} of {len(eigenvalues)}",
        f"rank {len(eigenvalues)}",
        rank == len(eigenvalues),
        "The filter can be changed without changing the odd part of the labels: use gates that do "
        "not cancel, and inputs that are not linearly dependent.",
    )
