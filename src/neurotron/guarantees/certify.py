"""`certify`: what is guaranteed about an arm on a problem after a number of steps."""

from __future__ import annotations

import dataclasses
import math
from functools import partial

import numpy as np

from neurotron import _check
from neurotron._digits import up
from neurotron.attacks import Attack
from neurotron.attacks.budget import Budget, budget_of
from neurotron.attacks.scope import OTHER_SAMPLES, misstated
from neurotron.guarantees.certificate import Certificate
from neurotron.guarantees.plan import planned
from neurotron.guarantees.request import Request
from neurotron.guarantees.theorems import certified
from neurotron.problem import Problem
from neurotron.simulation import MOST_SAMPLES, MOST_STEPS, simulate
from neurotron.theory.rounding import Rounding
from neurotron.theory.sharp import risk_constant
from neurotron.trainers import Arm, NeuroTron, Trainer
from neurotron.trainers.neuro_tron import ScheduledTron
from neurotron.trajectories import Trajectories

METHODS = ("sharp", "theorem1", "measured")
MOST_RUNS = 1000
WORTH_SAYING = 0.99
"""Another step size is named if its radius is at most this part of the one of the fastest step."""
ULPS = 4.0
"""A measured error is not taken to be smaller than this many rounding errors of the weights."""


def certify(
    problem: Problem,
    arm: Arm | Trainer,
    *,
    batch_size: int = 16,
    steps: int | None = None,
    confidence: float = 0.95,
    initial_error: float | None = None,
    random_start: bool = False,
    method: str = "sharp",
    budget: Budget | None = None,
    seed: int = 0,
) -> Certificate:
    """Return what is guaranteed about ‖w − w*‖ when `arm` is trained on `problem`.

    A certificate `holds` if there is a bound at all, and is `useful` if the bound is better than
    the start. The fastest step size, a trainer's default, often has not the best guarantee under
    attack; the text then names the step size that has.

    Parameters
    ----------
    problem, arm, batch_size
        The same as for `simulate`. A trainer that is not in an `Arm` has honest labels; give a
        `budget` for a guarantee under attack.
    steps
        The number of steps after which the guarantee holds; None for the limit of infinitely many.
    confidence
        1 − δ, the probability with which the guarantee holds; the largest is 1 − 1e-16.
    initial_error
        A bound on the error at the start, ‖w_1 − w*‖, for problems whose w* is unknown.
    random_start
        Whether the start is random, and `initial_error` only bounds the root mean square of its
        error. By default `initial_error` is never exceeded.
    method
        "sharp" (docs/theory.md (e)) or "theorem1" (the paper's). For trainers and attacks that no
        theorem covers, "measured" trains the arm 1/δ − 1 times and reports the largest error.
    budget
        The guarantee holds against every attack within this budget. By default it is the budget of
        the arm's own attack.
    seed
        The seed of the runs with the method "measured".

    Examples
    --------
    >>> import neurotron as nt
    >>> network = nt.networks.symmetric(n_inputs=20, filter_size=5, width=4, seed=1)
    >>> problem = nt.Problem.draw(network, nt.Normal(), seed=1)
    >>> budget = nt.Budget(bound=0.25, probability=0.2)
    >>> certificate = nt.certify(problem, nt.NeuroTron(0.01), budget=budget, steps=5000)
    >>> certificate.kind, certificate.holds, round(certificate.floor, 3)
    ('theorem', True, 0.029)
    """
    _check.instance("problem", problem, Problem)
    arm = arm if isinstance(arm, Arm) else Arm(arm)
    request = Request(
        problem,
        arm,
        _check.integer("batch_size", batch_size, 1, MOST_SAMPLES),
        None if steps is None else _check.count("steps", steps, 0, MOST_STEPS),
        _check.number("confidence", confidence, "(0, 1)"),
        initial_error,
        _adversary(arm, budget, batch_size),
        _check.choice("method", method, METHODS),
        _check.instance("random_start", random_start, bool),
    )
    _check.integer("seed", seed, 0)
    if method == "measured":
        return _measure(request, seed)
    found = certified(request)
    if arm.trainer.step_size != "fastest" or not request.steps or random_start:
        return found
    return dataclasses.replace(found, advice=partial(_better_step, request))


def _better_step(request: Request, radius: float) -> str:
    """Return which step size has a better guarantee than the fastest one, if any has."""
    trainer = request.arm.trainer
    assert isinstance(trainer, NeuroTron)
    best = planned(
        trainer, request.problem, request.attack, batch_size=request.batch_size,
        steps=request.steps, confidence=request.confidence, initial_error=request.given_error,
        method=request.method,
    )  # fmt: skip
    if best is None or best.answer > WORTH_SAYING * radius:
        return ""
    return (
        f" This is the fastest step size. With step_size={best.certificate.step_size:.6g}, the "
        f"guarantee is {up(best.answer)}."
    )


def _adversary(arm: Arm, budget: Budget | None, batch_size: int) -> Attack | Budget | None:
    """Return what the guarantee is about: the arm's attack, or a budget that contains it."""
    if budget is None:
        return arm.attack
    _check.instance("budget", budget, Budget)
    if budget.bound is None or budget.probability is None:
        raise _check.InputError("`budget` must have both `bound` and `probability`")
    own = budget_of(arm.attack)
    theta = math.inf if own.bound is None else own.bound
    covered = arm.attack is None or bool(arm.attack.covered)
    if not covered or theta > budget.bound or (own.probability or 0.0) > budget.probability:
        raise _check.InputError(f"the arm's attack {arm.attack!r} exceeds the budget {budget!r}")
    if type(arm.trainer) is not ScheduledTron and arm.trainer.step_size == "scheduled":
        raise _check.InputError(
            "step_size='scheduled' depends on the arm's own attack: for a budget, use the arm of "
            "plan(…, step_size='scheduled')"
        )
    if budget.scope == "query":
        formula, found = misstated(arm.attack, batch_size)
        if own.scope == "batch" or found == OTHER_SAMPLES:
            raise _check.InputError(
                f"the arm's attack {arm.attack!r} sees the batch: give a budget with scope='batch'"
            )
        if found:
            raise _check.InputError(f"{formula} of the arm's attack {arm.attack!r} {found}")
    return budget


def _measure(request: Request, seed: int) -> Certificate:
    """Return the largest error of 1/δ − 1 runs.

    A new run is as likely as each of the others to be the largest of all N + 1, so it exceeds the
    largest of N with probability 1/(N + 1) ≤ δ.
    """
    if request.steps is None:
        raise _check.InputError("the method 'measured' needs a number of `steps`")
    count = max(math.ceil(1.0 / request.delta - 1e-9) - 1, 1)
    if count > MOST_RUNS:
        raise _check.InputError(
            f"the method 'measured' would need {count:,} runs, and {MOST_RUNS:,} is the most: give "
            f"a `confidence` of at most {1 - 1 / MOST_RUNS:g}"
        )
    if request.problem.true_weights is None:
        raise _check.InputError("the method 'measured' needs the problem's `true_weights`")
    runs = [_run(request, seed, number) for number in range(count)]
    errors = np.array([run.errors[0] for run in runs])
    rounding = Rounding.of(request.problem, request.initial_error, 0.0)
    resolved = rounding.within(request.initial_error).storage
    errors = np.maximum(errors, ULPS * resolved)
    return dataclasses.replace(
        request.certificate("measured", []),
        kind="measured",
        about="law",
        radius=float(errors[:, -1].max()),
        at_steps=runs[0].steps,
        mean_square_bounds=np.asarray((errors**2).mean(axis=0)),
        radii=errors.max(axis=0),
        root_mean_square=math.sqrt(float((errors[:, -1] ** 2).mean())),
        risk=risk_constant(request.problem),
    )


def _run(request: Request, seed: int, number: int) -> Trajectories:
    """Return a complete run; Ctrl-C ends the whole measurement, not only this run."""
    assert request.steps is not None
    run = simulate(
        request.problem, [request.arm], steps=request.steps, batch_size=request.batch_size,
        seed=seed, replicate=number,
    )  # fmt: skip
    if "interrupted" in run.status:
        raise KeyboardInterrupt
    return run
