"""`neurotron certify` and `neurotron plan`: what is guaranteed, and what to do for a guarantee."""

from __future__ import annotations

import dataclasses
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from neurotron import _check, attacks, trainers
from neurotron._digits import up
from neurotron.cli import options
from neurotron.figures import check_picture
from neurotron.problem import Problem
from neurotron.trainers import Arm

if TYPE_CHECKING:
    from neurotron.guarantees import TrainingCertificate

__all__ = ["certify", "plan"]

Failure = Annotated[float, typer.Option(help="δ, the chance that the guarantee may be wrong.")]
InitialError = Annotated[
    float | None,
    typer.Option(help="A bound on the error at the start, if it is not known."),
]
Simulate = Annotated[
    bool, typer.Option("--simulate", help="Also train, and show the measured error under it.")
]
Scope = Annotated[str, typer.Option(help="What an attacker looks at: query or batch.")]


def certify(
    law: options.LawName = "normal",
    network: options.NetworkName = "symmetric",
    attack: options.AttackName = "adaptive",
    trainer: Annotated[str, typer.Option(help="The trainer to certify.")] = "neuro-tron",
    bound: Annotated[float, typer.Option(help="θ, the largest change of a label.")] = 0.25,
    probability: Annotated[float, typer.Option(help="β, the chance of an attack.")] = 0.5,
    n_inputs: options.InputCount = 100,
    filter_size: options.FilterSize = 25,
    steps: Annotated[
        int | None, typer.Option(help="Number of updates; the long run if left out.")
    ] = None,
    batch_size: options.BatchSize = 16,
    noise: options.Noise = 0.0,
    failure: Failure = 0.05,
    initial_error: InitialError = None,
    method: Annotated[str, typer.Option(help="sharp, theorem1 or measured.")] = "sharp",
    seed: options.Seed = 0,
    simulate: Simulate = False,
    plot: options.Picture = None,
    as_json: options.AsJson = False,
) -> None:
    """Say what is guaranteed about the error of a trainer, and under which assumptions.

    The guarantee holds against every attacker with the bound and probability of the attack. A
    trainer that does not give its step_size gets the fastest one. For example

    neurotron certify --trainer neuro-tron:step_size=1e-3 --bound 1 --steps 40000

    neurotron certify --law student-t:dof=4 --trainer neuro-tron:weighting=inverse-norm

    neurotron certify --trainer neuro-tron:step_size=1e-4,sensing=mean --method theorem1

    The exit code is 1 if nothing is guaranteed.
    """
    if simulate and steps is None:
        raise _check.InputError("`--simulate` needs --steps")
    problem = options.build_problem(network, law, n_inputs, filter_size, noise, seed)
    adversary = attacks.build(attack, problem, bound=bound, probability=probability, seed=seed)
    arm = Arm(trainers.build(trainer, step_size="fastest"), adversary)
    if plot is not None:
        check_picture("--plot", plot)
    from neurotron.guarantees import certify as make_certificate

    certificate = make_certificate(
        problem, arm, batch_size=batch_size, steps=steps, failure=failure,
        initial_error=initial_error, method=method, seed=seed,
    )  # fmt: skip
    _tell(problem, certificate, certificate.to_dict(), as_json)
    _show(certificate, problem, arm, seed, simulate, plot, as_json)
    if not certificate.holds:
        raise typer.Exit(1)


def plan(
    law: options.LawName = "normal",
    network: options.NetworkName = "symmetric",
    bound: Annotated[float | None, typer.Option(help="θ, the largest change of a label.")] = None,
    probability: Annotated[float | None, typer.Option(help="β, the chance of an attack.")] = None,
    accuracy: Annotated[
        float | None, typer.Option(help="ε, the largest distance from the true weights.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Number of updates.")] = None,
    n_inputs: options.InputCount = 100,
    filter_size: options.FilterSize = 25,
    batch_size: options.BatchSize = 16,
    noise: options.Noise = 0.0,
    failure: Failure = 0.05,
    sensing: Annotated[str, typer.Option(help="optimal, polar or mean.")] = "optimal",
    weighting: Annotated[str | None, typer.Option(help="inverse-norm, for heavy tails.")] = None,
    step_size: Annotated[str, typer.Option(help="constant or scheduled.")] = "constant",
    scope: Scope = "query",
    initial_error: InitialError = None,
    method: Annotated[str, typer.Option(help="sharp or theorem1.")] = "sharp",
    attack: Annotated[str, typer.Option(help="The attack that --simulate uses.")] = "adaptive",
    seed: options.Seed = 0,
    simulate: Simulate = False,
    plot: options.Picture = None,
    as_json: options.AsJson = False,
) -> None:
    """Find step size and steps, or accuracy, or the largest attack, for a guarantee.

    Give three of --bound, --probability, --accuracy and --steps: the fourth is the answer. For
    example: how many steps to come within 1, and how strong an attack do 5000 steps stand?

    neurotron plan --bound 1 --probability 0.5 --accuracy 1

    neurotron plan --probability 0.5 --accuracy 1 --steps 5000
    """
    problem = options.build_problem(network, law, n_inputs, filter_size, noise, seed)
    if plot is not None:
        check_picture("--plot", plot)
    from neurotron.guarantees import plan as make_plan

    budget = attacks.Budget(bound, probability, _check.choice("scope", scope, ("query", "batch")))  # type: ignore[arg-type]
    found = make_plan(
        problem, budget, batch_size=batch_size, accuracy=accuracy, steps=steps, failure=failure,
        sensing=sensing, weighting=weighting, step_size=step_size, initial_error=initial_error,
        method=method,
    )  # fmt: skip
    _tell(problem, found.certificate, found.to_dict(), as_json, found.statement)
    met = found.certificate.budget
    adversary = attacks.build(
        attack, problem, bound=met.bound or 0.0, probability=met.probability or 0.0, seed=seed
    )
    arm = dataclasses.replace(found.arm, attack=adversary)
    certificate = dataclasses.replace(found.certificate, arm=arm)
    _show(certificate, problem, arm, seed, simulate, plot, as_json)


def _tell(
    problem: Problem,
    certificate: TrainingCertificate,
    content: dict[str, Any],
    as_json: bool,
    headline: str = "",
) -> None:
    """Print the content as JSON; or the statement, its assumptions and its numbers."""
    if as_json:
        typer.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
        return
    from neurotron.guarantees.certificate import WIDTH

    out = options.console()
    options.describe(out, problem)
    out.print(f"\n{headline}" if headline else "")
    out.print(textwrap.fill(certificate.statement, WIDTH))
    out.print()
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("", "assumption", "required", "it is", "what to change"):
        table.add_column(column, header_style="dim", overflow="fold")
    for a in certificate.assumptions:
        measured = a.measured if isinstance(a.measured, str) else f"{a.measured:.4g}"
        mark, remedy = ("✓", "") if a.holds else ("✗", a.remedy)
        table.add_row(mark, a.name, a.required, measured, remedy)
    out.print(table, soft_wrap=False)
    if certificate.holds and certificate.kind != "empirical":
        step = "scheduled" if certificate.step_size is None else f"{certificate.step_size:.4g}"
        out.print(
            f"\nstep size {step}; root mean squared error ends at {up(certificate.floor)}, limit "
            f"of every step size {up(certificate.limit)}"
        )


def _show(
    certificate: TrainingCertificate,
    problem: Problem,
    arm: Arm,
    seed: int,
    simulate: bool,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Train if wanted, say what was measured, and draw the picture."""
    run = None
    if simulate:
        steps = certificate.steps
        assert steps is not None
        run = options.train(
            problem, [arm], quiet=as_json, steps=steps, batch_size=certificate.batch_size, seed=seed
        )
        options.console(stderr=as_json).print(
            f"measured after {run.steps[-1]:,} steps under {arm.attack!r}: ‖w − w*‖ = "
            f"{run.errors[0, -1]:.4g}"
        )
    if plot is not None:
        certificate.plot(str(plot), run=run)
        if not as_json:
            options.console().print(f"picture: {plot}")
