"""What the published experiments called SGD."""

from __future__ import annotations

from typing import ClassVar

from neurotron.trainers.base import Direction, Trainer


class FirstSampleSGD(Trainer):
    r"""Mean residual times the gradient at the *first* sample: the published code's "SGD".

    .. math:: w \leftarrow w + \eta \left( \frac1b \sum_{i=1}^b (v_i - f_w(x_i)) \right)
              \nabla f_w(x_1)

    It is here to reproduce the paper's comparison (docs/errata.md#e6). For gradient descent use
    `SGD`.

    Parameters
    ----------
    step_size
        η > 0, how far a step goes.
    averaging
        Whether weights are averaged (see `Trainer`).
    """

    short_name: ClassVar[str] = "first-sample SGD"
    direction: ClassVar[Direction] = "first_gradient"
