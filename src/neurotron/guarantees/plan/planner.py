"""`plan`: give three of bound, probability, radius and steps; the planner finds the fourth."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from neurotron import _check
from neurotron._digits import up
from neurotron._json import record
from neurotron._text import WIDTH, card, wrap
from neurotron._types import Array
from neurotron.attacks import Attack
from neurotron.attacks.budget import Budget, budget_of
from neurotron.guarantees.certificate import Certificate
from neurotron.guarantees.plan.models import SharpModel
from neurotron.guarantees.plan.paper_model import PaperModel
from neurotron.guarantees.plan.search import Model, NotAchievable, Search
from neurotron.guarantees.request import Request
from neurotron.guarantees.theorems import certified, coordinates_of
from neurotron.problem import Problem
from neurotron.simulation import MOST_SAMPLES, MOST_STEPS
from neurotron.theory.coordinates import Coordinates
from neurotron.trainers import Arm, NeuroTron

GOALS = ("weights", "predictions")
"""What a radius may bound."""


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """Which trainer to run for how many steps, and what is then guaranteed."""

    arm: Arm
    steps: int
    certificate: Certificate
    asked: str
    """Which of bound, probability, radius and steps was left out and found."""
    answer: float
    radius_of: str = "weights"
    """What the radius bounds: "weights" or "predictions"."""

    @property
    def statement(self) -> str:
        """The answer, and what to run for it."""
        best = "the smallest radius that can be guaranteed is ε ="
        if self.radius_of == "predictions":
            best = "the smallest prediction error that can be guaranteed is ε ="
        strongest = "the strongest attack that can be tolerated"
        found = {
            "radius": best,
            "bound": f"{strongest} changes labels by at most θ =",
            "probability": f"{strongest} changes each label with probability at most β =",
        }
        answer = "" if self.asked == "steps" else f"{found[self.asked]} {self._answer}: "
        return f"Plan: {answer}train {self.arm.trainer!r} for {self.steps:,} steps."

    def to_text(self, width: int = WIDTH) -> str:
        """Return the statement and its certificate, wrapped at words to lines of this width."""
        certificate = self.certificate.to_text(width)
        return f"{wrap(self.statement, width)}\n{certificate}"

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        shown = {self.asked: self._answer, "steps": f"{self.steps:,}"}
        if self.radius_of == "predictions":
            shown["prediction_error"] = up(self.certificate.prediction_error)
        elif self.asked != "radius":
            shown["radius"] = up(self.certificate.radius)
        shown["confidence"] = self.certificate.confidence_text
        return f"Plan({', '.join(f'{name}={value}' for name, value in shown.items())})"

    def _repr_html_(self) -> str:
        facts = {self.asked: self._answer, **self.certificate.facts}
        return card("Plan", facts, note=self.certificate.statement)

    @property
    def _answer(self) -> str:
        """The answer as text: a radius is rounded up, a bound or probability has six digits."""
        if self.asked == "steps":
            return f"{self.steps:,}"
        return up(self.answer) if self.asked == "radius" else f"{self.answer:.6g}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        found = record(self, "asked", "answer", "radius_of", "steps", "certificate")
        return found | {"trainer": repr(self.arm.trainer)}


def plan(
    problem: Problem,
    attack: Attack | Budget | None,
    *,
    batch_size: int = 16,
    radius: float | None = None,
    radius_of: str = "weights",
    steps: int | None = None,
    confidence: float = 0.95,
    sensing: str | Array = "optimal",
    weighting: str | None = None,
    step_size: str = "constant",
    initial_error: float | None = None,
    method: str = "sharp",
) -> Plan:
    """Return how to train, and for how long, so that a given error is guaranteed.

    Give three of four numbers, and the planner finds the fourth. The four are the attack's `bound`
    θ and `probability` β (in the attack or `Budget`), the `radius` ε and the `steps`. The planner
    finds the fewest steps, the smallest ε, or the largest θ or β for which ‖w − w*‖ ≤ ε holds with
    probability 1 − δ, and for which ε is not below what the attack can reach in the long run. It
    follows the bounds of many step sizes step by step, up to ten million steps, so the number of
    steps is exact. Step sizes, θ and β are found without fourth moments; with these, the steps of
    the best step size are counted. If nothing can be guaranteed, it raises `NotAchievable` with the
    reason and what to ask instead.

    Parameters
    ----------
    problem, batch_size
        The same as for `simulate`.
    attack
        What the guarantee holds against: an attack, a `Budget` (with at most one number left out),
        or None for honest labels.
    radius, steps, confidence
        ε, the number of updates, and 1 − δ, the probability with which the guarantee holds.
    radius_of
        What ε bounds: "weights" for the error ‖w − w*‖, or "predictions" for the root mean squared
        error of predictions, in the units of the labels.
    sensing, weighting
        Parameters of the trainer, as in `NeuroTron`. By default, samples have inverse-norm weights
        if the inputs have no fourth moments.
    step_size
        "constant" for the best single step size, "scheduled" for the best one at every step.
    initial_error
        A bound on the error at the start, ‖w_1 − w*‖, for problems whose w* is unknown.
    method
        "sharp", or "theorem1" for the paper's theorem.

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
    >>> problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    >>> attack = nt.attacks.Adaptive(bound=0.25, probability=0.2)
    >>> found = nt.plan(problem, attack, radius=0.5, batch_size=16)
    >>> run = nt.simulate(problem, [found.arm], steps=found.steps, batch_size=16)
    >>> bool(run.errors[0, -1] <= 0.5)
    True
    >>> try:
    ...     nt.plan(problem, attack, radius=0.01, batch_size=16)
    ... except nt.NotAchievable as reason:
    ...     print(str(reason).partition(". ")[2])
    Ask for a radius above 0.02961, such as 0.02991.
    """
    _check.instance("problem", problem, Problem)
    budget = _budget(attack)
    asked = _asked(budget, radius, steps)
    _check.choice("method", method, ("sharp", "theorem1"))
    _check.choice("step_size", step_size, ("constant", "scheduled"))
    if radius is not None:
        radius = _check.number("radius", radius, "[1e-90, 1e90]")
    predictions = _check.choice("radius_of", radius_of, GOALS) == "predictions"
    trainer = _trainer(problem, sensing, weighting, method)
    request = Request(
        problem,
        Arm(trainer),
        _check.integer("batch_size", batch_size, 1, MOST_SAMPLES),
        None if steps is None else _check.count("steps", steps, 1, MOST_STEPS),
        _check.number("confidence", confidence, "(0, 1)"),
        initial_error,
        attack if asked in ("steps", "radius") else _filled(budget, method),
        method,
    )
    model = _model(request, trainer, step_size, predictions)
    found = Search(model, budget, radius, request.steps).run(asked)
    made = found.steps if request.steps is None else request.steps
    attacker, met = attack if isinstance(attack, Attack) else None, found.budget
    arm = Arm(model.trainer(met, found.step_size), attacker)
    certificate = certified(
        dataclasses.replace(request, arm=arm, steps=made, attack=attacker or met)
    )
    reached = certificate.prediction_error if predictions else certificate.radius
    if reached > (math.inf if radius is None else radius) or not certificate.holds:
        remedy = "" if reached == math.inf else f" Ask for a radius of {up(reached)}."
        raise NotAchievable(
            f"not achievable, because over {made:,} steps rounding errors add up.{remedy} Use "
            "fewer steps, or a constant step size."
        )
    answers = {
        "bound": met.bound, "probability": met.probability, "radius": reached, "steps": made,
    }  # fmt: skip
    answer = float(answers[asked] or 0.0)
    return Plan(arm, made, certificate, asked, answer, radius_of)


def planned(
    trainer: NeuroTron, problem: Problem, attack: Attack | Budget | None, **asked: Any
) -> Plan | None:
    """Return the plan with the best guarantee for this kind of trainer; None if there is none."""
    try:
        return plan(problem, attack, sensing=trainer.sensing, weighting=trainer.weighting, **asked)
    except NotAchievable:
        return None


def _trainer(
    problem: Problem, sensing: str | Array, weighting: str | None, method: str
) -> NeuroTron:
    """Return the trainer whose step size is planned, weighted if the law has no fourth moments.

    Theorem 1 is about samples that all count the same.
    """
    trainer = NeuroTron(sensing=sensing, weighting=weighting)
    if method == "sharp":
        weighting = trainer.weighting_for(problem)
    return dataclasses.replace(trainer, step_size=1.0, weighting=weighting)


def _model(request: Request, trainer: NeuroTron, step_size: str, predictions: bool) -> Model:
    """Return the guarantee to plan with; refuse if one of its assumptions does not hold.

    The sharp certificate is planned in the coordinates of the weights and in those of predictions,
    because either may be the better one.
    """
    model: Model
    if request.method == "sharp":
        model = SharpModel(
            request, trainer, _coordinates(request, predictions),
            scheduled=step_size == "scheduled", predictions=predictions,
        )  # fmt: skip
    elif step_size == "scheduled":
        raise _check.InputError(
            "Theorem 1 is about a constant step size: use method='sharp' for a schedule"
        )
    else:
        model = PaperModel(request, trainer, predictions=predictions)
    if model.start == 0.0:
        raise NotAchievable("there is nothing to plan: training starts at the true weights")
    if model.obstacles:
        raise NotAchievable(
            f"not achievable, because an assumption does not hold. {' '.join(model.obstacles)}"
        )
    return model


def _coordinates(request: Request, predictions: bool) -> list[Coordinates]:
    """Return the coordinates to plan in; those that suit the radius come first."""
    found = coordinates_of(request)
    if predictions and request.problem.covariance is None and not found[0].of_gate:
        raise NotAchievable(
            "not achievable, because the second moments of the inputs are infinite or not known. "
            "Use radius_of='weights'."
        )
    return found[::-1] if predictions else found


def _budget(attack: Attack | Budget | None) -> Budget:
    if attack is not None and not isinstance(attack, (Attack, Budget)):
        raise _check.InputError(
            f"`attack` must be an Attack or a Budget, got {_check.shown(attack)}"
        )
    if isinstance(attack, Attack) and not attack.covered:
        raise NotAchievable(
            f"not achievable, because no guarantee covers {attack!r}: plan against a budget, "
            "or certify with the method 'measured'"
        )
    return budget_of(attack)


def _filled(budget: Budget, method: str) -> Budget:
    """Return the budget with a number for what is left out, to check the assumptions with.

    The sharp certificate needs to know that there is an attack; c_trade > 0 is not required yet.
    """
    some = 1.0 if method == "sharp" else 0.0
    return dataclasses.replace(
        budget,
        bound=some if budget.bound is None else budget.bound,
        probability=some if budget.probability is None else budget.probability,
    )


def _asked(budget: Budget, radius: float | None, steps: int | None) -> str:
    given = {
        "bound": budget.bound, "probability": budget.probability, "radius": radius,
        "steps": steps,
    }  # fmt: skip
    missing = [name for name, value in given.items() if value is None]
    if len(missing) != 1:
        left = f"missing are {', '.join(missing)}" if missing else "all four are given"
        raise _check.InputError(
            f"give exactly three of bound, probability, radius and steps: {left}"
        )
    return missing[0]
