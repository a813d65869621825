"""`neurotron simulate`: train on one setting and print the recovery error of each trainer."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.table import Table

from neurotron import _check, attacks, trainers
from neurotron._registry import parse
from neurotron.attacks import Attack
from neurotron.cli import options
from neurotron.figures import check_picture
from neurotron.problem import Problem
from neurotron.trainers import Arm

if TYPE_CHECKING:
    from neurotron.trajectories import Trajectories

__all__ = ["simulate"]

PAPER_TRAINERS = ["neuro-tron:sensing=mean", "first-sample-sgd", "sgd"]
BLOCKS = "▁▂▃▄▅▆▇█"


def simulate(
    law: options.LawName = "normal",
    network: options.NetworkName = "symmetric",
    attack: options.AttackName = "alternating-sign",
    trainer: Annotated[
        list[str] | None,
        typer.Option(help="A trainer; repeat to compare. Default: the three of the paper."),
    ] = None,
    bound: Annotated[
        float | None,
        typer.Option(
            help="θ, the largest change of a label. Default: 0.25; none for attacks outside the "
            "theorem."
        ),
    ] = None,
    probability: Annotated[float, typer.Option(help="β, the chance of an attack.")] = 0.5,
    n_inputs: options.InputCount = 100,
    filter_size: options.FilterSize = 25,
    step_size: Annotated[float, typer.Option(help="η of trainers that do not say theirs.")] = 1e-4,
    steps: Annotated[int, typer.Option(help="Number of updates.")] = 40_000,
    batch_size: options.BatchSize = 16,
    noise: options.Noise = 0.0,
    seed: options.Seed = 0,
    engine: options.Engine = "auto",
    plot: options.Picture = None,
    as_json: options.AsJson = False,
) -> None:
    """Train on poisoned labels and print how close each trainer comes to the true weights.

    The defaults are the paper's N(0, 1) setting (Table 1) with θ = 0.25 and β = 0.5. Laws,
    networks, attacks and trainers are written name:setting=value,… as `neurotron list` shows
    them, for example

    neurotron simulate --law student-t:dof=4 --attack adaptive --trainer neuro-tron:step_size=1e-3
    """
    problem = options.build_problem(network, law, n_inputs, filter_size, noise, seed)
    bound = _usual_bound(attack) if bound is None else bound
    adversary = attacks.build(attack, problem, bound=bound, probability=probability, seed=seed)
    chosen = trainer or PAPER_TRAINERS
    built = [trainers.build(text, step_size=step_size) for text in chosen]
    arms = [Arm(each, adversary, name=repr(each)) for each in built]
    if len({arm.name for arm in arms}) < len(arms):
        raise _check.InputError("`--trainer`: the same trainer is given twice")
    if plot is not None:
        check_picture("--plot", plot)
    run = options.train(
        problem, arms, quiet=as_json, steps=steps, batch_size=batch_size, seed=seed, engine=engine
    )
    if plot is not None:
        run.plot(str(plot))
    if as_json:
        typer.echo(json.dumps(_summary(run, problem), indent=2))
    else:
        _print(run, problem, adversary, plot)
    if "interrupted" in run.status:
        raise typer.Exit(130)


def _usual_bound(attack: str) -> float:
    """Return the paper's θ, infinity for an attack that nothing bounds."""
    kind = attacks.BY_NAME.factories.get(parse(attack)[0])
    return 0.25 if getattr(kind, "covered", True) else math.inf


def _print(run: Trajectories, problem: Problem, attack: Attack | None, plot: Path | None) -> None:
    console, made = options.console(), f"{run.steps[-1]:,} steps"
    options.describe(console, problem)
    console.print(f"labels    {'honest' if attack is None else f'under {attack!r}'}\n")
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("trainer", header_style="dim", overflow="fold")
    table.add_column("error ‖w − w*‖", header_style="dim", justify="right", min_width=14)
    table.add_column("over steps", header_style="dim", no_wrap=True, overflow="crop")
    for i, arm in enumerate(run.arms):
        stopped = run.stopped_at[i]
        ending = f"{run.errors[i, -1]:.3e}" if stopped is None else f"diverged at {stopped:,}"
        table.add_row(arm.name, ending, _sparkline(run.errors, i))
    console.print(table, soft_wrap=False)
    ended = "interrupted after" if "interrupted" in run.status else "after"
    console.print(
        f"\n{ended} {made}; the last column is the log of the error over the log of the steps, on "
        "one scale for all trainers"
    )
    if plot is not None:
        console.print(f"picture: {plot}")


def _sparkline(errors: Any, arm: int, width: int = 12) -> str:
    """Return the errors of one arm in block characters, on the scale of all arms."""
    finite = errors[np.isfinite(errors) & (errors > 0.0)]
    low, high = np.log10([finite.min(initial=1e300), finite.max(initial=1e-300)])
    places = np.linspace(0, errors.shape[1] - 1, min(width, errors.shape[1])).astype(int)
    text = ""
    for value in errors[arm, places]:
        if not np.isfinite(value):
            text += "×"
            continue
        height = (np.log10(max(value, 10.0**low)) - low) / max(high - low, 1e-12)
        text += BLOCKS[round(float(height) * (len(BLOCKS) - 1))]
    return text


def _summary(run: Trajectories, problem: Problem) -> dict[str, Any]:
    assert problem.true_weights is not None
    return {
        "arms": [
            {
                "name": arm.name,
                "status": run.status[i],
                "stopped_at": run.stopped_at[i],
                "engine": run.engines[i].name,
                "error": options.json_number(run.errors[i, -1]),
                "weights": run.weights[i].tolist(),
                "errors": [options.json_number(value) for value in run.errors[i]],
            }
            for i, arm in enumerate(run.arms)
        ],
        "steps": run.steps.tolist(),
        "true_weights": problem.true_weights.tolist(),
        "settings": dict(run.options),
        "environment": dict(run.environment),
    }
