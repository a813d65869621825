"""`neurotron simulate`: train on one problem and print the error of each trainer."""

from __future__ import annotations

import dataclasses
import inspect
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from neurotron import _check
from neurotron._digits import up
from neurotron.cli import options

if TYPE_CHECKING:
    from rich.console import Console

    from neurotron.attacks import Attack
    from neurotron.guarantees import Verification
    from neurotron.problem import Problem
    from neurotron.trainers import Trainer
    from neurotron.trajectories import Trajectories

TRAINERS = [
    "neuro-tron:sensing=mean,step_size=1e-4", "first-sample-sgd:step_size=1e-4",
    "sgd:step_size=1e-4",
]  # fmt: skip
"""The trainers of the paper's Table 1, with the step size of its first setting."""
ENDS = {"recovered": "near w*", "mirror": "towards −w*", "other": "elsewhere", "diverged": "–"}
"""Where a run ended, as the table says it."""


def simulate(
    setup: options.ProblemOptions,
    attack: str = "alternating-sign",
    bound: float | None = None,
    probability: float = 0.5,
    trainer: list[str] | None = None,
    steps: int = 40_000,
    batch_size: int = 16,
    engine: str = "auto",
    verify: int | None = None,
    plot: options.Picture = None,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> None:
    """Train on poisoned labels and print how close each trainer comes to the true weights.

    The defaults are the first setting of the paper's Table 1: inputs from N(0, 1), θ = 0.25,
    β = 0.5, and three trainers with η = 1e-4. Laws, networks, attacks and trainers are written as
    name:parameter=value, for example student-t:dof=4. The command `neurotron list` shows all of
    them.

        neurotron simulate --law student-t:dof=4 --attack adaptive --bound 1

        neurotron simulate --trainer refined-tron --trainer sgd:step_size=1e-4

        neurotron simulate --network relu-gate --trainer neuro-tron --plot a.png

        neurotron simulate --trainer refined-tron --probability 0.3 --verify 2000

    Attack
    ------
    attack : attacks
        The attack, or none for honest labels.
    bound
        θ, the largest change of a label. Default: 0.25, or unlimited for attacks that no guarantee
        covers.
    probability
        β, the probability that a label is attacked.

    Trainer
    -------
    trainer : trainers
        A trainer. Repeat the option to compare several. Default: the paper's three, with its step
        size of 1e-4.

    Run
    ---
    steps
        The number of updates.
    batch_size
        The number of samples per update.
    engine
        How to compute: auto, compiled or numpy.

    Guarantee
    ---------
    verify : ROWS
        Also verify where each trainer ended, on so many more rows under the same attack. What was
        trained on is not used, nor are the true weights.
    """
    from neurotron import attacks, trainers
    from neurotron.simulation import simulate as train

    problem = setup.build()
    bound = _usual_bound(attack) if bound is None else bound
    adversary = attacks.build(
        attack, problem, bound=bound, probability=probability, seed=setup.seed
    )
    texts = trainer or TRAINERS
    if len(set(texts)) < len(texts):
        raise _check.InputError("`--trainer`: the same trainer is given twice")
    chosen = [trainers.BY_NAME.build(text) for text in texts]
    if verify is not None:
        verify = _check.integer("--verify", verify, 1)
        problem.data.require_seen("`--verify`")
    with options.progress("training") as show:
        run = train(
            problem, chosen, attack=adversary, steps=steps, batch_size=batch_size, seed=setup.seed,
            engine=engine, progress=show,
        )  # fmt: skip
    if plot is not None:
        run.plot(str(plot))
    refusal: _check.InputError | None = None
    verified: dict[str, Verification] = {}
    try:
        verified = _verified(run, adversary, verify)
    except _check.InputError as error:  # what was trained is printed all the same
        refusal = error
    if as_json:
        code = 130 if "interrupted" in run.status else 0 if refusal is None else 2
        typer.echo(options.as_json(_summary(run, problem, verified), code))
    else:
        _print(run, problem, adversary, batch_size, plot, verified)
    if "interrupted" in run.status:
        raise typer.Exit(130)
    if refusal is not None:
        raise refusal


def _usual_bound(attack: str) -> float:
    """Return the paper's θ, or infinity for an attack whose changes have no bound."""
    from neurotron._registry import parse
    from neurotron.attacks.base import Unlimited
    from neurotron.attacks.catalog import kind_of

    name, _ = parse(attack)
    return math.inf if name != "none" and issubclass(kind_of(name), Unlimited) else 0.25


def _verified(
    run: Trajectories, attack: Attack | None, rows: int | None
) -> dict[str, Verification]:
    """Return what the next rows of the stream prove about every arm, under the same attack."""
    if rows is None:
        return {}
    from neurotron.guarantees.verify.next_rows import verify_run

    bound = math.inf if attack is None else attack.bound
    return verify_run(
        run, rows, noise="independent" if run.problem.noise else 0.0,
        bound=bound if math.isfinite(bound) else None,
    )  # fmt: skip


def _print(
    run: Trajectories, problem: Problem, attack: Attack | None, batch_size: int,
    plot: Path | None, verified: dict[str, Verification],
) -> None:  # fmt: skip
    console = options.console()
    options.describe(console, problem)
    console.print(f"labels    {'honest' if attack is None else f'attacked by {attack!r}'}\n")
    more = [">verified"] * bool(verified) + ["ended"]
    table = options.grid("trainer", ">step size", ">error ‖w − w*‖", *more)
    words = " ".join(arm.name for arm in run.arms).split()
    table.columns[0].min_width, table.columns[2].min_width = max(map(len, words)), 9
    for i, arm in enumerate(run.arms):
        stopped = run.stopped_at[i]
        ending = f"{run.errors[i, -1]:.3e}" if stopped is None else f"diverged at {stopped:,}"
        step_size = _step_size(arm.trainer, problem, batch_size)
        proved = [_radius(verified[arm.name])] if verified else []
        table.add_row(arm.name, step_size, ending, *proved, ENDS[run.outcomes[i]])
    console.print(table)
    made = f"after {run.steps[-1]:,} steps"
    ended = f"The run was interrupted {made}" if "interrupted" in run.status else f"Errors {made}"
    console.print(f"\n{ended}, from {problem.initial_error(None):.4g} at the start.")
    if verified:
        _explain(console, verified)
    if plot is not None:
        console.print(f"Picture: {plot}")


def _step_size(trainer: Trainer, problem: Problem, batch_size: int) -> str:
    """Return the step size of a trainer as text: a number, or that it finds its own."""
    if getattr(trainer, "step_size", None) == "fastest":
        found = trainer.resolve(problem, batch_size=batch_size, steps=0, attack=None)
        return f"{found.step_size:.3g} (fastest)"
    if "step_size" not in inspect.signature(type(trainer)).parameters:
        return "its own"
    return trainer.step_size if isinstance(trainer.step_size, str) else f"{trainer.step_size:.3g}"


def _radius(found: Verification) -> str:
    return f"≤ {up(found.radius)}" if found.holds else "no"


def _explain(console: Console, verified: dict[str, Verification]) -> None:
    """Print what "verified" means, and what is missing where nothing is."""
    for found in [each for each in verified.values() if each.holds][:1]:
        limit = "" if found.bound is None else f" by at most {found.bound:g}"
        console.print(
            f"\nVerified: with confidence {found.confidence_text}, the error is at most this. It "
            f"is read off {found.rows:,} fresh rows under the same attack, and holds for all "
            f"changes of the attacked labels{limit}."
        )
    reasons: dict[str, list[str]] = {}
    for name, found in verified.items():
        if not found.holds:
            reason = dataclasses.replace(found, at_least=0.0).statement
            reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        console.print(f"\n{', '.join(names)}: {reason}")


def _summary(
    run: Trajectories, problem: Problem, verified: dict[str, Verification]
) -> dict[str, Any]:
    return {
        "arms": [
            {
                "name": arm.name,
                "trainer": repr(arm.trainer),
                "status": run.status[i],
                "stopped_at": run.stopped_at[i],
                "engine": run.engines[i].name,
                "error": run.errors[i, -1],
                "weights": run.weights[i],
                "errors": run.errors[i],
            }
            | ({"verification": verified[arm.name]} if verified else {})
            for i, arm in enumerate(run.arms)
        ],
        "steps": run.steps,
        "true_weights": problem.true_weights,
        "options": run.options,
        "environment": run.environment,
    }
