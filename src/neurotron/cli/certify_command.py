"""`neurotron certify` and `neurotron plan`: what is guaranteed, and how to reach a guarantee."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neurotron import _check
from neurotron._digits import up
from neurotron.cli import options

if TYPE_CHECKING:
    from neurotron.guarantees import Certificate, Plan
    from neurotron.problem import Problem


def certify(
    setup: options.ProblemOptions,
    attack: str = "adaptive",
    bound: float = 0.25,
    probability: float = 0.5,
    trainer: str = "neuro-tron",
    steps: int | None = None,
    batch_size: int = 16,
    confidence: float = 0.95,
    initial_error: float | None = None,
    method: str = "sharp",
    plot: options.Picture = None,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> None:
    r"""Print what is guaranteed about the error of a trainer, and under which assumptions.

    The guarantee holds against every attack with the same bound and probability. The exit code is 1
    if nothing is guaranteed, or nothing better than the start.

        neurotron certify --bound 1 --probability 0.2 --steps 10000

        neurotron certify --law student-t:dof=4 \
            --trainer neuro-tron:weighting=inverse-norm

        neurotron certify --trainer neuro-tron:step_size=1e-3

        neurotron certify --trainer sgd:step_size=1e-3 --method measured \
            --steps 5000

        neurotron certify --method theorem1 --network relu-gate --n-inputs 5 \
            --law normal:scale=0.1 --probability 0.02 \
            --trainer neuro-tron:step_size=0.01

    Attack
    ------
    attack : attacks
        The attack, or none for honest labels.
    bound
        θ, the largest change of a label.
    probability
        β, the probability that a label is attacked.

    Trainer
    -------
    trainer : trainers
        The trainer.

    Run
    ---
    steps
        The number of updates. Default: the limit of infinitely many.
    batch_size
        The number of samples per update.

    Guarantee
    ---------
    confidence
        1 − δ, the probability with which the guarantee holds.
    initial_error
        A bound on the error at the start. Default: the error itself.
    method
        The method: sharp, theorem1 (the paper's), or measured (not proved).
    """
    from neurotron import attacks, guarantees, trainers
    from neurotron.trainers import Arm

    problem = setup.build()
    adversary = attacks.build(
        attack, problem, bound=bound, probability=probability, seed=setup.seed
    )
    arm = Arm(trainers.BY_NAME.build(trainer), adversary)
    certificate = guarantees.certify(
        problem, arm, batch_size=batch_size, steps=steps, confidence=confidence,
        initial_error=initial_error, method=method, seed=setup.seed,
    )  # fmt: skip
    _tell(problem, certificate, plot, as_json)
    if not certificate.useful:
        raise typer.Exit(1)


def plan(
    setup: options.ProblemOptions,
    bound: float | None = None,
    probability: float | None = None,
    scope: str = "query",
    sensing: str = "optimal",
    weighting: str | None = None,
    step_size: str = "constant",
    steps: int | None = None,
    batch_size: int = 16,
    radius: float | None = None,
    radius_of: str = "weights",
    confidence: float = 0.95,
    initial_error: float | None = None,
    method: str = "sharp",
    plot: options.Picture = None,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> None:
    r"""Find the step size and the steps, the radius, or the strongest attack for a guarantee.

    Give three of --bound, --probability, --radius and --steps, and the planner finds the fourth.
    How many steps are needed to come within 1 of the true weights? Which attack do 5000 steps
    tolerate?

        neurotron plan --bound 1 --probability 0.5 --radius 1

        neurotron plan --probability 0.5 --radius 1 --steps 5000

        neurotron plan --probability 0.2 --steps 5000 \
            --radius 2 --radius-of predictions

    Attack
    ------
    bound
        θ, the largest change of a label.
    probability
        β, the probability that a label is attacked.
    scope
        What the attack sees: query (one sample) or batch (all of it).

    Trainer
    -------
    sensing
        The sensing matrix, as in `neurotron list sensing`.
    weighting
        Give inverse-norm for inputs with heavy tails.
    step_size
        The kind of step size: constant or scheduled.

    Run
    ---
    steps
        The number of updates.
    batch_size
        The number of samples per update.

    Guarantee
    ---------
    radius
        ε, the largest error that is allowed.
    radius_of
        What ε bounds: weights (the distance from the true ones), or predictions (their root mean
        squared error, in label units).
    confidence
        1 − δ, the probability with which the guarantee holds.
    initial_error
        A bound on the error at the start. Default: the error itself.
    method
        The method: sharp, or theorem1 (the paper's).
    """
    from neurotron import attacks, guarantees

    problem = setup.build()
    budget = attacks.Budget(bound, probability, _check.choice("scope", scope, ("query", "batch")))  # type: ignore[arg-type]
    found = guarantees.plan(
        problem, budget, batch_size=batch_size, radius=radius, radius_of=radius_of, steps=steps,
        confidence=confidence, sensing=sensing, weighting=weighting, step_size=step_size,
        initial_error=initial_error, method=method,
    )  # fmt: skip
    _tell(problem, found.certificate, plot, as_json, found)


def _tell(
    problem: Problem, certificate: Certificate, plot: Path | None, as_json: bool,
    plan: Plan | None = None,
) -> None:  # fmt: skip
    """Print the result as JSON; or the statement, its assumptions and its numbers. Draw it."""
    from neurotron.guarantees.paper import paper_numbers

    if plot is not None:
        certificate.plot(str(plot))
    result: Plan | Certificate = plan or certificate
    if as_json:
        code = int(plan is None and not certificate.useful)
        typer.echo(options.as_json(result.to_dict(), code))
        return
    out = options.console()
    options.describe(out, problem)
    out.print(f"\n{result.to_text(options.readable_width(out))}")
    if certificate.holds and math.isfinite(certificate.floor):
        kind = "a schedule" if certificate.step_size is None else "this step size"
        out.print(
            f"\nThe guaranteed root mean squared error tends to {up(certificate.floor)} with "
            f"{kind}. The best possible is {up(certificate.limit)}, for ever smaller step sizes."
        )
    if found := paper_numbers(certificate):
        out.print("\n".join(["\nThe paper's numbers:", *(f"  {sentence}" for sentence in found)]))
    if plot is not None:
        out.print(f"Picture: {plot}")
