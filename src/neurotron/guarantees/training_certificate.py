"""What is guaranteed before training: the error of an arm after so many steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron._digits import up
from neurotron._types import Array, Index
from neurotron.attacks.budget import Budget
from neurotron.guarantees.certificate import Certificate, finite
from neurotron.trainers import Arm

if TYPE_CHECKING:
    from neurotron.trajectories import Trajectories

__all__ = ["ROUNDING", "TrainingCertificate"]

ROUNDING = 1e-9
"""A radius is rounded up by this part: more than the rounding errors of a million steps."""

METHOD_NAMES = {
    "sharp": "the sharp certificate",
    "theorem1": "Theorem 1 of the paper",
    "measured": "measurement",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingCertificate(Certificate):
    """A statement about ‖w − w*‖ after an arm has been trained."""

    method: str
    arm: Arm
    budget: Budget
    batch_size: int
    steps: int | None
    """After how many steps; None for ever more of them."""
    initial_error: float
    step_size: float | None = None
    """η; None for a schedule."""
    at_steps: Index = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    mean_square_bounds: Array = field(default_factory=lambda: np.full(1, np.inf))
    """A bound on E‖w − w*‖² after each number of steps in `at_steps` (measured, if empirical)."""
    floor: float = math.inf
    """Where √E‖w − w*‖² ends with this step size."""
    limit: float = math.inf
    """What no step size gets √E‖w − w*‖² below."""
    rounding: float = 0.0
    """The part of √E‖w − w*‖² that allows for rounding errors; the theorem's own number is the
    rest. Radius, bounds, floor and limit all include theirs."""
    risk: float = math.inf
    """c with E(f_w(x) − f_{w*}(x))² ≤ c ‖w − w*‖²."""
    this_attack: bool = False
    """Whether it holds against the arm's own attack only, whose chance β(x) was used."""
    any_time: bool = False
    """Whether √(mean_square_bounds/failure) bounds the errors of all steps at once."""
    constants: dict[str, float] = field(default_factory=dict)

    @staticmethod
    def radius_of(root: float, failure: float) -> float:
        """Return ε with √E‖w − w*‖² ≤ ε√δ, by Markov's inequality P(‖w − w*‖ > ε) ≤ δ."""
        return root / math.sqrt(failure) * (1.0 + ROUNDING)

    @property
    def is_rounding(self) -> bool:
        """Whether rounding errors are at least half of the radius."""
        return self.holds and 2.0 * self.rounding >= self.radius * math.sqrt(self.failure)

    @property
    def statement(self) -> str:
        """What is guaranteed, in one paragraph."""
        return f"{self._title} {self._claim}"

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.kind}, {self.method}, radius={up(self.radius)}, "
            f"confidence={self.confidence:g})"
        )

    @property
    def _title(self) -> str:
        """What the claim rests on."""
        if not self.holds:
            return f"No guarantee ({METHOD_NAMES[self.method]})."
        return {
            "theorem": f"Theorem ({METHOD_NAMES[self.method]}).",
            "plug-in": (
                f"Plug-in estimate ({METHOD_NAMES[self.method]} with constants taken from rows of "
                "data, as if they were all there is and met every assumption)."
            ),
            "empirical": "Measured, not proved.",
        }[self.kind]

    @property
    def _claim(self) -> str:
        when = "in the long run" if self.steps is None else f"after {self.steps:,} steps"
        work = f"{self.arm.trainer!r} on batches of {self.batch_size}"
        if not self.holds:
            blocking = [a.name for a in self.failed if a.blocking]
            reasons = blocking or [a.name for a in self.failed]
            because = "it did not stay bounded"
            if reasons:
                because = f"this does not hold: {'; '.join(reasons)}"
            return f"{self._against}, for {work}, because {because}."
        if self.kind == "empirical":
            under = "honest labels" if self.arm.attack is None else repr(self.arm.attack)
            return (
                f"{when.capitalize()} of {work} under {under}, a new run ends within "
                f"‖w − w*‖ ≤ {up(self.radius)} with probability at least {self.chance}: the "
                "largest error of enough runs for that. It says nothing of other attacks."
            )
        mean = self.radius * math.sqrt(self.failure)
        bound = f"‖w − w*‖ ≤ {up(self.radius)} (root mean square at most {up(mean)})"
        start = f"from a start at distance of about {self.initial_error:.6g}"
        text = (
            f"{self._against}, {when} of {work}, {start}, it holds with probability at least "
            f"{self.chance} that {bound}."
        )
        if self.steps is None:
            text = (
                f"{self._against}, {work}, {start}, comes with probability at least "
                f"{self.chance} as near as one likes to {bound}, if there are enough steps."
            )
        if self.is_rounding:
            text += (
                " That is what floating point is certain to resolve: the theorem's own number is "
                "smaller, and not resolved by floating point."
            )
        if self.any_time:
            text += (
                " Up to rounding errors, the same bounds hold for all steps at once, not only the "
                "last."
            )
        if mean >= self.initial_error:
            text += " That is no better than the start."
        return text

    @property
    def _against(self) -> str:
        theta, beta = self.budget.bound, self.budget.probability
        if theta == 0.0 or beta == 0.0:
            return "With honest labels"
        if theta is None or self.this_attack:
            return f"Against {self.arm.attack!r}" + " alone" * self.this_attack
        looks = "at its own sample and the past" if self.budget.scope == "query" else "at the batch"
        return (
            f"Against any attacker who looks {looks} and changes each label by at most θ = "
            f"{theta!r}, by a coin of its own of chance at most β = {beta!r}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON; what is infinite is None."""
        return {
            **super().to_dict(),
            "method": self.method,
            "steps": self.steps,
            "trainer": repr(self.arm.trainer),
            "step_size": self.step_size,
            "batch_size": self.batch_size,
            "initial_error": self.initial_error,
            "floor": finite(self.floor),
            "limit": finite(self.limit),
            "rounding": finite(self.rounding),
            "risk": finite(self.risk * self.radius**2) if self.holds else None,
            "any_time": self.any_time,
            "this_attack": self.this_attack,
            "budget": {
                "bound": self.budget.bound, "probability": self.budget.probability,
                "scope": self.budget.scope,
            },
            "arm": self.arm.name,
            "constants": {name: finite(value) for name, value in self.constants.items()},
            "at_steps": self.at_steps.tolist(),
            "mean_square_bounds": [finite(float(value)) for value in self.mean_square_bounds],
        }  # fmt: skip

    def plot(self, path: str | Path | None = None, *, run: Trajectories | None = None) -> Any:
        """Draw the certified error over the steps, with the measured one of a `run` if given."""
        from neurotron.figures.certificate import plot_certificate

        return plot_certificate(self, path, run=run)
