r"""Other coordinates of the weights, in which a guarantee says more (docs/theory.md (e)).

With an invertible T and :math:`v = Tw`, the network has the gates :math:`T^{-\top}A_i`, and an
update with the sensing matrix M is one of v with TM. So everything that is proved about
:math:`\|w - w_*\|` holds for :math:`\|v - v_*\|`, with these matrices in place of the old ones. Two
choices are of use.

- With :math:`T^\top T = R` and :math:`E(f_w(x) - f_{w_*}(x))^2 \le (w - w_*)^\top R\, (w - w_*)`, a
  bound on :math:`\|v - v_*\|` is a bound on the prediction error. It is much smaller than what
  follows from :math:`\|w - w_*\|` if predictions depend more on some directions than on others.
- With :math:`T^\top T = K = \bar A \Sigma \bar A^\top` and the sensing matrix "optimal", one leaky
  gate needs no symmetry (`theory.leaky_gate`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neurotron._types import Array
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem

WORST = 1e6
"""The largest condition number of TᵀT, in units that suit its columns: beyond it, rounding errors
are no longer small."""
MARGIN = 1.0 + 1e-6
"""Factor by which norms of T and of its inverse are rounded up."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates v = Tw; by default, those of the weights themselves."""

    forward: Array | None = None
    """T, (r, r)."""
    back: Array | None = None
    """The inverse of T, (r, r)."""
    stretches: float = 1.0
    """At least the norm of T: ‖v‖ is at most this times ‖w‖."""
    shrinks: float = 1.0
    """At least the norm of the inverse of T: ‖w‖ is at most this times ‖v‖."""
    of_gate: bool = False
    """Whether they are those in which one leaky gate needs no symmetry."""

    @property
    def name(self) -> str:
        """Whose coordinates they are: the weights', the predictions' or one gate's."""
        if self.forward is None:
            return "weights"
        return "gate" if self.of_gate else "predictions"

    @classmethod
    def of(cls, form: Array, *, of_gate: bool = False) -> Coordinates | None:
        """Return those with TᵀT = `form`, (r, r); None if it is nearly singular.

        The units of the weights may differ: powers of two, which are exact, make them alike.
        """
        sizes = np.diag(form)
        if not np.isfinite(form).all() or not (sizes > 0.0).all():
            return None
        units = np.exp2(-np.round(np.log2(sizes) / 2.0))
        values, frame = np.linalg.eigh(units[:, None] * form * units)
        if not values[0] * WORST > values[-1]:
            return None
        roots = np.sqrt(values)
        forward, back = (
            (frame * roots) @ frame.T / units,
            units[:, None] * (frame / roots) @ frame.T,
        )
        return cls(
            forward=forward,
            back=back,
            stretches=MARGIN * float(np.linalg.norm(forward, 2)),
            shrinks=MARGIN * float(np.linalg.norm(back, 2)),
            of_gate=of_gate,
        )

    def updates(self, matrix: Array) -> Array:
        """Return TM for the matrix M of an update, or T applied to weights."""
        return matrix if self.forward is None else self.forward @ matrix

    def gates(self, matrix: Array) -> Array:
        """Return the transposed inverse of T times A for the matrix A of a gate."""
        return matrix if self.back is None else self.back.T @ matrix

    def form(self, matrix: Array) -> Array:
        """Return the matrix of a quadratic form of w as a form of v."""
        return matrix if self.back is None else self.back.T @ matrix @ self.back


ORIGINAL = Coordinates()


def output_form(network: FilterNetwork, moments: Array) -> Array:
    r"""Return :math:`c^2\bar AS\bar A^\top + \Lambda^2 \frac1k\sum_i q_i^2A_iSA_i^\top`.

    With S = E[g xxᵀ] for an even g(x), it is a form of w − w* that is never less than the mean of
    g(x)(f_w(x) − f_{w*}(x))². The odd part of the output is linear in w, and orthogonal to the even
    part; Jensen's inequality bounds the even part gate by gate.
    """
    gate = network.mean_gate
    odd, even = gate @ moments @ gate.T, network.mean_congruence(moments)
    return network.odd_slope**2 * odd + network.even_lipschitz**2 * even


def for_predictions(problem: Problem) -> Coordinates | None:
    """Return coordinates in which distances bound prediction errors, as if inputs were symmetric.

    There are none without second moments, or if predictions hardly depend on some direction.
    """

    def find() -> Coordinates | None:
        covariance = problem.covariance
        if covariance is None:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            return Coordinates.of(output_form(problem.network, covariance))

    return problem.once("coordinates of predictions", find)
