"""The sharp certificate in the coordinates that suit it, with its bound on predictions."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from neurotron.guarantees.assumptions import labels, parity
from neurotron.guarantees.request import Request
from neurotron.guarantees.sharp_certificate import NotFollowed, certify_sharply
from neurotron.guarantees.training_certificate import TrainingCertificate
from neurotron.theory.coordinates import Coordinates, for_predictions
from neurotron.theory.leaky_gate import for_leaky_gate, has_leaky_gate
from neurotron.theory.sharp import sharp_recursion
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

__all__ = ["certify_with_predictions", "gate_coordinates"]


def certify_with_predictions(request: Request) -> TrainingCertificate:
    """Return the sharp certificate, with the smaller of two bounds on the prediction error.

    One follows from the radius, the other from a certificate in coordinates in which distances are
    prediction errors. One leaky gate whose inputs are not symmetric, or whose labels are not exact,
    has a certificate in its own coordinates only.
    """
    own = gate_coordinates(request)
    if own is not None:
        return _of_leaky_gate(request, own)
    found = certify_sharply(request)
    return _with_predictions(found, _in_label_units(request, found))


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


def _of_leaky_gate(request: Request, own: Coordinates) -> TrainingCertificate:
    """Return the certificate of one leaky gate about its own weights."""
    trainer = request.trainer()
    if trainer.step_size == "fastest":
        trainer = trainer.resolve(
            request.problem, batch_size=request.batch_size, steps=0, attack=None
        )
    inside = _with_trainer(request, trainer, own)
    inner = certify_sharply(inside)
    away = request.problem.initial_error(request.given_error, inner.centre)
    found = dataclasses.replace(
        inner.scaled(own.shrinks),
        arm=request.arm,
        initial_error=away + own.shrinks * inside.shift,
        risk=own.stretches**2 * inner.risk,
    )
    return _with_predictions(found, inner)


def _in_label_units(request: Request, found: TrainingCertificate) -> TrainingCertificate | None:
    """Return the certificate of the same training in coordinates of prediction errors."""
    if not found.holds:
        return None
    coordinates = for_predictions(request.problem)
    if coordinates is None:
        return None
    try:
        return certify_sharply(_with_trainer(request, _explicit(request, found), coordinates))
    except NotFollowed:  # a schedule with too many steps: the radius still says something
        return None


def _explicit(request: Request, found: TrainingCertificate) -> NeuroTron:
    """Return the trainer with its step size as a number, or with its schedule spelled out."""
    trainer = request.trainer()
    if trainer.step_size == "scheduled":
        recursion = sharp_recursion(
            request.problem, np.asarray(trainer.sensing), trainer.weighting, request.attack,
            request.batch_size,
        )  # fmt: skip
        return ScheduledTron.of(trainer, recursion, request.start)
    if found.step_size is None:
        return trainer
    return dataclasses.replace(trainer, step_size=found.step_size)


def _with_trainer(request: Request, trainer: NeuroTron, coordinates: Coordinates) -> Request:
    arm = dataclasses.replace(request.arm, trainer=trainer)
    return dataclasses.replace(request, arm=arm, coordinates=coordinates)


def _with_predictions(
    found: TrainingCertificate, inner: TrainingCertificate | None
) -> TrainingCertificate:
    """Return a certificate with the bound on predictions of one in other coordinates."""
    if inner is None or not inner.holds:
        return found
    return dataclasses.replace(found, predicted=math.sqrt(inner.risk) * inner.radius)
