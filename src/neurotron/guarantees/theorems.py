"""What a theorem guarantees: request → hypotheses → recursion → guarantee, in some coordinates.

Weights and predictions are two coordinates of the sharp certificate. In those of the weights,
distances are errors of the weights; in those of predictions, they are prediction errors. Either
may have the smaller bound on both. One leaky gate whose inputs are not symmetric, or whose labels
are not exact, has coordinates of its own and no others.
"""

from __future__ import annotations

import dataclasses
import math
from functools import reduce
from typing import Any

import numpy as np

from neurotron import _check
from neurotron.guarantees.assumptions import labels, parity
from neurotron.guarantees.certificate import Certificate
from neurotron.guarantees.paper_certificate import certify_by_theorem1
from neurotron.guarantees.request import Request
from neurotron.guarantees.sharp_certificate import STEP_SIZE, View, certify_sharply
from neurotron.theory.coordinates import ORIGINAL, Coordinates, for_predictions
from neurotron.theory.leaky_gate import for_leaky_gate, has_leaky_gate
from neurotron.theory.table import initial_distance
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron


def certified(request: Request) -> Certificate:
    """Return the certificate by the paper's theorem, or by the sharp one in its best coordinates.

    Of two sharp certificates that hold, each number is the smaller one.
    """
    if request.method == "theorem1":
        return certify_by_theorem1(request)
    arm = dataclasses.replace(request.arm, trainer=_as_run(request))
    found = list[Certificate]()
    for coordinates in coordinates_of(request):
        view = dataclasses.replace(request, arm=arm, coordinates=coordinates)
        found.append(_about_weights(view, certify_sharply(view)))
        if any(a.blocking and a.name != STEP_SIZE for a in found[-1].failed):
            break  # it does not hold in other coordinates either
    holding = [one for one in found if one.holds]
    possible = not any(a.blocking for a in found[0].failed)
    if (
        not holding
        and possible
        and request.steps is None
        and isinstance(arm.trainer, ScheduledTron)
    ):
        raise _check.InputError(
            "the schedule was made for another problem or attack: give the number of `steps`"
        )
    best = reduce(_better, holding) if holding else found[0]
    return dataclasses.replace(best, arm=request.arm)


def coordinates_of(request: Request) -> list[Coordinates]:
    """Return the coordinates in which there may be a sharp certificate; weights come first."""
    problem, trainer = request.problem, request.trainer()
    needed = has_leaky_gate(problem) and not all(
        assumption.holds for assumption in (parity(problem), *labels(problem))
    )
    if needed and trainer.step_size != "scheduled":  # the schedule itself needs symmetric inputs
        own = for_leaky_gate(problem, np.asarray(trainer.sensing), trainer.weighting)
        if own is not None:
            return [own]
    other = for_predictions(problem)
    return [ORIGINAL] if other is None else [ORIGINAL, other]


def _as_run(request: Request) -> NeuroTron:
    """Return the trainer with the step sizes that it will have, which no coordinates change.

    Where its step size cannot be found, nothing is guaranteed, and the certificate says why.
    """
    trainer, problem = request.trainer(), request.problem
    if isinstance(trainer, ScheduledTron) or not isinstance(trainer.step_size, str):
        return trainer
    if trainer.step_size == "fastest":
        try:
            return trainer.resolve(problem, batch_size=request.batch_size, steps=0, attack=None)
        except _check.InputError:
            return trainer
    view = View(request)
    if view.obstacles:
        return trainer
    recursion = view.against(request.attack)[1].recursion
    known = request.fit is not None or problem.true_weights is not None
    start = initial_distance(problem, request.fit) if known else request.initial_error
    return ScheduledTron.of(trainer, recursion, start**2)


def _about_weights(view: Request, inner: Certificate) -> Certificate:
    """Return a certificate in any coordinates as one about the weights themselves."""
    coordinates = view.coordinates
    if coordinates is ORIGINAL:
        return inner
    away = view.problem.initial_error(view.given_error, inner.centre)
    return dataclasses.replace(
        inner.scaled(coordinates.shrinks),
        coordinates=coordinates.name,
        initial_error=away + coordinates.shrinks * view.shift,
        risk=coordinates.stretches**2 * inner.risk,
        prediction_radius=math.sqrt(inner.risk) * inner.radius,
    )


def _better(one: Certificate, other: Certificate) -> Certificate:
    """Return the certificate with the smaller radius, and the smaller of each pair of bounds."""
    best = one if one.radius <= other.radius else other
    names = ["root_mean_square", "floor", "limit", "prediction_radius"]
    if np.array_equal(one.at_steps, other.at_steps) and not best.any_time:
        names += ["radii", "mean_square_bounds"]
    smaller = {name: np.fmin(getattr(one, name), getattr(other, name)) for name in names}
    numbers: dict[str, Any] = {
        name: part if part.ndim else float(part) for name, part in smaller.items()
    }
    return dataclasses.replace(best, **numbers)
