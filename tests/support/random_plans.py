"""Random plans, each checked against its own inequality in higher precision."""

from __future__ import annotations

from dataclasses import astuple
from typing import Any, NamedTuple

import numba
import numpy as np
from mpmath import mp, mpf
from tests.support.random_problems import random_case

import neurotron as nt
from neurotron.theory.attack_moments import attack_moments
from neurotron.theory.mean_path import MeanPath
from neurotron.theory.recursion import Recursion
from neurotron.theory.sharp import sharp_constants
from neurotron.theory.theorem1 import Theorem1

ITERATED = 200_000
"""Plans of up to so many steps are iterated with 19 digits."""
FOLLOWED = 10**9
"""Longer ones are checked by their integral, or iterated in double precision."""


class Promise(NamedTuple):
    """What a plan says: after `steps` of size `step_size`, the radius is at most `accuracy`."""

    recursion: Recursion | None
    path: MeanPath | None
    theorem: Theorem1 | None
    start: float
    accuracy: float
    failure: float
    steps: int
    step_size: float | None

    @property
    def target(self) -> float:
        """The Δ for which Markov's inequality gives the accuracy."""
        return self.accuracy**2 * self.failure


def random_plan(number: int) -> tuple[Promise | None, int]:
    """Return plan `number` (None if it was refused as not achievable), and its evaluations."""
    draw = np.random.default_rng([5, number])
    case = random_case(int(draw.integers(2, 400)) // 4 * 4 + 2)
    asked = str(draw.choice(["bound", "probability", "accuracy", "steps"]))
    weighting = case.trainer.weighting
    method = "theorem1" if weighting is None and draw.random() < 0.4 else "sharp"
    scheduled = method == "sharp" and draw.random() < 0.3
    theta, beta = float(10.0 ** draw.uniform(-3.0, 0.5)), float(draw.uniform(0.01, 1.0))
    accuracy = float(10.0 ** draw.uniform(-3.0, 1.0))
    steps, failure = int(10.0 ** draw.uniform(1.0, 5.0)), float(10.0 ** draw.uniform(-3.0, -0.5))
    problem = nt.Problem.draw(
        case.problem.network, case.problem.law, true_weights=case.problem.true_weights
    )
    budget = nt.Budget(
        None if asked == "bound" else theta,
        None if asked == "probability" else beta,
        "batch" if draw.random() < 0.3 else "query",
    )
    try:
        plan = nt.plan(
            problem, budget, batch_size=case.batch_size, failure=failure, method=method,
            accuracy=None if asked == "accuracy" else accuracy,
            steps=None if asked == "steps" else steps,
            sensing="polar" if method == "theorem1" else "optimal", weighting=weighting,
            step_size="scheduled" if scheduled else "constant",
        )  # fmt: skip
    except nt.NotAchievable:
        return None, 0
    wanted = plan.certificate.radius if asked == "accuracy" else accuracy
    step_size = plan.certificate.step_size
    plain = nt.NeuroTron(1.0, plan.arm.trainer.sensing, weighting=weighting)  # type: ignore[attr-defined]
    trainer = plain.resolve(problem, batch_size=1, steps=0, attack=None)
    matrix, b, found = np.asarray(trainer.sensing), case.batch_size, plan.certificate.budget
    recursion = path = theorem = None
    if method == "theorem1":
        theorem = Theorem1.of(problem, matrix, found, b)
    else:
        constants = sharp_constants(problem, matrix, weighting)
        moments = attack_moments(constants, problem, matrix, weighting, found)
        recursion = constants.recursion(moments, problem.noise, b)
        path = constants.mean_path(moments, problem.noise, b)
    promise = Promise(
        recursion, path, theorem, problem.initial_error() ** 2, wanted, failure, plan.steps,
        step_size,
    )  # fmt: skip
    return promise, plan.evaluations


def kept(promise: Promise) -> bool:
    """Check a promise with 30 digits, with 19 where it is iterated, with 16 if that is long."""
    mp.dps = 30
    if promise.theorem is not None:
        return _theorem1_kept(promise, promise.theorem)
    if promise.steps <= ITERATED:
        return _iterated(promise, np.longdouble)
    assert promise.recursion is not None
    if _integrated(promise, promise.recursion):
        return True
    assert promise.steps <= FOLLOWED, "too many steps to check"
    return _compiled(promise)


def _theorem1_kept(promise: Promise, theorem: Theorem1) -> bool:
    """a^{T−1} Δ_1 + s (1 − a^{T−1})/(1 − a) ≤ ε²δ, from the definitions."""
    assert promise.step_size is not None
    eta, lambda2 = mpf(promise.step_size), mpf(theorem.lambda2)
    c1, c2, c3, margin = (mpf(c) for c in (theorem.c1, theorem.c2, theorem.c3, theorem.margin))
    inverse = eta * c1 * lambda2 / margin  # 1/γ
    a = 1 - margin**2 / c1 * (inverse - inverse**2)
    s = (margin * inverse / c1) ** 2 * c2 + margin * inverse / c1 * c3
    power = a**promise.steps
    return bool(power * mpf(promise.start) + s * (1 - power) / (1 - a) <= mpf(promise.target))


def _iterated(promise: Promise, number: Any) -> bool:
    """Iterate Δ, the mean path and the deviations from it, as docs/theory.md states them."""
    numbers = _numbers(promise, number)
    delta, path, spread = _loop(
        *numbers, number(promise.start), number(promise.step_size or -1.0), promise.steps
    )
    return _within(promise, delta, path, spread)


def _numbers(promise: Promise, number: Any) -> list[Any]:
    assert promise.recursion is not None
    assert promise.path is not None
    return [number(value) for value in (*promise.recursion.numbers, *astuple(promise.path))]


def _within(promise: Promise, delta: Any, path: Any, spread: Any) -> bool:
    failure = type(delta)(promise.failure)
    radius = min(np.sqrt(delta / failure), path + np.sqrt(spread / failure))
    return bool(radius <= promise.accuracy)


def _loop(p, q, d2, d1, d0, low, high, least, most, push, v2, v1, v0, delta, eta, steps):
    """Return Δ, B and V after the steps; a negative η stands for the best one every time."""
    path, spread = np.sqrt(delta), 0 * delta
    for _ in range(steps):
        s = np.sqrt(delta)
        step = eta
        if eta < 0:
            step = max(p * delta - q * s, 0 * delta) / (2 * (d2 * delta + (d1 - q * low) * s + d0))
            if low + high > 0:
                step = min(step, 2 / (low + high))
        keep = max(abs(1 - step * least), abs(1 - step * most))
        path = keep * path + step * push
        spread = keep * keep * spread + step * step * (v2 * delta + v1 * s + v0)
        factor = max(abs(1 - step * low), abs(1 - step * high))
        rise = d2 * delta + d1 * s + d0
        delta = max(delta - step * (p * delta - q * factor * s - step * rise), 0 * delta)
    return delta, path, spread


def _compiled(promise: Promise) -> bool:
    """Iterate in double precision, whose relative error is far below the margin of a plan."""
    delta, path, spread = numba.njit(_loop)(
        *_numbers(promise, float), promise.start, promise.step_size or -1.0, promise.steps
    )
    return _within(promise, np.float64(delta), path, spread)


def _integrated(promise: Promise, recursion: Recursion) -> bool:
    """∫ dΔ/h from ε²δ to Δ_1 is at most the steps: `Recursion.time` again, by quadrature."""
    p, q, d2, d1, d0, least, most = (mpf(value) for value in recursion.numbers)
    low, high = mp.sqrt(mpf(promise.target)), mp.sqrt(mpf(promise.start))

    def decrease(s: mpf) -> mpf:
        if promise.step_size is None:
            eta = (p * s**2 - q * s) / (2 * (d2 * s**2 + (d1 - q * least) * s + d0))
            eta = min(eta, 2 / (least + most)) if least + most > 0 else eta
        else:
            eta = mpf(promise.step_size)
        factor = max(abs(1 - eta * least), abs(1 - eta * most))
        return eta * (p * s**2 - q * factor * s - eta * (d2 * s**2 + d1 * s + d0))

    edge = recursion.limit if promise.step_size is None else recursion.floor(promise.step_size)
    gap = low - mpf(edge)
    if gap <= 0:
        return False

    def integrand(y: mpf) -> mpf:
        s = mpf(edge) + mp.exp(y)
        return 2 * s * mp.exp(y) / decrease(s)

    points = mp.linspace(mp.log(gap), mp.log(high - mpf(edge)), 12)
    return bool(mp.quad(integrand, points) <= promise.steps)


class Tally(NamedTuple):
    """Of some plans: how many were made, how many keep their promise, and how hard they were."""

    made: int
    kept: int
    most_evaluations: int


def tally(numbers: range) -> Tally:
    """Ask for random plans, and check those that can be made."""
    found = [random_plan(number) for number in numbers]
    promises = [promise for promise, _ in found if promise is not None]
    return Tally(len(promises), sum(map(kept, promises)), max(most for _, most in found))
