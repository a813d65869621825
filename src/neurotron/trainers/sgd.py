"""Stochastic gradient descent on the squared loss."""

from __future__ import annotations

from typing import ClassVar

from neurotron.trainers.base import Direction, Trainer

__all__ = ["SGD"]


class SGD(Trainer):
    r"""True mini-batch gradient descent on the squared loss ½(v − f_w(x))².

    .. math:: w \leftarrow w + \eta\, \frac1b \sum_{i=1}^b (v_i - f_w(x_i))\, \nabla f_w(x_i)

    Not what the published experiments called SGD: that is `FirstSampleSGD`.

    Parameters
    ----------
    step_size
        η > 0.
    """

    direction: ClassVar[Direction] = "gradient"
