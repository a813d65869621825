r"""How far training on a table moves if stored labels are changed before it.

Let :math:`z_1, …, z_N` be whitened rows, :math:`\frac1N \sum_i z_i z_i^\top = I`. Training draws
batches of b rows with replacement and makes steps
:math:`v \leftarrow v + \frac{\eta}{b} \sum_i (y_i - v^\top z_i) z_i`. It is linear in the labels,
so a change δ of the labels moves the weights by a d that obeys the same rule with the labels δ. Let
at most k entries of δ be other than 0, each at most θ, and let δ not depend on the draws. Its mean
is :math:`E[d] = (1 - \rho)\mu + \rho\, d_1` with :math:`\mu = \frac1N\sum_i \delta_i z_i`, the
start :math:`d_1` and :math:`\rho = (1-\eta)^t` after t steps. If the mean label is subtracted
first, and added to the constant at the end, the change starts at the constant that is the mean of
δ, which is the projection of μ to a unit vector. So E[d] is never longer than

.. math:: m = \theta \min\Big(\sqrt{k/N},\; \frac1N \sum_{\text{top } k} \|z_i\|\Big) \ge \|\mu\| .

For the deviation :math:`c = d - E[d]`, a step has
:math:`c' = (1-\eta) c + \eta \xi` with :math:`E[\xi \mid d] = 0` and
:math:`E\|\xi\|^2 \le \frac1b E[((\delta - d^\top z) \|z\|)^2]`. With

.. math:: L^2 = \lambda_{\max}\Big(\frac1N\sum_i \|z_i\|^2 z_i z_i^\top\Big), \qquad
          s^2 = \frac{\theta^2}{N} \sum_{\text{top } k} \|z_i\|^2

and the triangle inequality in the space of squares, :math:`q = E\|c\|^2` obeys

.. math:: q' \le (1-\eta)^2 q + \frac{\eta^2}{b}\big(s + L\sqrt{m^2 + q}\big)^2 .

The right side grows with q, and q starts at 0. So q never exceeds the fixed point, which is
:math:`u^2 - m^2` for the larger solution u of
:math:`u^2 - m^2 = f (s + L u)^2` with :math:`f = \eta / ((2 - \eta) b)`, if :math:`f L^2 < 1`.
"""

from __future__ import annotations

import math

import numpy as np

from neurotron import _check
from neurotron._types import Array

__all__ = ["moved_mean", "moved_spread", "quartic"]

ROUNDED = 1e-9
"""Part by which a computed bound is rounded up."""


def quartic(rows: Array) -> float:
    """Return L², the largest eigenvalue of the mean of ‖z‖²zzᵀ over whitened rows z, (N, r)."""
    sizes = (rows**2).sum(axis=1)
    return float(np.linalg.eigvalsh((rows * sizes[:, None]).T @ rows / len(rows))[-1])


def moved_mean(rows: Array, *, bound: float, most: int) -> float:
    """Return m, how far the mean of the weights moves at most.

    Parameters
    ----------
    rows
        Whitened rows z, (N, r).
    bound
        θ, the largest change of a label.
    most
        k, the most labels that are changed.
    """
    lengths = _longest(rows, most)
    share = math.sqrt(len(lengths) / len(rows))
    return bound * min(share, float(lengths.sum()) / len(rows)) * (1.0 + ROUNDED)


def moved_spread(
    rows: Array, *, bound: float, most: int, step_size: float, batch_size: int
) -> float:
    """Return √q, a bound on the root mean square of the deviation of the weights from their mean.

    It is infinite if the steps are too large for a bound.

    Parameters
    ----------
    rows
        Whitened rows z, (N, r).
    bound
        θ, the largest change of a label.
    most
        k, the most labels that are changed.
    step_size
        η, at most 1.
    batch_size
        b, the number of rows in a step.

    Examples
    --------
    >>> ones = np.ones((100, 1))
    >>> round(moved_spread(ones, bound=1.0, most=1, step_size=0.01, batch_size=1), 4)
    0.008
    """
    eta = _check.number("step_size", step_size, "(0, 1]")
    lengths = _longest(rows, most)
    m = moved_mean(rows, bound=bound, most=most)
    s = bound * math.sqrt(float((lengths**2).sum()) / len(rows))
    square = quartic(rows) * (1.0 + ROUNDED)
    f = eta / ((2.0 - eta) * batch_size)
    left = 1.0 - f * square
    if left <= 0.0:
        return math.inf
    half = f * s * math.sqrt(square)
    u = (half + math.sqrt(half**2 + left * (m**2 + f * s**2))) / left
    return math.sqrt(max(u**2 - m**2, 0.0)) * (1.0 + ROUNDED)


def _longest(rows: Array, most: int) -> Array:
    """Return the lengths of the longest rows."""
    lengths = np.sort(np.linalg.norm(rows, axis=1))
    return lengths[len(lengths) - min(most, len(lengths)) :]
