"""The sharp certificate (docs/theory.md, section (e))."""

from __future__ import annotations

import math

import numpy as np

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.engine.recording import recorded_steps
from neurotron.theory.assumptions import Assumption, finite_constant, parity, positive_pull
from neurotron.theory.certificate import Certificate
from neurotron.theory.recursion import Recursion, best_step, bound_after
from neurotron.theory.request import Request
from neurotron.theory.sharp import SharpConstants, exposure, is_disturbed, sharp_constants
from neurotron.trainers import NeuroTron
from neurotron.trainers.scheduled import ScheduledTron

__all__ = ["certify_sharply", "hypotheses"]

MOST_FOLLOWED = MOST_SHOWN = 10**7
"""Steps for which a schedule is followed one by one, and a course is shown in the long run."""


def certify_sharply(request: Request) -> Certificate:
    """Return the certificate for the step size, or schedule, in use."""
    trainer = request.trainer()
    constants = sharp_constants(request.problem, np.asarray(trainer.sensing), trainer.weighting)
    assumptions = hypotheses(request, trainer, constants)
    if any(assumption.blocking and not assumption.holds for assumption in assumptions):
        return request.certificate("sharp", assumptions)
    seen = exposure(constants, request.problem, trainer, request.attack)
    recursion = constants.recursion(seen, request.problem.noise, request.batch_size)
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
            "the schedule was made for another problem or attack: say after how many `steps`"
        )
    record = _record(request, recursion, step_size, floor)
    if isinstance(trainer, ScheduledTron):
        trajectory = _follow(trainer, recursion, request.start, record)
    else:
        trajectory = recursion.after(request.start, record, step_size)
    last = floor**2 if request.steps is None else float(trajectory[-1])
    return request.certificate(
        "sharp",
        assumptions,
        step_size=step_size,
        radius=Certificate.radius_of(last, request.failure),
        record=record,
        trajectory=trajectory,
        floor=floor,
        limit=recursion.limit,
        risk=constants.risk,
        any_time=recursion.push == 0.0 == recursion.constant and request.problem.law.symmetric,
        this_attack=request.against_this_attack(trainer),
        constants={
            "lambda1": constants.lambda1, "L1": constants.L1, "L2": constants.L2,
            "tau": seen.tau, "s2": seen.s2, "s0": constants.s0, "fastest": recursion.fastest,
        },
    )  # fmt: skip


def hypotheses(request: Request, trainer: NeuroTron, constants: SharpConstants) -> list[Assumption]:
    """Return what the certificate asks of problem, trainer and attack."""
    found = [
        parity(request.problem),
        request.covered("sharp"),
        finite_constant(
            "moments",
            "E[ω²‖Mx‖²xxᵀ] is finite and known, where ω = ‖x‖⁻²"
            if trainer.weighting
            else "E[‖Mx‖²xxᵀ], made of fourth moments of x, is finite and known",
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
        f"η < (1+α)λ1/(L2²/b + (1 − 1/b)L1²) = {largest:.4g}, so that the error settles",
        step_size,
        f"< {largest:.4g}",
        step_size < largest,
        f"the fastest step size is {recursion.fastest:.4g}",
        blocking=steps is None,
    )


def _step_size(trainer: NeuroTron, recursion: Recursion) -> float | None:
    if isinstance(trainer, ScheduledTron) or trainer.step_size == "scheduled":
        return None
    return recursion.fastest if trainer.step_size == "fastest" else float(trainer.step_size)


def _record(request: Request, recursion: Recursion, step_size: float | None, floor: float) -> Index:
    """Return the steps of the certified course; in the long run, until it is near its floor."""
    steps, start = request.steps, request.start
    if steps is None:
        target = max((1.01 * floor) ** 2, 1e-20 * start) if math.isfinite(floor) else start
        steps = min(recursion.steps_to(start, target, step_size) or 0, MOST_SHOWN)
    return recorded_steps("log", steps)


def _fits(trainer: ScheduledTron, recursion: Recursion) -> bool:
    """Return whether a schedule was made for this very recursion."""
    return trainer.recursion == recursion


def _follow(trainer: ScheduledTron, recursion: Recursion, start: float, record: Index) -> Array:
    """Return the bound when a schedule is followed, made for this or another start or attack."""
    if _fits(trainer, recursion) and start <= trainer.start:
        return recursion.after(trainer.start, record, None)
    last = int(record[-1])
    if last > MOST_FOLLOWED:
        raise _check.InputError(
            "the schedule was made for another problem or attack: its guarantee is computed step "
            f"by step, for at most {MOST_FOLLOWED:,} steps"
        )
    course, delta, own = np.empty(last + 1), start, trainer.start
    for step in range(last + 1):
        course[step] = delta
        eta = float(best_step(own, *trainer.recursion.numbers))
        delta = float(bound_after(delta, eta, *recursion.numbers))
        own = float(bound_after(own, eta, *trainer.recursion.numbers))
    return course[record]
