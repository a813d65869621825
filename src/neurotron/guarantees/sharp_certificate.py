"""The sharp certificate (docs/theory.md, section (e))."""

from __future__ import annotations

import math

import numpy as np

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.engine.recording import recorded_steps
from neurotron.guarantees.assumptions import (
    Assumption,
    finite_constant,
    linear_or_parity,
    positive_pull,
)
from neurotron.guarantees.request import Request
from neurotron.guarantees.training_certificate import TrainingCertificate
from neurotron.theory.attack_moments import attack_moments
from neurotron.theory.one_step import best_step, bound_after
from neurotron.theory.recursion import Recursion
from neurotron.theory.rounding import Rounding, squared
from neurotron.theory.search import least
from neurotron.theory.sharp import SharpConstants, is_disturbed, sharp_constants
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

__all__ = ["certify_sharply", "hypotheses"]

MOST_FOLLOWED = MOST_SHOWN = 10**7
"""Steps for which a schedule is followed one by one, and bounds are shown in the long run."""


def certify_sharply(request: Request) -> TrainingCertificate:
    """Return the certificate for the step size, or schedule, in use."""
    trainer = request.trainer()
    constants = sharp_constants(request.problem, np.asarray(trainer.sensing), trainer.weighting)
    assumptions = hypotheses(request, trainer, constants)
    if any(assumption.blocking and not assumption.holds for assumption in assumptions):
        return request.certificate("sharp", assumptions)
    sensing = np.asarray(trainer.sensing)
    moments = attack_moments(constants, request.problem, sensing, trainer.weighting, request.attack)
    recursion = constants.recursion(moments, request.problem.noise, request.batch_size)
    step_size = _step_size(trainer, recursion)
    if step_size is not None:
        assumptions.append(_settles(recursion, step_size, request.steps))
    floor = recursion.limit if step_size is None else recursion.floor(step_size)
    if (
        isinstance(trainer, ScheduledTron)
        and request.steps is None
        and not _fits(trainer, recursion)
    ):
        raise _check.InputError(
            "the schedule was made for another problem or attack: give the number of `steps`"
        )
    rounding = request.rounding(constants.spread, recursion.pull, recursion.square)
    in_the_end = _in_the_end(recursion, rounding, step_size)
    record = _record(request, recursion, step_size, floor, in_the_end)
    roots, added = _bounds(trainer, recursion, rounding, request.start, record, step_size)
    exact, rounded = floor, in_the_end
    if request.steps is not None:
        exact, rounded = float(roots[-1]), float(added[-1])
    return request.certificate(
        "sharp",
        assumptions,
        step_size=step_size,
        weighting=trainer.weighting,
        radius=TrainingCertificate.radius_of(exact + rounded, request.failure),
        at_steps=record,
        mean_square_bounds=squared(roots + added),
        floor=floor + in_the_end,
        limit=recursion.limit + rounding.least,
        rounding=rounded,
        risk=constants.risk,
        any_time=_is_clean(recursion) and request.problem.law.symmetric,
        this_attack=request.against_this_attack(trainer),
        constants={
            "lambda1": constants.lambda1, "L1": constants.L1, "L2": constants.L2,
            "tau": moments.tau, "s2": moments.s2, "s0": constants.s0, "fastest": recursion.fastest,
        },
    )  # fmt: skip


def hypotheses(request: Request, trainer: NeuroTron, constants: SharpConstants) -> list[Assumption]:
    """Return what the certificate assumes about problem, trainer and attack."""
    found = [
        linear_or_parity(request.problem),
        *request.labels(),
        request.covered("sharp"),
        finite_constant(
            "moments",
            "The largest constant, made of weighted moments E[ω²‖Mx‖²xxᵀ] of the inputs with "
            "ω = ‖x‖⁻², is finite and known."
            if trainer.weighting
            else "The largest constant, made of fourth moments E[‖Mx‖²xxᵀ] of the inputs, is "
            "finite and known.",
            constants.largest(disturbed=is_disturbed(request.problem, request.attack)),
            request.other_moments(trainer),
        ),
    ]
    if math.isfinite(constants.lambda1):
        found.append(positive_pull(constants.lambda1, "optimal"))
    return found


def _settles(recursion: Recursion, step_size: float, steps: int | None) -> Assumption:
    largest = recursion.pull / recursion.square
    return Assumption(
        "step size",
        f"The step size is below {largest:.4g}, so that the error does not grow in the long run.",
        step_size,
        f"< {largest:.4g}",
        step_size < largest,
        f"The fastest step size is {recursion.fastest:.4g}.",
        blocking=steps is None,
    )


def _step_size(trainer: NeuroTron, recursion: Recursion) -> float | None:
    if isinstance(trainer, ScheduledTron) or trainer.step_size == "scheduled":
        return None
    return recursion.fastest if trainer.step_size == "fastest" else float(trainer.step_size)


def _in_the_end(recursion: Recursion, rounding: Rounding, step_size: float | None) -> float:
    """Return the error that rounding adds in the long run.

    The steps of a schedule become smaller and smaller, so they undo less and less of the earlier
    rounding errors. A schedule therefore comes nearest to its limit if it is stopped in time.
    """
    if step_size is not None:
        return rounding.floor(step_size)
    if _is_clean(recursion):
        return rounding.floor(recursion.fastest)

    def excess(logarithm: float) -> float:
        above = math.exp(logarithm)
        step = recursion.step_for((recursion.limit + above) ** 2)
        return above + float(rounding.kept(math.inf, step, recursion.longest_step))

    return least(excess, math.log(rounding.least), math.log(rounding.least) + 80.0)[1]


def _is_clean(recursion: Recursion) -> bool:
    """Return whether labels are honest and without noise: every best step is the fastest one."""
    return recursion.push == 0.0 == recursion.constant


def _record(
    request: Request, recursion: Recursion, step_size: float | None, floor: float, rounded: float
) -> Index:
    """Return the steps at which bounds are given; in the long run, near the floor."""
    steps, start = request.steps, request.start
    if steps is None:
        target = max(1.01 * floor, 0.01 * rounded) ** 2 if math.isfinite(floor) else start
        steps = min(recursion.steps_to(start, target, step_size) or 0, MOST_SHOWN)
    return recorded_steps("log", steps)


def _bounds(
    trainer: NeuroTron,
    recursion: Recursion,
    rounding: Rounding,
    start: float,
    record: Index,
    step_size: float | None,
) -> tuple[Array, Array]:
    """Return bounds on the root mean squared error of exact numbers, and what rounding adds."""
    if isinstance(trainer, ScheduledTron):
        if not _fits(trainer, recursion) or start > trainer.start:
            return _iterated(trainer, recursion, rounding, start, record)
        start = trainer.start
    bounds = recursion.after(start, record, step_size)
    smallest: Array | float
    if step_size is not None:
        smallest = largest = step_size
        end = recursion.floor(step_size)
    else:
        largest, end = recursion.longest_step, recursion.limit
        clean = _is_clean(recursion)
        smallest = largest if clean else best_step(bounds, *recursion.numbers)
    roots = np.sqrt(bounds)
    return roots, rounding.added(roots, record, smallest, largest, end)


def _fits(trainer: ScheduledTron, recursion: Recursion) -> bool:
    """Return whether a schedule was made for exactly this recursion."""
    return trainer.recursion == recursion


def _iterated(
    trainer: ScheduledTron, recursion: Recursion, rounding: Rounding, start: float, record: Index
) -> tuple[Array, Array]:
    """Return the same bounds for a schedule that was made for another start or attack."""
    last = int(record[-1])
    if last > MOST_FOLLOWED:
        raise _check.InputError(
            "the schedule was made for another problem or attack, so its guarantee is computed "
            f"step by step: give at most {MOST_FOLLOWED:,} steps"
        )
    roots, added = np.empty(last + 1), np.empty(last + 1)
    delta, own, excess = start, trainer.start, rounding.storage
    for step in range(last + 1):
        roots[step], added[step] = math.sqrt(delta), excess
        eta = float(best_step(own, *trainer.recursion.numbers))
        after = float(bound_after(delta, eta, *recursion.numbers))
        excess = excess * recursion.slope(delta, after, eta) + rounding.of_step(eta)
        delta = after
        own = float(bound_after(own, eta, *trainer.recursion.numbers))
    return roots[record], added[record]
