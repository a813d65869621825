"""Gradient descent with residuals clipped at a low quantile: the defence's second stage."""

from __future__ import annotations

from dataclasses import dataclass, field

from neurotron.trainers.robust_sgd import RobustSGD


@dataclass(frozen=True, eq=False, repr=False)
class ClippedSGD(RobustSGD):
    r"""Gradient descent with residuals clipped at a low quantile of their size.

    .. math:: w \leftarrow w + \frac{c}{\overline{\|\nabla f\|^2}}\, \frac1b \sum_{i=1}^b
              \mathrm{clip}(v_i - f_w(x_i),\, \pm\tau)\, \nabla f_w(x_i)

    Labels that were not attacked are exact. As long as they are the majority, the threshold τ falls
    with the error, and so does the effect of an attacked label. From a start near w* it mostly ends
    at w* to machine precision (docs/defence.md). From elsewhere it may end in the basin of another
    filter, such as −w*. `RefinedTron` starts it at the right place.

    Parameters
    ----------
    pace
        c, the length of steps. By default it is ½√b, at most tr K / λ_max(K) with K = ĀΣĀᵀ.
    quantile
        p in (0, 1): the threshold τ is the p-quantile of |residual|. With a small p fewer labels
        have to be honest. With a p below the share of labels that fit by accident the trainer does
        not move.
    speed
        s in (0, 1], how fast τ follows the quantile.
    weighting
        None, or "inverse-norm" for inputs without a variance: see `NeuroTron`.
    averaging
        Whether weights are averaged (see `Trainer`).

    Examples
    --------
    >>> import neurotron as nt
    >>> nt.ClippedSGD()
    ClippedSGD(quantile=0.2, speed=0.05)
    """

    quantile: float = field(default=0.2, kw_only=True)
