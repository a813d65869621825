"""The sharp certificate of a table, in the coordinates that suit it best."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field

import numpy as np

from neurotron.attacks import Attack
from neurotron.guarantees.assumptions import labels, parity
from neurotron.guarantees.request import Request
from neurotron.guarantees.sharp_certificate import certify_sharply
from neurotron.guarantees.training_certificate import TrainingCertificate
from neurotron.theory.rounding import Rounding
from neurotron.theory.sharp import fastest_step
from neurotron.theory.whitening import Whitening, has_leaky_gate, whitening_of
from neurotron.trainers import Arm, NeuroTron

__all__ = ["certify_table"]


@dataclass(frozen=True)
class WhitenedRequest(Request):
    """A request in whitened coordinates, for training that is computed in the old ones."""

    original: Request = field(kw_only=True)
    whitening: Whitening = field(kw_only=True)

    def rounding(self, spread: float, pull: float, square: float) -> Rounding:
        """Return what rounding errors in the old coordinates add in the new ones."""
        new, fit = self.whitening, self.fit
        assert fit is not None
        found = Rounding.of(
            self.original.problem, new.shrinks * self.initial_error, new.spread, pull, square,
            centre=new.back @ fit.weights, left=new.shrinks * fit.size,
        )  # fmt: skip
        return dataclasses.replace(
            found, storage=new.stretches * found.storage, answers=new.stretches * found.answers
        )


def certify_table(request: Request) -> TrainingCertificate:
    """Return the sharp certificate; for a table also in whitened coordinates, if that helps.

    For a linear network they bound the prediction error. For one leaky gate whose inputs are not
    symmetric, or whose labels are not exact, they are the only ones with a certificate.
    """
    if request.fit is not None:
        found = certify_sharply(request)
        inner = _whitened(request, found.step_size) if found.holds else None
        return found if inner is None else _with_predictions(found, inner)
    if _needs_whitening(request):
        inner = _whitened(request, None)
        if inner is not None:
            return _in_old_coordinates(request, inner)
    return certify_sharply(request)


def _needs_whitening(request: Request) -> bool:
    problem = request.problem
    assumed = [parity(problem), *labels(problem)]
    return has_leaky_gate(problem) and not all(assumption.holds for assumption in assumed)


def _whitened(request: Request, step_size: float | None) -> WhitenedRequest | None:
    """Return the request in whitened coordinates; None for a schedule or another matrix."""
    trainer, problem = request.trainer(), request.problem
    sensing = np.asarray(trainer.sensing)
    if type(trainer) is not NeuroTron or trainer.step_size == "scheduled" or request.random_start:
        return None
    new = whitening_of(problem, sensing, trainer.weighting)
    if new is None:
        return None
    if not isinstance(trainer.step_size, str):
        step_size = trainer.step_size
    if step_size is None:
        step_size = fastest_step(problem, sensing, None, request.batch_size)
    return WhitenedRequest(
        new.problem, Arm(NeuroTron(step_size, new.sensing)), request.batch_size, request.steps,
        request.failure, None, request.budget, "sharp", original=request, whitening=new,
    )  # fmt: skip


def _with_predictions(found: TrainingCertificate, inner: WhitenedRequest) -> TrainingCertificate:
    """Return the certificate with a bound on predictions from whitened coordinates."""
    predicted = certify_sharply(inner).radius
    return dataclasses.replace(found, predicted=min(found.predicted, predicted))


def _in_old_coordinates(request: Request, inner: WhitenedRequest) -> TrainingCertificate:
    """Return the certificate of one leaky gate about its own weights."""
    new, found = inner.whitening, certify_sharply(inner)
    assert found.centre is not None
    assumptions = [a for a in found.assumptions if a.name != "attack"]
    against = request if isinstance(request.attack, Attack) else inner
    assumptions.insert(2, against.covered("sharp"))
    holds = found.holds and assumptions[2].holds
    centre = new.back @ found.centre
    away = request.problem.initial_error(None, centre) + new.shrinks * inner.shift
    scaled = found.scaled(new.shrinks)
    return dataclasses.replace(
        scaled,
        radius=scaled.radius if holds else math.inf,
        arm=request.arm,
        initial_error=away,
        centre=centre,
        risk=new.stretches**2,
        predicted=found.radius,
        assumptions=tuple(assumptions),
    )
