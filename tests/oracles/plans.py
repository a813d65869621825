"""Random plans, each checked against its own inequality in higher precision.

They are for simulated data and for tables, with every kind of budget, for errors of the weights and
of predictions.
"""

from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from mpmath import mp, mpf
from tests.oracles.fourth_moments import fourth_moments
from tests.oracles.problems import random_case
from tests.oracles.recursions import course_of
from tests.oracles.tables import random_rows

import neurotron as nt
from neurotron.guarantees.request import Request
from neurotron.guarantees.theorems import coordinates_of
from neurotron.theory.attack_moments import attack_moments
from neurotron.theory.course import Schedule, at_steps, sizes_of
from neurotron.theory.fourth_moment import MOST_STEPS, FourthMoment, fourth_moment
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.recursion import Recursion
from neurotron.theory.sharp import sharp_constants
from neurotron.theory.theorem1 import Theorem1
from neurotron.trainers.neuro_tron import ScheduledTron

ITERATED = 200_000
"""Plans of up to so many steps are iterated with 19 digits; longer ones with 16, compiled."""


class View(NamedTuple):
    """The sharp certificate in some coordinates: errors are at most `unit` (radius + `shift`)."""

    recursion: Recursion
    path: MeanPath
    start: float
    unit: float
    shift: float
    fourth: FourthMoment | None


class Promise(NamedTuple):
    """What a plan says: after `steps` of size `step_size`, the error is at most `radius`."""

    views: list[View]
    theorem: Theorem1 | None
    start: float
    radius: float
    fails: float
    """The probability δ with which it may fail."""
    steps: int
    step_size: float | None
    schedule: tuple[Recursion, float] | None


class Question(NamedTuple):
    """What a planner is asked."""

    problem: nt.Problem
    budget: nt.Budget
    options: dict[str, Any]


def random_question(number: int) -> Question:
    """Return question `number`: every ingredient is drawn."""
    draw = np.random.default_rng([5, number])
    table = number % 4 == 3
    if table:
        problem, weighting = random_rows(draw, int(draw.integers(1000)))
        method, sensing, batch_size = "sharp", "optimal", int(draw.choice([1, 2, 8]))
    else:
        case = random_case(int(draw.integers(2, 400)) // 4 * 4 + 2)
        weighting, batch_size = case.trainer.weighting, case.batch_size
        problem = nt.Problem.draw(
            case.problem.network, case.problem.law, true_weights=case.problem.true_weights
        )
        method = "theorem1" if weighting is None and draw.random() < 0.4 else "sharp"
        sensing = "polar" if method == "theorem1" else "optimal"
    asked = str(draw.choice(["bound", "probability", "radius", "steps"]))
    scheduled = method == "sharp" and draw.random() < 0.3
    theta, beta = float(10.0 ** draw.uniform(-3.0, 0.5)), float(draw.uniform(0.01, 1.0))
    options = {
        "batch_size": batch_size,
        "method": method,
        "sensing": sensing,
        "weighting": weighting,
        "confidence": 1.0 - float(10.0 ** draw.uniform(-3.0, -0.5)),
        "step_size": "scheduled" if scheduled else "constant",
        "radius_of": "predictions" if draw.random() < 0.25 else "weights",
    }
    radius, steps = float(10.0 ** draw.uniform(-3.0, 1.0)), int(10.0 ** draw.uniform(1.0, 5.0))
    options |= {} if asked == "radius" else {"radius": radius}
    options |= {} if asked == "steps" else {"steps": steps}
    theta_or_none = None if asked == "bound" else theta
    if table and asked != "probability" and draw.random() < 0.4:
        return Question(problem, nt.Budget(theta_or_none, rows=1 + number % 3), options)
    chance = None if asked == "probability" else beta
    scope = "batch" if draw.random() < 0.3 else "query"
    return Question(problem, nt.Budget(theta_or_none, chance, scope), options)


def random_plan(number: int) -> Promise | None:
    """Return plan `number`, None if it was refused as not achievable."""
    question = random_question(number)
    problem, options = question.problem, question.options
    try:
        plan = nt.plan(problem, question.budget, **options)
    except nt.NotAchievable:
        return None
    wanted = plan.answer if plan.asked == "radius" else options["radius"]
    trainer, fails = plan.arm.trainer, float(1 - Fraction(repr(options["confidence"])))
    predictions = options["radius_of"] == "predictions"
    views, theorem, start = [], None, 0.0
    if options["method"] == "theorem1":
        matrix = problem.sensing_matrix(options["sensing"])
        theorem = Theorem1.of(problem, matrix, plan.certificate.budget, options["batch_size"])
        start = problem.initial_error() ** 2
        wanted /= math.sqrt(theorem.risk) if predictions else 1.0
    else:
        views = _views(question, plan, predictions=predictions)
    schedule = (trainer.recursion, trainer.start) if isinstance(trainer, ScheduledTron) else None
    return Promise(
        views, theorem, start, wanted, fails, plan.steps, plan.certificate.step_size, schedule
    )


def _views(question: Question, plan: nt.guarantees.Plan, *, predictions: bool) -> list[View]:
    """Return the sharp certificate in all coordinates in which there is one."""
    problem, options, budget = question.problem, question.options, plan.certificate.budget
    plain = nt.NeuroTron(1.0, options["sensing"], weighting=options["weighting"])
    plain = dataclasses.replace(plain, weighting=plain.weighting_for(problem))
    matrix, b = problem.sensing_matrix("optimal", plain.weighting), options["batch_size"]
    request = Request(
        problem, nt.Arm(plain), b, plan.steps, options["confidence"], None, budget, "sharp"
    )
    found = []
    for coordinates in coordinates_of(request):
        request = dataclasses.replace(request, coordinates=coordinates)
        constants = sharp_constants(problem, matrix, plain.weighting, coordinates)
        if not (constants.lambda1 > 0.0 and constants.largest(disturbed=True) < math.inf):
            continue
        moments = attack_moments(constants, problem, matrix, plain.weighting, budget, coordinates)
        unit = math.sqrt(constants.risk) if predictions else coordinates.shrinks
        path = constants.mean_path(moments, problem.noise, b)
        fourth = fourth_moment(
            problem, matrix, plain.weighting, path, moments, budget.probability or 0.0, b,
            coordinates,
        )  # fmt: skip
        recursion = constants.recursion(moments, problem.noise, b)
        found.append(View(recursion, path, request.start, unit, request.shift, fourth))
    return found


def kept(promise: Promise) -> bool:
    """Check a promise with 30 digits, with 19 where it is iterated, with 16 if that is long."""
    mp.dps = 30
    if promise.theorem is not None:
        return _theorem1_kept(promise, promise.theorem)
    if promise.steps <= ITERATED:
        return any(
            _iterated(promise, view, np.longdouble) or _by_fourth_moment(promise, view)
            for view in promise.views
        )
    return any(_iterated(promise, view, float) for view in promise.views)


def _theorem1_kept(promise: Promise, theorem: Theorem1) -> bool:
    """a^{T−1} Δ_1 + s (1 − a^{T−1})/(1 − a) ≤ ε²δ, from the definitions."""
    assert promise.step_size is not None
    eta, lambda2 = mpf(promise.step_size), mpf(theorem.lambda2)
    c1, c2, c3, margin = (mpf(c) for c in (theorem.c1, theorem.c2, theorem.c3, theorem.margin))
    inverse = eta * c1 * lambda2 / margin  # 1/γ
    a = 1 - margin**2 / c1 * (inverse - inverse**2)
    s = (margin * inverse / c1) ** 2 * c2 + margin * inverse / c1 * c3
    power, target = a**promise.steps, mpf(promise.radius) ** 2 * mpf(promise.fails)
    return bool(power * mpf(promise.start) + s * (1 - power) / (1 - a) <= target)


def _iterated(promise: Promise, view: View, number: Any) -> bool:
    """Iterate Δ, the mean path and the deviations from it, as docs/theory.md states them.

    Double precision is compiled. Its relative error is far below the margin of a plan.
    """
    schedule, own = promise.schedule or (view.recursion, view.start)
    numbers = [*view.recursion.numbers, *dataclasses.astuple(view.path), *schedule.numbers]
    eta = -1.0 if promise.step_size is None else promise.step_size
    loop = _compiled() if number is float else _loop
    delta, path, spread = loop(
        *map(number, numbers), number(view.start), number(own), number(eta), promise.steps
    )
    return _within(promise, view, delta, path, spread)


def _within(promise: Promise, view: View, delta: Any, path: Any, spread: Any) -> bool:
    fails = type(delta)(promise.fails)
    radius = min(np.sqrt(delta / fails), path + np.sqrt(spread / fails))
    return bool(view.unit * (radius + view.shift) <= promise.radius)


def _by_fourth_moment(promise: Promise, view: View) -> bool:
    """Iterate U with 16 digits, from B and V."""
    if view.fourth is None or promise.steps > MOST_STEPS:
        return False
    size: float | Schedule | None = promise.step_size
    if size is None:
        size = Schedule(*(promise.schedule or (view.recursion, view.start)))
    course = course_of(view.recursion, view.path, math.sqrt(view.start))
    known = at_steps(course, size, np.arange(promise.steps + 1))
    etas = sizes_of(size, promise.steps)
    u = fourth_moments(view.fourth, known.path, known.spread**2, etas, float)[-1]
    radius = known.path[-1] + (u / promise.fails) ** 0.25
    return bool(view.unit * (radius + view.shift) <= promise.radius)


def _loop(
    p, q, d2, d1, d0, low, high, least, most, push, v2, v1, v0,
    own_p, own_q, own_d2, own_d1, own_d0, own_low, own_high, delta, own, eta, steps,
):  # fmt: skip
    """Return Δ, B and V after the steps; a negative η stands for those of a schedule."""
    path, spread, zero = np.sqrt(delta), 0 * delta, 0 * delta
    for _ in range(steps):
        s = np.sqrt(delta)
        step = eta
        if eta < 0:
            r = np.sqrt(own)
            rise = own_d2 * own + own_d1 * r + own_d0
            step = max(own_p * own - own_q * r, zero) / (2 * (rise - own_q * own_low * r))
            if own_low + own_high > 0:
                step = min(step, 2 / (own_low + own_high))
            factor = max(abs(1 - step * own_low), abs(1 - step * own_high))
            own = max(own - step * (own_p * own - own_q * factor * r - step * rise), zero)
        keep = max(abs(1 - step * least), abs(1 - step * most))
        path = keep * path + step * push
        spread = keep * keep * spread + step * step * (v2 * delta + v1 * s + v0)
        factor = max(abs(1 - step * low), abs(1 - step * high))
        rise = d2 * delta + d1 * s + d0
        delta = max(delta - step * (p * delta - q * factor * s - step * rise), zero)
    return delta, path, spread


@cache
def _compiled() -> Any:
    return numba.njit(_loop)


class Tally(NamedTuple):
    """Of some plans: how many were made, and which do not keep their promise."""

    made: int
    broken: list[int]


def tally(numbers: range) -> Tally:
    """Ask for random plans, and check those that can be made."""
    found = {number: random_plan(number) for number in numbers}
    promises = {number: promise for number, promise in found.items() if promise is not None}
    broken = [number for number, promise in promises.items() if not kept(promise)]
    return Tally(len(promises), broken)
