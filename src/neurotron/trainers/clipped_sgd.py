"""Gradient descent with residuals clipped at a low quantile: the defence's second stage."""

from __future__ import annotations

from dataclasses import dataclass, field

from neurotron.trainers.robust_sgd import RobustSGD

__all__ = ["ClippedSGD"]


@dataclass(frozen=True, eq=False, repr=False)
class ClippedSGD(RobustSGD):
    r"""Gradient descent with residuals clipped at a low quantile of their size.

    .. math:: w \leftarrow w + \frac{c}{\overline{\|\nabla f\|^2}}\, \frac1b \sum_{i=1}^b
              \mathrm{clip}(v_i - f_w(x_i),\, \pm\tau)\, \nabla f_w(x_i)

    Labels that were not attacked are exact, so τ falls with the error as long as they are the
    majority, and with it what an attacked label can do. From a start near w* it mostly ends at w*
    to machine precision (docs/defence.md); from elsewhere it may end in the basin of another
    filter, such as −w*. The defence that starts it at the right place is `RefinedTron`.

    Parameters
    ----------
    pace
        c, the length of steps: None for ½√b, at most tr K / λ_max(K) with K = ĀΣĀᵀ.
    quantile
        p in (0, 1): τ is the p-quantile of |residual|. Small p needs fewer honest labels; smaller
        than the share of labels that fit by accident it stands still.
    speed
        s in (0, 1], how fast τ follows.
    weighting
        None, or "inverse-norm" for inputs without a variance.
    averaging
        Whether weights are averaged (see `Trainer`).

    Examples
    --------
    >>> import neurotron as nt
    >>> nt.ClippedSGD()
    ClippedSGD(quantile=0.2, speed=0.05)
    """

    quantile: float = field(default=0.2, kw_only=True)
