"""The certificate of the paper's Theorem 1 (section 3.1)."""

from __future__ import annotations

import math

import numpy as np

from neurotron import _check
from neurotron._types import Array, Index
from neurotron.engine.recording import recorded_steps
from neurotron.guarantee import Assumption
from neurotron.guarantees.assumptions import (
    below,
    finite_constant,
    labels,
    parity,
    positive_pull,
)
from neurotron.guarantees.certificate import Certificate
from neurotron.guarantees.request import Request
from neurotron.theory.course import rounded_up
from neurotron.theory.rounding import Rounding, squared
from neurotron.theory.sharp import sharp_recursion
from neurotron.theory.theorem1 import Theorem1
from neurotron.trainers import NeuroTron
from neurotron.trainers.neuro_tron import ScheduledTron


def certify_by_theorem1(request: Request) -> Certificate:
    """Return the certificate for the step size in use, whose γ is b*/(η c1 λ2)."""
    trainer = request.trainer()
    if isinstance(trainer, ScheduledTron) or trainer.step_size == "scheduled":
        raise _check.InputError(
            "Theorem 1 is about a constant step size: use method='sharp' for a schedule"
        )
    theorem, assumptions = theorem_and_hypotheses(request, trainer)
    if theorem is None:
        return request.certificate("theorem1", assumptions)
    constants = {
        "lambda1": theorem.lambda1, "lambda2": theorem.lambda2, "lambda3": theorem.lambda3,
        "beta1": theorem.attacked[0], "c_trade": theorem.trade_off, "c1": theorem.c1,
        "C": theorem.case_constant, "risk_ratio": theorem.risk_ratio(request.delta),
    }  # fmt: skip
    if not all(assumption.holds for assumption in assumptions):
        return request.certificate("theorem1", assumptions, constants=constants)
    step_size, sensing = trainer.step_size, np.asarray(trainer.sensing)
    if isinstance(step_size, str):
        step_size = sharp_recursion(
            request.problem, sensing, trainer.weighting, request.attack, request.batch_size
        ).fastest
    assumptions.append(_gamma(theorem, step_size))
    if not assumptions[-1].holds:
        return request.certificate("theorem1", assumptions, constants=constants)
    gamma, record = theorem.gamma(step_size), recorded_steps("log", request.steps or 0)
    roots, added = rounded_roots(theorem, request, gamma, record)
    end = [float(part) for part in rounded_roots(theorem, request, gamma, None)]
    last = end if request.steps is None else [float(roots[-1]), float(added[-1])]
    root, scale = sum(last), float(rounded_up(1.0, 0)) / math.sqrt(request.delta)
    assumptions += _accuracy(theorem, root**2, request.start)
    constants |= _rates(theorem, root**2, request.start, gamma)
    holds = all(assumption.holds for assumption in assumptions)
    return request.certificate(
        "theorem1",
        assumptions,
        step_size=step_size,
        radius=scale * root if holds else math.inf,
        root_mean_square=root,
        at_steps=record,
        mean_square_bounds=squared(roots + added),
        radii=scale * (roots + added),
        floor=sum(end),
        limit=resolved(theorem, request),
        rounding=last[1],
        risk=theorem.risk,
        any_time=theorem.bound == 0.0,
        this_attack=request.against_this_attack(trainer),
        constants=constants,
    )


def rounded_roots(
    theorem: Theorem1, request: Request, gamma: float, steps: Index | None
) -> tuple[Array, Array]:
    """Return √Δ after some steps, or in the long run, and what rounding errors add to it.

    A step multiplies the excess over the exact bound by at most √(1 − κ) ≤ 1 − κ/2.
    """
    rounding = _rounding(theorem, request)
    kept = np.asarray(2.0 / theorem.rate(gamma))
    exact = np.asarray(theorem.floor(gamma))
    if steps is not None:
        exact, kept = theorem.after(request.start, steps, gamma), np.minimum(steps, kept)
    added = np.maximum(rounding.of_step(theorem.step_size(gamma)) * kept, rounding.storage)
    return np.sqrt(exact), np.asarray(added)


def resolved(theorem: Theorem1, request: Request) -> float:
    """Return the best possible bound on √Δ: in the long run, with what rounding adds at least."""
    pull, square = theorem.margin * theorem.lambda2, theorem.c1 * theorem.lambda2**2
    least = _rounding(theorem, request).least(pull, square)
    return math.sqrt(theorem.c3 / theorem.margin) + least


def _rounding(theorem: Theorem1, request: Request) -> Rounding:
    """Return the rounding errors of a step, at the start and nearer to w*."""
    spread = theorem.lambda2 * math.sqrt(theorem.norms[3])
    sensed = theorem.lambda2 * math.sqrt(theorem.norms[1])
    return request.rounding(spread, sensed).within(request.initial_error)


def theorem_and_hypotheses(
    request: Request, trainer: NeuroTron
) -> tuple[Theorem1 | None, list[Assumption]]:
    """Return the theorem's constants, None if they do not exist, and what it asks for."""
    assumptions = [
        parity(request.problem),
        *labels(request.problem),
        request.covered("theorem1"),
        _paper(request, trainer),
    ]
    if request.problem.law.symmetric:
        assumptions += [_moment(request, trainer, order) for order in (1, 2, 3, 4)]
    if not all(assumption.holds for assumption in assumptions):
        return None, assumptions
    sensing = np.asarray(trainer.sensing)
    theorem = Theorem1.of(request.problem, sensing, request.attack, request.batch_size)
    return theorem, assumptions + _trade_off(theorem)


def _paper(request: Request, trainer: NeuroTron) -> Assumption:
    noise, weighting = request.problem.noise, trainer.weighting
    rows = "weighted" if request.problem.law.weighted else "not weighted"
    return Assumption(
        "as in the paper",
        "As in the paper, honest labels have no noise, and samples and rows have no weights.",
        f"noise is {noise:g}, weighting is {weighting}, and rows are {rows}",
        "noise 0, weighting None, rows not weighted",
        noise == 0.0 and weighting is None and not request.problem.law.weighted,
        "Use the method 'sharp'.",
    )


def _moment(request: Request, trainer: NeuroTron, order: int) -> Assumption:
    return finite_constant(
        f"m{order}",
        f"The moment E‖x‖^{order} of the inputs is finite.",
        request.problem.norm_moment(order),
        lambda: f"Try the method 'sharp'. {request.other_moments(trainer)}",
    )


def _trade_off(theorem: Theorem1) -> list[Assumption]:
    return [
        positive_pull(theorem.lambda1, "polar"),
        Assumption(
            "c_trade > 0",
            "The trade-off c_trade = (1+α)λ1/(β1λ2) − 1, of pull and attack, is positive.",
            theorem.trade_off,
            "> 0",
            theorem.trade_off > 0.0,
            f"Scale the inputs by more than {theorem.scale_needed:.4g} with θ unchanged, have β "
            f"below {theorem.largest_probability:.4g}, or try sensing='polar'. The method 'sharp' "
            "does not need this assumption.",
        ),
    ]


def _rates(theorem: Theorem1, target: float, start: float, gamma: float) -> dict[str, float]:
    """Return γ, c_rate, θ* for ε²δ = `target`, and the steps that the paper's formula has for it.

    The numbers of steps are of exact arithmetic. They are left out where rounding errors are so
    large a part of the target that the formula has no answer.
    """
    found = {
        "gamma": gamma, "c_rate": theorem.c_rate(gamma),
        "theta_star": theorem.largest_bound(target) if theorem.bound > 0.0 else 0.0,
    }  # fmt: skip
    steps = {
        "steps_exact": theorem.updates_to(start, target, gamma),
        "steps_by_c_rate": theorem.updates_by_rate(start, target, gamma),
    }
    return found | {name: float(count) for name, count in steps.items() if count is not None}


def _gamma(theorem: Theorem1, step_size: float) -> Assumption:
    largest = theorem.step_size(1.0)
    remedy = f"Use a step size below {largest:.4g}."
    return below("γ > 1", "The step size is below b*/(c1λ2) =", step_size, largest, remedy)


def _accuracy(theorem: Theorem1, target: float, start: float) -> list[Assumption]:
    """Return the hypotheses about the accuracy ε, with ε²δ = `target`."""
    honest = Assumption("θ < θ*", "Labels are honest, so the bound θ is 0.", 0.0, "0", True)
    return [
        honest if theorem.bound == 0.0 else below(
            "θ < θ*", "The bound θ is below θ* = √(ε²δ c_trade) =", theorem.bound,
            theorem.largest_bound(target),
            "Ask for a larger radius ε: less confidence, or a weaker attack.",
        ),
        below(
            "ε²δ < ‖w₁ − w*‖²", "The guaranteed mean squared error ε²δ is below that of the start,",
            target, start, "Use more steps, or a smaller step size.",
        ),
    ]  # fmt: skip
