"""`neurotron certify` and `neurotron plan`: what is guaranteed, and how to reach a guarantee."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neurotron import _check
from neurotron._digits import up
from neurotron.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from neurotron.guarantees import Plan, TrainingCertificate
    from neurotron.problem import Problem

__all__ = ["certify", "plan"]

Failure = Annotated[
    float, options.GUARANTEE("δ, the largest probability that the guarantee is wrong.")
]
InitialError = Annotated[
    float | None, options.GUARANTEE("A bound on the error at the start. Default: the error itself.")
]
MaybeBound = Annotated[float | None, options.ATTACK("θ, the largest change of a label.")]
MaybeProbability = Annotated[
    float | None, options.ATTACK("β, the probability that a label is attacked.")
]


def certify(
    setup: options.ProblemOptions,
    attack: options.AttackName = "adaptive",
    bound: Annotated[float, options.ATTACK("θ, the largest change of a label.")] = 0.25,
    probability: options.Probability = 0.5,
    trainer: Annotated[str, options.TRAINER.named("trainers", "The trainer.")] = "neuro-tron",
    steps: Annotated[
        int | None, options.RUN("The number of updates. Default: the limit of infinitely many.")
    ] = None,
    batch_size: options.BatchSize = 16,
    failure: Failure = 0.05,
    initial_error: InitialError = None,
    method: Annotated[
        str,
        options.GUARANTEE("The method: sharp, theorem1 (the paper's), or measured (not proved)."),
    ] = "sharp",
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
    """
    from neurotron import attacks, guarantees, trainers
    from neurotron.trainers import Arm

    problem = setup.build()
    adversary = attacks.build(
        attack, problem, bound=bound, probability=probability, seed=setup.seed
    )
    arm = Arm(trainers.BY_NAME.build(trainer), adversary)
    certificate = guarantees.certify(
        problem, arm, batch_size=batch_size, steps=steps, failure=failure,
        initial_error=initial_error, method=method, seed=setup.seed,
    )  # fmt: skip
    _tell(problem, certificate, plot, as_json)
    if not certificate.useful:
        raise typer.Exit(1)


def plan(
    setup: options.ProblemOptions,
    bound: MaybeBound = None,
    probability: MaybeProbability = None,
    scope: Annotated[
        str, options.ATTACK("What the attack sees: query (one sample) or batch (all of it).")
    ] = "query",
    sensing: Annotated[
        str, options.TRAINER("The sensing matrix, as in `neurotron list sensing`.")
    ] = "optimal",
    weighting: Annotated[
        str | None, options.TRAINER("Give inverse-norm for inputs with heavy tails.")
    ] = None,
    step_size: Annotated[
        str, options.TRAINER("The kind of step size: constant or scheduled.")
    ] = "constant",
    steps: Annotated[int | None, options.RUN("The number of updates.")] = None,
    batch_size: options.BatchSize = 16,
    accuracy: Annotated[
        float | None, options.GUARANTEE("ε, the largest error that is allowed.")
    ] = None,
    accuracy_of: Annotated[
        str,
        options.GUARANTEE(
            "What ε bounds: weights (the distance from the true ones), or predictions (their "
            "root mean squared error, in label units)."
        ),
    ] = "weights",
    failure: Failure = 0.05,
    initial_error: InitialError = None,
    method: Annotated[
        str, options.GUARANTEE("The method: sharp, or theorem1 (the paper's).")
    ] = "sharp",
    plot: options.Picture = None,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> None:
    r"""Find the step size and the steps, the accuracy, or the strongest attack for a guarantee.

    Give three of --bound, --probability, --accuracy and --steps, and the planner finds the fourth.
    How many steps are needed to come within 1 of the true weights? Which attack do 5000 steps
    tolerate?

        neurotron plan --bound 1 --probability 0.5 --accuracy 1

        neurotron plan --probability 0.5 --accuracy 1 --steps 5000

        neurotron plan --probability 0.2 --steps 5000 \
            --accuracy 2 --accuracy-of predictions
    """
    from neurotron import attacks, guarantees

    problem = setup.build()
    budget = attacks.Budget(bound, probability, _check.choice("scope", scope, ("query", "batch")))  # type: ignore[arg-type]
    found = guarantees.plan(
        problem, budget, batch_size=batch_size, accuracy=accuracy, accuracy_of=accuracy_of,
        steps=steps, failure=failure, sensing=sensing, weighting=weighting, step_size=step_size,
        initial_error=initial_error, method=method,
    )  # fmt: skip
    _tell(problem, found.certificate, plot, as_json, found)


def _tell(
    problem: Problem, certificate: TrainingCertificate, plot: Path | None, as_json: bool,
    plan: Plan | None = None,
) -> None:  # fmt: skip
    """Print the result as JSON; or the statement, its assumptions and its numbers. Draw it."""
    if plot is not None:
        certificate.plot(str(plot))
    result: Plan | TrainingCertificate = plan or certificate
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
    _tell_paper(out, problem, certificate)
    if plot is not None:
        out.print(f"Picture: {plot}")


def _tell_paper(out: Console, problem: Problem, certificate: TrainingCertificate) -> None:
    """Print the paper's own numbers, if the certificate is by its Theorem 1."""
    from neurotron.guarantees.paper import paper_numbers

    found = paper_numbers(problem, certificate)
    if found:
        out.print("\nThe paper's numbers:")
        for sentence in found:
            out.print(f"  {sentence}")
