"""The checked arguments of `certify`, and what all methods share."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from neurotron import _check
from neurotron.attacks import Attack
from neurotron.attacks.budget import Budget, budget_of
from neurotron.attacks.scope import OTHER_ANSWERS, OTHER_SAMPLES, misstated
from neurotron.guarantees.assumptions import Assumption
from neurotron.guarantees.certificate import Kind
from neurotron.guarantees.training_certificate import TrainingCertificate
from neurotron.laws import Empirical
from neurotron.problem import Problem
from neurotron.theory.attack_moments import attacked_rows
from neurotron.theory.mean_path import Deviation
from neurotron.theory.rounding import Rounding
from neurotron.trainers import Arm, NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

__all__ = ["Request"]


@dataclasses.dataclass(frozen=True)
class Request:
    """What is to be guaranteed."""

    problem: Problem
    arm: Arm
    batch_size: int
    steps: int | None
    failure: float
    initial_error: float
    attack: Attack | Budget | None
    """The attack or budget that the guarantee is about."""
    random_start: bool = False
    """Whether `initial_error` bounds the root mean square of a random start only."""

    @property
    def kind(self) -> Kind:
        """Whether constants come from a known law or from rows of data."""
        return "plug-in" if isinstance(self.problem.law, Empirical) else "theorem"

    @property
    def start(self) -> float:
        """Δ_1, the bound on E‖w_1 − w*‖²."""
        return self.initial_error**2

    @property
    def first_deviation(self) -> Deviation:
        """B and V at the start: a start that is random is not part of a sure path."""
        return (
            Deviation(0.0, self.start) if self.random_start else Deviation(self.initial_error, 0.0)
        )

    def rounding(self, spread: float, pull: float, square: float) -> Rounding:
        """Return what rounding errors add to a bound that contracts by η(p − ηd₂)."""
        return Rounding.of(self.problem, self.initial_error, spread, pull, square)

    def certificate(
        self, method: str, assumptions: list[Assumption], **found: Any
    ) -> TrainingCertificate:
        """Return the certificate; without a radius, nothing is guaranteed."""
        return TrainingCertificate(
            **{
                "kind": self.kind,
                "method": method,
                "arm": self.arm,
                "budget": budget_of(self.attack),
                "batch_size": self.batch_size,
                "steps": self.steps,
                "failure": self.failure,
                "initial_error": self.initial_error,
                "radius": math.inf,
                "assumptions": tuple(assumptions),
                **found,
            }
        )

    def trainer(self) -> NeuroTron:
        """Return the trainer with its sensing matrix, if it is one that theorems cover."""
        trainer = self.arm.trainer
        if trainer.averaging:
            raise _check.InputError(
                "no theorem covers averaged weights: certify without `averaging`, or use "
                "the method 'measured'"
            )
        if type(trainer) is ScheduledTron:
            return trainer.resolve(self.problem, batch_size=self.batch_size, steps=0, attack=None)
        if type(trainer) is not NeuroTron:
            raise _check.InputError(
                f"no theorem covers {type(trainer).__name__}: certify NeuroTron, or use "
                "the method 'measured'"
            )
        return trainer.completed(self.problem)

    def against_this_attack(self, trainer: NeuroTron) -> bool:
        """Return whether the constants use this attack's own probability β(x)."""
        rows = attacked_rows(self.problem, np.asarray(trainer.sensing), self.attack)
        return rows is not None

    def other_moments(self, trainer: NeuroTron) -> str:
        """Return what to do where moments do not exist or are not known."""
        if trainer.weighting is None:
            weighted = self.problem.even_moments("inverse-norm")
            if weighted.quartic is not None and weighted.squared is not None:
                return "Use the weighting 'inverse-norm', which needs no moments."
        return "Use Empirical(rows), with rows drawn from the law, for a plug-in certificate."

    def covered(self, method: str) -> Assumption:
        """Return the assumption that a method covers the attack."""
        attack = self.attack
        remedy = "Use the method 'measured' of certify, which needs no theorem."
        known = not isinstance(attack, Attack) or method in attack.covered
        holds = known and budget_of(attack).bound is not None
        measured = "covered" if holds else f"no theorem covers {attack!r}"
        formula, found = misstated(attack, self.batch_size, method) if holds else ("", "")
        if found:
            holds = False
            measured = f"{formula} {found}, for {attack!r}"
            remedy = f"Let {formula} depend on its own sample only"
            if formula == "distort" and found == OTHER_SAMPLES:
                remedy = f"Set scope = 'batch' in its class, or {remedy[0].lower()}{remedy[1:]}"
            elif found == OTHER_ANSWERS:
                remedy += ": it must keep no state, and use no random number except query.uniform"
            remedy += "."
        return Assumption(
            "attack",
            "The attack changes each label by at most θ, independently with probability at most β.",
            measured,
            "covered",
            holds,
            remedy,
        )
