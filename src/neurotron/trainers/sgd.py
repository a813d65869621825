"""Stochastic gradient descent on the squared loss."""

from __future__ import annotations

from typing import ClassVar

from neurotron.trainers.base import Direction, Trainer


class SGD(Trainer):
    r"""Mini-batch gradient descent on the squared loss ½(v − f_w(x))².

    .. math:: w \leftarrow w + \eta\, \frac1b \sum_{i=1}^b (v_i - f_w(x_i))\, \nabla f_w(x_i)

    The published experiments used the name SGD for another method, which is `FirstSampleSGD` here.

    Parameters
    ----------
    step_size
        η > 0, how far a step goes.
    averaging
        Whether weights are averaged (see `Trainer`).
    """

    direction: ClassVar[Direction] = "gradient"
