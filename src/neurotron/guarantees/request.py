"""The checked arguments of `certify`, and what all methods share."""

from __future__ import annotations

import dataclasses
import math
from functools import cached_property
from typing import Any, Literal

import numpy as np

from neurotron import _check
from neurotron.attacks import Attack
from neurotron.attacks.budget import Budget, budget_of
from neurotron.attacks.scope import OTHER_ANSWERS, OTHER_SAMPLES, misstated
from neurotron.guarantee import STATED, Assumption, Kind, delta
from neurotron.guarantees.assumptions import (
    fit_of_table,
    independent_rows,
    labels,
)
from neurotron.guarantees.certificate import Certificate
from neurotron.laws import Empirical
from neurotron.problem import Problem
from neurotron.theory.attack_moments import attacked_rows
from neurotron.theory.coordinates import ORIGINAL, Coordinates
from neurotron.theory.rounding import Rounding
from neurotron.theory.table import TableFit, has_fit, initial_distance
from neurotron.trainers import Arm, NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

TAKEN_FOR_GRANTED = ("parity", "labels")
"""Assumptions that a plug-in estimate makes although they do not hold, or are not known to."""

STEPS = "[1e-100, 1e100]"
"""Step sizes that are certified: squares of others, and of what they bound, are no numbers."""


@dataclasses.dataclass(frozen=True)
class Request:
    """What is to be guaranteed."""

    problem: Problem
    arm: Arm
    batch_size: int
    steps: int | None
    confidence: float
    given_error: float | None
    """A bound on the error at the start, if one was given."""
    attack: Attack | Budget | None
    """The attack or budget that the guarantee is about."""
    method: str
    random_start: bool = False
    """Whether `initial_error` bounds the root mean square of a random start only."""
    coordinates: Coordinates = ORIGINAL
    """The coordinates in which errors and distances are measured."""

    @property
    def delta(self) -> float:
        """δ, the largest probability that the guarantee is wrong."""
        return delta(self.confidence)

    @cached_property
    def budget(self) -> Budget:
        """The budget of the attack."""
        return budget_of(self.attack)

    @cached_property
    def fit(self) -> TableFit | None:
        """The least-squares fit of a table if the guarantee is about it, None if about w*."""
        if self.method != "sharp" or not has_fit(self.problem, self.coordinates):
            return None
        trainer = self.trainer()
        return TableFit.of(
            self.problem, np.asarray(trainer.sensing), trainer.weighting, self.coordinates
        )

    @cached_property
    def initial_error(self) -> float:
        """A bound on ‖w_1 − w*‖, or on the distance from w_1 to the fit of a table."""
        return initial_distance(self.problem, self.fit, self.given_error, self.coordinates)

    @property
    def _known_initial_error(self) -> float:
        """The same, or inf if it is not known, where nothing is guaranteed anyway."""
        known = self.given_error is not None or self.problem.true_weights is not None
        return self.initial_error if known or self.fit is not None else math.inf

    @cached_property
    def shift(self) -> float:
        """How far the fit of a table is, at most, from the exact fit of its unchanged labels."""
        if self.fit is None:
            return 0.0
        return self.fit.off + self.fit.moved(self.budget.bound or 0.0, self.budget.rows or 0)

    @property
    def start(self) -> float:
        """Δ_1, the bound on E‖w_1 − w*‖²."""
        return self.initial_error**2

    def rounding(self, spread: float, sensed: float) -> Rounding:
        """Return the rounding errors of a step, given `sensed` = √E[ω²‖Mx‖²].

        Training is computed in the original coordinates.
        """
        centre, left = (None, 0.0) if self.fit is None else (self.fit.weights, self.fit.size)
        if self.problem.network.at_zero > 0.0:
            left += self.problem.network.at_zero * sensed
        shrinks, stretches = self.coordinates.shrinks, self.coordinates.stretches
        found = Rounding.of(
            self.problem, shrinks * self.initial_error, spread, centre=centre, left=shrinks * left
        )
        return found.scaled(stretches, shrinks)

    def labels(self) -> list[Assumption]:
        """Return what is assumed about labels, and about how rows are drawn."""
        if self.fit is not None:
            return [fit_of_table(self.fit)]
        return [*labels(self.problem), *independent_rows(self.problem)]

    def basis(self, assumptions: list[Assumption]) -> tuple[Kind, Literal["law", "table"]]:
        """Return what a guarantee rests on: the law, a table, or rows taken for the law."""
        if not isinstance(self.problem.law, Empirical):
            return "theorem", "law"
        failed = any(a.name in TAKEN_FOR_GRANTED and not a.holds for a in assumptions)
        together = any(not a.holds for a in independent_rows(self.problem))
        return ("plug-in", "law") if failed or together else ("theorem", "table")

    def certificate(self, method: str, assumptions: list[Assumption], **found: Any) -> Certificate:
        """Return the certificate; without a radius, nothing is guaranteed.

        Distances to the fit of a table are enlarged by the `shift` of that fit.
        """
        kind, about = self.basis(assumptions)
        certificate = Certificate(
            **{
                "kind": kind,
                "about": about,
                "method": method,
                "arm": self.arm,
                "budget": self.budget,
                "batch_size": self.batch_size,
                "steps": self.steps,
                "confidence": self.confidence,
                "leak": self.problem.network.leak,
                "initial_error": self.initial_error if found else self._known_initial_error,
                "random_start": self.random_start,
                "radius": math.inf,
                "assumptions": tuple(assumptions),
                **found,
            }
        )
        return certificate if self.fit is None else certificate.moved(self.fit.weights, self.shift)

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
        if isinstance(trainer.step_size, float):
            _check.number("step_size", trainer.step_size, STEPS)
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
        measured = STATED if holds else f"no theorem covers {attack!r}"
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
        if self.budget.rows and self.fit is None:
            holds = False
            measured = f"{self.budget!r} is about stored labels, and this is not about their fit"
            remedy = (
                "Use method='sharp', a network that is linear or one leaky gate, and rows drawn "
                "with replacement: Problem.from_rows(…, replacement=True)."
            )
        return Assumption(
            "attack",
            "The attack changes each label by at most θ, independently with probability at most β."
            if self.budget.rows is None
            else "Labels were changed before training only, at most k of them, each by at most θ.",
            measured,
            "covered",
            holds,
            remedy,
        )
