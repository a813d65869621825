"""The sharp certificate in the coordinates that suit it, with its bound on predictions."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from neurotron.guarantees.assumptions import labels, parity
from neurotron.guarantees.paper_certificate import certify_by_theorem1
from neurotron.guarantees.request import Request
from neurotron.guarantees.sharp_certificate import (
    STEP_SIZE,
    NotFollowed,
    certify_sharply,
    hypotheses,
)
from neurotron.guarantees.training_certificate import TrainingCertificate
from neurotron.theory.coordinates import Coordinates, for_predictions
from neurotron.theory.leaky_gate import for_leaky_gate, has_leaky_gate
from neurotron.theory.sharp import sharp_constants, sharp_recursion
from neurotron.theory.table import initial_distance
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

__all__ = ["certified", "gate_coordinates"]


def certified(request: Request) -> TrainingCertificate:
    """Return the certificate of a theorem: the paper's, or the sharp one with its predictions."""
    return certify_by_theorem1(request) if request.method == "theorem1" else _sharply(request)


def _sharply(request: Request) -> TrainingCertificate:
    """Return the sharp certificate, with the smaller of two bounds on the prediction error.

    One follows from the radius, the other from a certificate in coordinates in which distances are
    prediction errors. One leaky gate whose inputs are not symmetric, or whose labels are not exact,
    has a certificate in its own coordinates only.
    """
    own = gate_coordinates(request)
    if own is not None:
        inside = _with_trainer(request, _resolved(request), own)
        return _in_original_coordinates(request, inside, certify_sharply(inside))
    return dataclasses.replace(_in_both_coordinates(_with_schedule(request)), arm=request.arm)


def _in_both_coordinates(request: Request) -> TrainingCertificate:
    """Return the better certificate of those in the coordinates of weights and predictions."""
    found = _followed(request)
    if found is not None and any(a.blocking and a.name != STEP_SIZE for a in found.failed):
        return found
    coordinates, inner = for_predictions(request.problem), None
    if coordinates is not None:
        inside = _with_trainer(request, _explicit(request, found), coordinates)
        inner = _followed(inside)
    if inner is None or not inner.holds:
        return certify_sharply(request) if found is None else found  # which says why
    back = _in_original_coordinates(request, inside, inner)
    return back if found is None else _better(found, back)


def _with_schedule(request: Request) -> Request:
    """Return the request with a schedule spelled out, as it will be run."""
    trainer, problem = request.trainer(), request.problem
    if trainer.step_size != "scheduled":
        return request
    sensing = np.asarray(trainer.sensing)
    constants = sharp_constants(problem, sensing, trainer.weighting)
    if any(a.blocking and not a.holds for a in hypotheses(request, trainer, constants)):
        return request
    recursion = sharp_recursion(
        problem, sensing, trainer.weighting, request.attack, request.batch_size
    )
    known = request.fit is not None or problem.true_weights is not None
    start = initial_distance(problem, request.fit) if known else request.initial_error
    scheduled = ScheduledTron.of(trainer, recursion, start**2)
    return _with_trainer(request, scheduled, request.coordinates)


def _followed(request: Request) -> TrainingCertificate | None:
    """Return the sharp certificate; None for a schedule with too many steps to be followed.

    Such a schedule was made in other coordinates.
    """
    try:
        return certify_sharply(request)
    except NotFollowed:
        return None


def _better(one: TrainingCertificate, other: TrainingCertificate) -> TrainingCertificate:
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


def gate_coordinates(request: Request) -> Coordinates | None:
    """Return the coordinates of one leaky gate without symmetry, None if they are not needed."""
    problem = request.problem
    if not has_leaky_gate(problem):
        return None
    if all(assumption.holds for assumption in (parity(problem), *labels(problem))):
        return None
    trainer = request.trainer()
    if trainer.step_size == "scheduled":  # the schedule itself needs symmetric inputs
        return None
    return for_leaky_gate(problem, np.asarray(trainer.sensing), trainer.weighting)


def _in_original_coordinates(
    request: Request, inside: Request, inner: TrainingCertificate
) -> TrainingCertificate:
    """Return a certificate in other coordinates as one about the weights themselves."""
    coordinates = inside.coordinates
    away = request.problem.initial_error(request.given_error, inner.centre)
    return dataclasses.replace(
        inner.scaled(coordinates.shrinks),
        arm=request.arm,
        coordinates=coordinates.name,
        initial_error=away + coordinates.shrinks * inside.shift,
        risk=coordinates.stretches**2 * inner.risk,
        prediction_radius=math.sqrt(inner.risk) * inner.radius,
    )


def _resolved(request: Request) -> NeuroTron:
    """Return the trainer with its step size as a number."""
    trainer = request.trainer()
    return trainer.resolve(request.problem, batch_size=request.batch_size, steps=0, attack=None)


def _explicit(request: Request, found: TrainingCertificate | None) -> NeuroTron:
    """Return the trainer with its step size as a number, unless it has a schedule."""
    trainer = request.trainer()
    if found is None or found.step_size is None:
        return trainer
    return dataclasses.replace(trainer, step_size=found.step_size)


def _with_trainer(request: Request, trainer: NeuroTron, coordinates: Coordinates) -> Request:
    arm = dataclasses.replace(request.arm, trainer=trainer)
    return dataclasses.replace(request, arm=arm, coordinates=coordinates)
