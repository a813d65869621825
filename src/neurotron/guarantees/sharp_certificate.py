"""The sharp certificate (docs/theory.md, section (e))."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.engine.recording import recorded_steps
from neurotron.guarantee import Assumption
from neurotron.guarantees.assumptions import (
    finite_constant,
    linear_or_parity,
    noise,
    positive_pull,
)
from neurotron.guarantees.certificate import ROUNDING, Certificate, by_markov
from neurotron.guarantees.request import Request
from neurotron.theory.attack_moments import attack_moments
from neurotron.theory.fourth_moment import FourthMoment, fourth_moment
from neurotron.theory.long_run import deviations, in_the_long_run
from neurotron.theory.mean_path import Deviation, MeanPath
from neurotron.theory.one_step import best_step
from neurotron.theory.recursion import EXACT_STEPS, Recursion
from neurotron.theory.rounding import Rounding, squared
from neurotron.theory.search import least
from neurotron.theory.sharp import SharpConstants, is_disturbed, sharp_constants
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

STEP_SIZE = "step size"
"""The name of the assumption that the error does not grow."""

MOST_FOLLOWED = 10**6
"""Steps up to which a schedule that was made for other numbers is followed one by one."""
MOST_SHOWN = 10**7
"""Steps for which bounds are shown in the long run."""


class NotFollowed(_check.InputError):
    """A schedule was made for other numbers, and has too many steps to follow them."""


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
    recursion = constants.recursion(moments, problem.noise, request.batch_size)
    step_size = _step_size(trainer, recursion)
    if step_size is not None:
        assumptions.append(_settles(recursion, step_size, request.steps))
    floor = recursion.limit if step_size is None else recursion.floor(step_size)
    if (
        isinstance(trainer, ScheduledTron)
        and request.steps is None
        and not _fits(trainer, recursion)
    ):
        raise NotFollowed(
            "the schedule was made for another problem or attack: give the number of `steps`"
        )
    rounding = request.rounding(constants.spread, constants.s0, recursion.pull, recursion.square)
    path = constants.mean_path(moments, problem.noise, request.batch_size)
    fourth = None
    if not (_is_clean(recursion) or request.random_start):
        fourth = fourth_moment(
            problem, sensing, weighting, path, moments, request.budget.probability or 0.0,
            request.batch_size, request.coordinates,
        )  # fmt: skip
    if problem.noise > 0.0:
        assumptions.append(noise(problem, by_fourth_moment=fourth is not None))
    in_the_end = _in_the_end(recursion, rounding, step_size)
    record = _record(request, recursion, step_size, floor, in_the_end)
    course = _course(request, trainer, recursion, path, fourth, rounding, record, step_size)
    last = course.last
    if request.steps is None:
        last = _end(recursion, path, step_size, floor, in_the_end)
    all_times = _is_clean(recursion)
    return request.certificate(
        "sharp",
        assumptions,
        step_size=step_size,
        weighting=weighting,
        radius=float(last.radii(request.delta)[0]),
        root_mean_square=float(last.roots[0] + last.added[0]),
        at_steps=record,
        mean_square_bounds=squared(course.roots + course.added),
        radii=course.radii(request.delta, all_times=all_times),
        floor=floor + in_the_end,
        limit=recursion.limit + rounding.least,
        rounding=float(last.added[0]),
        risk=constants.risk,
        any_time=all_times and problem.law.symmetric,
        this_attack=request.against_this_attack(trainer),
        constants={
            "lambda1": constants.lambda1, "L1": constants.L1, "L2": constants.L2,
            "tau": moments.tau, "s2": moments.s2, "s0": constants.s0, "fastest": recursion.fastest,
        },
    )  # fmt: skip


@dataclass(frozen=True)
class Course:
    """Bounds after some numbers of steps."""

    roots: Array
    """Bounds on √E‖w − w*‖² of exact numbers."""
    added: Array
    """What rounding errors add to them."""
    deviation: Deviation
    """Bounds on the mean path and on the deviations from it."""
    fourth: Array
    """Radii from fourth moments; inf where they are not known."""

    @property
    def last(self) -> Course:
        """The last of these numbers of steps alone."""
        path, spread = self.deviation
        deviation = Deviation(path[-1:], spread[-1:])
        return Course(self.roots[-1:], self.added[-1:], deviation, self.fourth[-1:])

    def radii(self, delta: float, *, all_times: bool = False) -> Array:
        """Return the smallest radius, by Markov's inequality or from the mean path.

        Without attack and noise, those of Markov's inequality hold for `all_times` at once.
        """
        found = np.asarray(by_markov(self.roots + self.added, delta))
        if not all_times:
            path = self.deviation.radius(delta, self.added) * (1.0 + ROUNDING)
            found = np.fmin(np.fmin(found, path), self.fourth * (1.0 + ROUNDING))
        return np.where(np.isnan(found), math.inf, found)


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


def _course(
    request: Request,
    trainer: NeuroTron,
    recursion: Recursion,
    path: MeanPath,
    fourth: FourthMoment | None,
    rounding: Rounding,
    record: Index,
    step_size: float | None,
) -> Course:
    """Return the bounds at the steps of `record`."""
    start = request.start
    if isinstance(trainer, ScheduledTron):
        if not _fits(trainer, recursion) or start > trainer.start:
            return _iterated(request, trainer, recursion, path, fourth, rounding, record)
        start = trainer.start
    deltas = recursion.iterate(start, min(int(record[-1]), EXACT_STEPS), step_size)
    bounds = recursion.continued(deltas, record, step_size)
    smallest: Array | float
    if step_size is not None:
        smallest = largest = step_size
        end = recursion.floor(step_size)
    else:
        largest, end = recursion.longest_step, recursion.limit
        clean = _is_clean(recursion)
        smallest = largest if clean else best_step(bounds, *recursion.numbers)
    roots = np.sqrt(bounds)
    added = rounding.added(roots, record, smallest, largest, end)
    if step_size is None:
        etas = np.asarray(best_step(deltas[:-1], *recursion.numbers))
    else:
        etas = np.full(len(deltas) - 1, step_size)
    if start == 0.0 and int(record[-1]) < len(deltas):  # errors cannot be compared with the start
        added = np.fmin(added, rounding.follow(recursion.slopes(deltas, etas), etas)[record])
    most = float(added.max(initial=0.0))
    deviation = deviations(
        recursion, path, request.first_deviation, deltas, step_size, record, most
    )
    beyond = _by_fourth_moment(request, fourth, deltas, etas, most, record)
    return Course(roots, added, deviation, beyond)


def _by_fourth_moment(
    request: Request,
    fourth: FourthMoment | None,
    deltas: Array,
    etas: Array,
    rounding: float,
    record: Index,
) -> Array:
    """Return the radii after the steps that are followed one by one; inf where none is known."""
    found, near = np.full(len(record), math.inf), record < len(deltas)
    if fourth is not None:
        radii = fourth.radii(request.initial_error, deltas, etas, request.delta, rounding)
        found[near] = radii[record[near]]
    return found


def _end(
    recursion: Recursion, path: MeanPath, step_size: float | None, floor: float, rounded: float
) -> Course:
    """Return what the bounds tend to. The deviations vanish with the steps of a schedule."""
    deviation = Deviation(path.limit, 0.0)
    if step_size is not None:
        deviation = in_the_long_run(recursion, path, step_size, rounded)
    return Course(np.array([floor]), np.array([rounded]), deviation, np.full(1, math.inf))


def _fits(trainer: ScheduledTron, recursion: Recursion) -> bool:
    """Return whether a schedule was made for exactly this recursion."""
    return trainer.recursion == recursion


def _iterated(
    request: Request,
    trainer: ScheduledTron,
    recursion: Recursion,
    path: MeanPath,
    fourth: FourthMoment | None,
    rounding: Rounding,
    record: Index,
) -> Course:
    """Return the same bounds for a schedule that was made for another start or attack."""
    last = int(record[-1])
    if last > MOST_FOLLOWED:
        raise NotFollowed(
            "the schedule was made for another problem or attack, so its guarantee is computed "
            f"step by step: give at most {MOST_FOLLOWED:,} steps"
        )
    own = trainer.recursion.iterate(trainer.start, last, None)
    etas = np.asarray(best_step(own[:-1], *trainer.recursion.numbers))
    deltas = recursion.follow(request.start, etas)
    roots, added = np.sqrt(deltas), rounding.follow(recursion.slopes(deltas, etas), etas)
    deviation = path.follow(request.first_deviation, (roots + added) ** 2, etas)
    return Course(
        roots[record], added[record], Deviation(*(part[record] for part in deviation)),
        _by_fourth_moment(request, fourth, deltas, etas, float(added.max(initial=0.0)), record),
    )  # fmt: skip
