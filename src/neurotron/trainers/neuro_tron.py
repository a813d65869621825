"""Neuro-Tron: the paper's Algorithm 1."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from neurotron import _check
from neurotron._types import Array
from neurotron.laws import WEIGHTINGS
from neurotron.networks.sensing import SENSING, sensing_matrix
from neurotron.theory.sharp import sharp_recursion
from neurotron.trainers.base import Direction, Trainer

if TYPE_CHECKING:
    from neurotron.attacks import Attack
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
        η > 0; or "fastest", the one with the fastest certified convergence without an attack; or
        "scheduled", the certificate's best step at every step, against the budget of the arm's
        attack and from the distance of the start to the true weights.
    sensing
        M: "optimal" (smallest error floor), "polar" (best λ1/λ2), "mean" (M = Ā, the paper's),
        "center" (the same without outer weights) or an array of shape (r, n) of full rank.
    weighting
        None, or "inverse-norm": every sample counts ω(x) = ‖x‖⁻² times, which has a guarantee for
        inputs without any moments.
    averaging
        Whether weights are averaged (see `Trainer`).
    """

    sensing: str | Array = "optimal"
    weighting: str | None = field(default=None, kw_only=True)

    direction: ClassVar[Direction] = "sensing"
    step_words: ClassVar[tuple[str, ...]] = ("fastest", "scheduled")

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.sensing, str):
            _check.choice("sensing", self.sensing, SENSING)
        else:
            object.__setattr__(self, "sensing", _check.array("sensing", self.sensing, ("r", "n")))
        if self.weighting is not None:
            _check.choice("weighting", self.weighting, WEIGHTINGS)

    def resolve(
        self, problem: Problem, *, batch_size: int, steps: int, attack: Attack | None
    ) -> NeuroTron:
        """Return the trainer with its sensing matrix as an array, its step size as a number."""
        from neurotron.trainers.scheduled import ScheduledTron

        covariance = problem.weighted_covariance(self.weighting)
        if self.weighting and covariance is None and self.sensing in ("optimal", "polar"):
            raise _check.InputError(
                f"sensing={self.sensing!r} needs E[xxᵀ/‖x‖²], which is not known for "
                f"{problem.law!r}: leave out weighting={self.weighting!r}, or use sensing='mean'"
            )
        helps = covariance is None and problem.weighted_covariance("inverse-norm") is not None
        remedy = "weighting='inverse-norm', " if helps else ""
        matrix = sensing_matrix(self.sensing, problem.network, covariance, remedy)
        resolved = copy.copy(self)
        object.__setattr__(resolved, "sensing", matrix)
        if self.step_size == "scheduled":
            if type(self) is not NeuroTron:
                raise _check.InputError(
                    f"step_size='scheduled' is for NeuroTron itself, not for {type(self).__name__}"
                )
            problem.law.require_clean("step_size='scheduled'")
            if problem.true_weights is None:
                raise _check.InputError(
                    "step_size='scheduled' goes by ‖w_1 − w*‖, and the problem has no "
                    "`true_weights`: take the arm of plan(…, step_size='scheduled', "
                    "initial_error=…), or step_size='fastest'"
                )
            recursion = sharp_recursion(problem, matrix, self.weighting, attack, batch_size)
            return ScheduledTron.of(resolved, recursion, problem.initial_error(None) ** 2)
        if self.step_size == "fastest":  # the same whoever attacks, even without a bound
            recursion = sharp_recursion(problem, matrix, self.weighting, None, batch_size)
            object.__setattr__(resolved, "step_size", recursion.fastest)
        return resolved

    @property
    def shown_settings(self) -> dict[str, object]:
        """Step size, sensing matrix and weighting."""
        return super().shown_settings | {"sensing": self.sensing, "weighting": self.weighting}
