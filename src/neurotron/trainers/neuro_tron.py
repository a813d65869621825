"""Neuro-Tron: the paper's Algorithm 1."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from neurotron import _check
from neurotron._types import Array
from neurotron.networks.sensing import SENSING, sensing_matrix
from neurotron.trainers.base import Direction, Trainer

if TYPE_CHECKING:
    from typing import Self

    from neurotron.problem import Problem

__all__ = ["NeuroTron"]


@dataclass(frozen=True, eq=False, repr=False)
class NeuroTron(Trainer):
    r"""The paper's gradient-free trainer (Algorithm 1).

    .. math:: w \leftarrow w + \eta\, M\, \frac1b \sum_{i=1}^b (v_i - f_w(x_i))\, x_i

    On a parity-symmetric law it sees only the odd part of the network's output, which is linear in
    w: it has one fixed point, w*, where gradient methods also have the mirror filter −w*.

    Parameters
    ----------
    step_size
        η > 0.
    sensing
        M: "optimal" (smallest error floor), "polar" (best λ1/λ2), "mean" (M = Ā, the paper's) or an
        array of shape (r, n) of full rank.
    """

    sensing: str | Array = "optimal"

    direction: ClassVar[Direction] = "sensing"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.sensing, str):
            _check.choice("sensing", self.sensing, SENSING)
        else:
            object.__setattr__(self, "sensing", _check.array("sensing", self.sensing, ("r", "n")))

    def resolve(self, problem: Problem, *, batch_size: int, steps: int) -> Self:
        """Return the trainer with its sensing matrix as an array."""
        resolved = copy.copy(self)
        matrix = sensing_matrix(self.sensing, problem.network, problem.covariance)
        object.__setattr__(resolved, "sensing", matrix)
        return resolved

    def __repr__(self) -> str:
        sensing = "array" if isinstance(self.sensing, np.ndarray) else repr(self.sensing)
        return f"{type(self).__name__}(step_size={self.step_size:g}, sensing={sensing})"
