"""What a theorem guarantees: request → hypotheses → recursion → guarantee, in some coordinates.

The sharp certificate (docs/theory.md, section (e)) is one function of the coordinates, of which
weights and predictions are two. In those of the weights, distances are errors of the weights; in
those of predictions, they are prediction errors. Either may have the smaller bound on both. One
leaky gate whose inputs are not symmetric, or whose labels are not exact, has coordinates of its own
and no others.
"""

from __future__ import annotations

import dataclasses
import math
from functools import reduce
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.attacks import Attack
from neurotron.attacks.budget import Budget
from neurotron.engine.recording import recorded_steps
from neurotron.guarantee import Assumption
from neurotron.guarantees.assumptions import (
    finite_constant,
    labels,
    linear_or_parity,
    noise,
    parity,
    positive_pull,
)
from neurotron.guarantees.certificate import Certificate
from neurotron.guarantees.paper_certificate import certify_by_theorem1
from neurotron.guarantees.request import Request
from neurotron.theory.attack_moments import AttackMoments, attack_moments
from neurotron.theory.coordinates import ORIGINAL, Coordinates, for_predictions
from neurotron.theory.course import Bounds, Course, Schedule, at_steps, rounded_up, sizes_of
from neurotron.theory.fourth_moment import MOST_STEPS, FourthMoment, fourth_moment
from neurotron.theory.leaky_gate import for_leaky_gate, has_leaky_gate
from neurotron.theory.one_step import best_step
from neurotron.theory.recursion import Recursion
from neurotron.theory.rounding import squared
from neurotron.theory.sharp import is_disturbed, sharp_constants
from neurotron.theory.table import initial_distance
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron

STEP_SIZE = "step size"
"""The name of the assumption that the error does not grow."""
MOST_SHOWN, NEARLY = 20_000, 100.0
"""Steps that are shown in the long run, and the part of the start that is left after them."""


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
    view = InCoordinates(request)
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


# ---- the sharp certificate in some coordinates ---------------------------------------------------


class InCoordinates:
    """What is known of a request in its coordinates, against every attack."""

    def __init__(self, request: Request) -> None:
        self.request, self.trainer = request, request.trainer()
        self.sensing = np.asarray(self.trainer.sensing)
        self.constants = sharp_constants(
            request.problem, self.sensing, self.trainer.weighting, request.coordinates
        )
        self.assumptions = self._hypotheses()
        self._known: dict[Attack | Budget | None, tuple[AttackMoments, Course]] = {}

    @property
    def obstacles(self) -> list[Assumption]:
        """The assumptions without which nothing is guaranteed, and which do not hold."""
        return [a for a in self.assumptions if a.blocking and not a.holds]

    def against(self, attack: Attack | Budget | None) -> tuple[AttackMoments, Course]:
        """Return the constants of an attacker, and what bounds the errors of all runs."""
        if attack not in self._known:
            self._known[attack] = self._against(attack)
        return self._known[attack]

    def _against(self, attack: Attack | Budget | None) -> tuple[AttackMoments, Course]:
        request, constants = self.request, self.constants
        noise, size, error = request.problem.noise, request.batch_size, request.initial_error
        moments = attack_moments(
            constants, request.problem, self.sensing, self.trainer.weighting, attack,
            request.coordinates,
        )  # fmt: skip
        rounding = request.rounding(constants.spread, constants.s0)
        stored = error + rounding.storage
        # a start that is random is not part of a sure path
        sure, random = (0.0, stored) if request.random_start else (error, rounding.storage)
        return moments, Course(
            constants.recursion(moments, noise, size), constants.mean_path(moments, noise, size),
            rounding, Bounds(error, stored, sure, random),
        )  # fmt: skip

    def fourth(
        self, moments: AttackMoments, course: Course, probability: float
    ) -> FourthMoment | None:
        """Return the recursion for fourth moments, None if it is not known or of no use."""
        request, recursion = self.request, course.recursion
        if request.random_start or recursion.push == 0.0 == recursion.constant:
            return None
        return fourth_moment(
            request.problem, self.sensing, self.trainer.weighting, course.path, moments,
            probability, request.batch_size, request.coordinates,
        )  # fmt: skip

    def _hypotheses(self) -> list[Assumption]:
        request, trainer, constants = self.request, self.trainer, self.constants
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


def certify_sharply(request: Request) -> Certificate:
    """Return the certificate for the step size, or schedule, in use."""
    view = InCoordinates(request)
    if view.obstacles:
        return request.certificate("sharp", view.assumptions)
    moments, course = view.against(request.attack)
    recursion, step_size = course.recursion, _step_size(view.trainer, course.recursion)
    settles = [] if isinstance(step_size, Schedule) else [_settles(recursion, step_size, request)]
    fourth = view.fourth(moments, course, request.budget.probability or 0.0)
    if request.problem.noise > 0.0:
        settles.append(noise(request.problem, by_fourth_moment=fourth is not None))
    record = recorded_steps("log", _shown(course, step_size, request.steps))
    bounds = at_steps(course, step_size, record)
    end = _end(course, step_size, bounds)
    last = end if request.steps is None else Bounds(*(part[-1] for part in bounds))
    clean = recursion.push == 0.0 == recursion.constant
    radii = bounds.radius(request.delta, record, all_times=clean)
    radius = float(last.radius(request.delta, record[-1]))
    if fourth is not None:
        radii = np.fmin(radii, by_fourth_moment(fourth, course, step_size, record, request.delta))
        radius = radius if request.steps is None else min(radius, float(radii[-1]))
    return request.certificate(
        "sharp",
        view.assumptions + settles,
        step_size=None if isinstance(step_size, Schedule) else step_size,
        weighting=view.trainer.weighting,
        radius=radius,
        root_mean_square=float(last.root),
        at_steps=record,
        mean_square_bounds=squared(bounds.root),
        radii=radii,
        floor=float(end.root),
        limit=min(recursion.limit + course.least_rounding(1.0), float(end.root)),
        rounding=max(course.rounding.storage, float(last.root) - float(last.exact)),
        risk=view.constants.risk,
        any_time=clean and request.problem.law.symmetric,
        this_attack=request.against_this_attack(view.trainer),
        constants={
            "lambda1": view.constants.lambda1, "L1": view.constants.L1, "L2": view.constants.L2,
            "tau": moments.tau, "s2": moments.s2, "s0": view.constants.s0,
            "fastest": recursion.fastest,
        },
    )  # fmt: skip


def by_fourth_moment(
    fourth: FourthMoment, course: Course, step_size: float | Schedule, record: Index, delta: float
) -> Array:
    """Return the radii from fourth moments at the steps of `record`; inf where none is known."""
    most = min(int(record[-1]), MOST_STEPS)
    etas = sizes_of(step_size, most)
    known = at_steps(course, step_size, np.arange(most + 1))
    rounding = course.rounded(etas, known.root[:-1])
    radii = fourth.radii(known, etas, delta, rounding)
    found = np.append(radii, math.inf)[np.minimum(record, most + 1)]
    return np.asarray(np.where(np.isnan(found), math.inf, rounded_up(found, record)))


def _settles(recursion: Recursion, step_size: float, request: Request) -> Assumption:
    largest = recursion.pull / recursion.square
    return Assumption(
        STEP_SIZE,
        f"The step size is below {largest:.4g}, so that the error does not grow in the long run.",
        step_size,
        f"< {largest:.4g}",
        step_size < largest,
        f"The fastest step size is {recursion.fastest:.4g}.",
        blocking=request.steps is None,
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
