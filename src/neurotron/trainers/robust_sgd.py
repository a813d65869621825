"""Base of the trainers that follow the gradient and limit the effect of large residuals."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from neurotron import _check
from neurotron.laws import WEIGHTINGS
from neurotron.trainers import tracking
from neurotron.trainers.base import Direction, Trainer
from neurotron.trainers.tracking import Tracked, check_tracking

if TYPE_CHECKING:
    from neurotron.attacks import Attack
    from neurotron.problem import Problem


@dataclass(frozen=True, eq=False, repr=False)
class RobustSGD(Trainer):
    r"""Base of `ClippedSGD`, `HuberSGD` and `TrimmedSGD`: they differ in two numbers only.

    .. math:: w \leftarrow w + \frac{\mathrm{pace}}{\overline{\|\nabla f\|^2}}\, \frac1b
              \sum_{i=1}^b \psi(v_i - f_w(x_i))\, \nabla f_w(x_i)

    The denominator is a running mean of ‖∇f‖². So the result does not depend on the scale of
    inputs, labels and gates.
    """

    bend: ClassVar[float] = 1.0
    """k: residuals beyond kτ are large."""
    beyond: ClassVar[float] = 1.0
    """c: large residuals count ±c kτ."""

    step_size: float | str = field(default=1.0, init=False)
    pace: float | None = None
    quantile: float = field(default=0.5, kw_only=True)
    speed: float = field(default=0.05, kw_only=True)
    weighting: str | None = field(default=None, kw_only=True)

    direction: ClassVar[Direction] = "gradient"
    state_fields: ClassVar[tuple[str, ...]] = Tracked._fields

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pace is not None:
            object.__setattr__(self, "pace", _check.number("pace", self.pace, "(0, inf)"))
        check_tracking(self.quantile, self.speed)
        if self.weighting is not None:
            _check.choice("weighting", self.weighting, WEIGHTINGS)

    @property
    def initial_state(self) -> tuple[float, ...]:
        """The state before the first step, when nothing has been tracked yet."""
        pace = math.nan if self.pace is None else self.pace
        return Tracked(
            quantile=self.quantile, speed=self.speed, pace=pace, bend=self.bend, beyond=self.beyond
        )

    influence = staticmethod(tracking.influence)
    observe = staticmethod(tracking.observe)
    adapt = staticmethod(tracking.adapt)

    def resolve(
        self, problem: Problem, *, batch_size: int, steps: int, attack: Attack | None
    ) -> RobustSGD:
        """Return the trainer with its pace: ½√b, at most `effective_size` of the problem."""
        if self.pace is not None:
            return self
        most = effective_size(problem, self.weighting)
        return dataclasses.replace(self, pace=min(0.5 * math.sqrt(batch_size), most))

    @property
    def shown_parameters(self) -> dict[str, object]:
        """Quantile and speed, and pace and weighting if they are set."""
        names = ("pace", "weighting", "quantile", "speed")
        return {name: getattr(self, name) for name in names}


def effective_size(problem: Problem, weighting: str | None) -> float:
    """Return tr K / λ_max(K), K = ĀΣĀᵀ: how many directions share the length of a gradient.

    The result is between 1 and r. Steps much longer than that overshoot in the longest direction.
    """
    covariance = problem.weighted_covariance(weighting)
    gate = problem.network.mean_gate
    seen = gate @ gate.T if covariance is None else gate @ covariance @ gate.T
    return float(np.trace(seen) / np.linalg.eigvalsh(seen)[-1])
