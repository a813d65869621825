"""The sharp certificate (docs/theory.md, section (e))."""

from __future__ import annotations

import math

import numpy as np

from neurotron.engine.recording import recorded_steps
from neurotron.guarantee import Assumption
from neurotron.guarantees.assumptions import (
    finite_constant,
    linear_or_parity,
    positive_pull,
)
from neurotron.guarantees.certificate import Certificate
from neurotron.guarantees.request import Request
from neurotron.theory.attack_moments import AttackMoments, attack_moments
from neurotron.theory.course import Bounds, Course, Schedule, at_steps
from neurotron.theory.one_step import best_step
from neurotron.theory.recursion import Recursion
from neurotron.theory.rounding import squared
from neurotron.theory.sharp import SharpConstants, is_disturbed, sharp_constants
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

STEP_SIZE = "step size"
"""The name of the assumption that the error does not grow."""
MOST_SHOWN, NEARLY = 20_000, 100.0
"""Steps that are shown in the long run, and the part of the start that is left after them."""


def certify_sharply(request: Request) -> Certificate:
    """Return the certificate for the step size, or schedule, in use."""
    trainer = request.trainer()
    problem, sensing, weighting = request.problem, np.asarray(trainer.sensing), trainer.weighting
    constants = sharp_constants(problem, sensing, weighting, request.coordinates)
    assumptions = hypotheses(request, trainer, constants)
    if any(assumption.blocking and not assumption.holds for assumption in assumptions):
        return request.certificate("sharp", assumptions)
    moments = attack_moments(
        constants, problem, sensing, weighting, request.attack, request.coordinates
    )
    course = course_of(request, constants, moments)
    recursion, step_size = course.recursion, _step_size(trainer, course.recursion)
    if not isinstance(step_size, Schedule):
        assumptions.append(_settles(recursion, step_size, request.steps))
    record = recorded_steps("log", _shown(course, step_size, request.steps))
    bounds = at_steps(course, step_size, record)
    end = _end(course, step_size, bounds)
    last = end if request.steps is None else Bounds(*(part[-1] for part in bounds))
    clean = recursion.push == 0.0 == recursion.constant
    return request.certificate(
        "sharp",
        assumptions,
        step_size=None if isinstance(step_size, Schedule) else step_size,
        weighting=weighting,
        radius=float(last.radius(request.delta, record[-1])),
        root_mean_square=float(last.root),
        at_steps=record,
        mean_square_bounds=squared(bounds.root),
        radii=bounds.radius(request.delta, record, all_times=clean),
        floor=float(end.root),
        limit=min(recursion.limit + course.least_rounding(1.0), float(end.root)),
        rounding=max(course.rounding.storage, float(last.root) - float(last.exact)),
        risk=constants.risk,
        any_time=clean and problem.law.symmetric,
        this_attack=request.against_this_attack(trainer),
        constants={
            "lambda1": constants.lambda1, "L1": constants.L1, "L2": constants.L2,
            "tau": moments.tau, "s2": moments.s2, "s0": constants.s0, "fastest": recursion.fastest,
        },
    )  # fmt: skip


def course_of(request: Request, constants: SharpConstants, moments: AttackMoments) -> Course:
    """Return what bounds the errors of all runs of a request."""
    noise, size, error = request.problem.noise, request.batch_size, request.initial_error
    rounding = request.rounding(constants.spread, constants.s0)
    stored = error + rounding.storage
    # a start that is random is not part of a sure path
    sure, random = (0.0, stored) if request.random_start else (error, rounding.storage)
    return Course(
        constants.recursion(moments, noise, size), constants.mean_path(moments, noise, size),
        rounding, Bounds(error, stored, sure, random),
    )  # fmt: skip


def hypotheses(request: Request, trainer: NeuroTron, constants: SharpConstants) -> list[Assumption]:
    """Return what the certificate assumes about problem, trainer and attack."""
    found = [
        linear_or_parity(request.problem, request.coordinates),
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
            lambda: request.other_moments(trainer),
        ),
    ]
    if math.isfinite(constants.lambda1):
        found.append(positive_pull(constants.lambda1, "optimal"))
    return found


def _settles(recursion: Recursion, step_size: float, steps: int | None) -> Assumption:
    largest = recursion.pull / recursion.square
    return Assumption(
        STEP_SIZE,
        f"The step size is below {largest:.4g}, so that the error does not grow in the long run.",
        step_size,
        f"< {largest:.4g}",
        step_size < largest,
        f"The fastest step size is {recursion.fastest:.4g}.",
        blocking=steps is None,
    )


def _step_size(trainer: NeuroTron, recursion: Recursion) -> float | Schedule:
    if isinstance(trainer, ScheduledTron):
        return Schedule(trainer.recursion, trainer.start)
    return recursion.fastest if trainer.step_size == "fastest" else float(trainer.step_size)


def _shown(course: Course, step_size: float | Schedule, steps: int | None) -> int:
    """Return the steps at which bounds end; in the long run, near the floor."""
    if steps is not None:
        return steps
    if isinstance(step_size, Schedule):
        return MOST_SHOWN
    floor, start = course.in_the_end(step_size).root, NEARLY * course.start.root
    if not floor < start:
        return 0
    falls = step_size * (course.recursion.pull - step_size * course.recursion.square)
    return math.ceil(min(2.0 * math.log(start / floor) / falls, MOST_SHOWN))


def _end(course: Course, step_size: float | Schedule, bounds: Bounds) -> Bounds:
    """Return what the bounds tend to.

    The deviations vanish with the steps of a schedule. These undo less and less of the earlier
    rounding errors, so a schedule comes nearest to its limit if it is stopped in time.
    """
    recursion = course.recursion
    if not isinstance(step_size, Schedule):
        return course.in_the_end(step_size)
    if step_size.recursion != recursion:
        return Bounds(*(math.inf,) * 4)  # it was made for something else: not known
    if recursion.push == 0.0 == recursion.constant:
        return course.in_the_end(recursion.fastest)
    rounding = course.rounding.within(float(course.start.exact))
    above = np.geomspace(course.least_rounding(1.0), float(course.start.root), 2000)
    steps = np.asarray(best_step((recursion.limit + above) ** 2, *recursion.numbers))
    longest = float(best_step(np.square(bounds.exact), *recursion.numbers).max())
    with np.errstate(divide="ignore", invalid="ignore"):
        undone = 2.0 / (steps * (recursion.pull - steps * recursion.square))
        kept = rounding.storage * undone + 2.0 * rounding.answers / (
            recursion.pull - longest * recursion.square
        )
    least = float(np.nanmin(above + kept))
    return Bounds(recursion.limit, recursion.limit + least, course.path.limit, least)
