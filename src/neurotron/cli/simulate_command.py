"""`neurotron simulate`: train on one setting and print the recovery error of each trainer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from neurotron import _check, _seeds, attacks, laws, networks, trainers
from neurotron.attacks import Attack
from neurotron.figures import check_picture
from neurotron.problem import Problem
from neurotron.trainers import Arm

if TYPE_CHECKING:
    from neurotron.trajectories import Trajectories

__all__ = ["simulate"]

PAPER_TRAINERS = ["neuro-tron:sensing=mean", "first-sample-sgd", "sgd"]
BLOCKS = "▁▂▃▄▅▆▇█"


def simulate(
    law: Annotated[str, typer.Option(help="Law of the inputs.")] = "normal",
    network: Annotated[str, typer.Option(help="The network that is learned.")] = "symmetric",
    attack: Annotated[
        str, typer.Option(help="Who tampers with the labels; none for honest labels.")
    ] = "alternating-sign",
    trainer: Annotated[
        list[str] | None,
        typer.Option(help="A trainer; repeat to compare. Default: the three of the paper."),
    ] = None,
    bound: Annotated[float, typer.Option(help="θ, the largest change of a label.")] = 0.25,
    probability: Annotated[float, typer.Option(help="β, the chance of an attack.")] = 0.5,
    n_inputs: Annotated[int, typer.Option(help="Dimension of the input.")] = 100,
    filter_size: Annotated[int, typer.Option(help="Number of weights.")] = 25,
    step_size: Annotated[float, typer.Option(help="η of trainers that do not say theirs.")] = 1e-4,
    steps: Annotated[int, typer.Option(help="Number of updates.")] = 40_000,
    batch_size: Annotated[int, typer.Option(help="Samples per update.")] = 16,
    noise: Annotated[float, typer.Option(help="Honest label noise.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of network, true weights and stream.")] = 0,
    engine: Annotated[str, typer.Option(help="auto, compiled or numpy.")] = "auto",
    plot: Annotated[Path | None, typer.Option(help="Save a picture (PNG, PDF, SVG).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Train on poisoned labels and print how close each trainer comes to the true weights.

    The defaults are the paper's N(0, 1) setting (Table 1) with θ = 0.25 and β = 0.5. Laws,
    networks, attacks and trainers are written name:setting=value,… as `neurotron list` shows
    them, for example

    neurotron simulate --law student-t:dof=4 --attack adaptive --trainer neuro-tron:step_size=1e-3
    """
    problem = _problem(network, law, n_inputs, filter_size, noise, seed)
    adversary = _attack(attack, problem, bound, probability, seed)
    chosen = trainer or PAPER_TRAINERS
    learners = [trainers.BY_NAME.build(text, step_size=step_size) for text in chosen]
    arms = [Arm(learner, adversary, name=repr(learner)) for learner in learners]
    if len({arm.name for arm in arms}) < len(arms):
        raise _check.InputError("`--trainer`: the same trainer is given twice")
    if plot is not None:
        check_picture("--plot", plot)
    from neurotron.simulation import simulate as run_simulation  # loads the compiler

    def work(progress: Callable[[int, int], None] | None) -> Trajectories:
        return run_simulation(
            problem, arms, steps=steps, batch_size=batch_size, seed=seed, engine=engine,
            progress=progress,
        )  # fmt: skip

    run = work(None) if as_json else _with_progress(work)
    if plot is not None:
        run.plot(str(plot))
    if as_json:
        typer.echo(json.dumps(_summary(run, problem), indent=2))
    else:
        _print(run, problem, adversary, plot)
    if "interrupted" in run.status:
        raise typer.Exit(130)


def _problem(
    network: str, law: str, n_inputs: int, filter_size: int, noise: float, seed: int
) -> Problem:
    built = networks.BY_NAME.build(network, n_inputs=n_inputs, filter_size=filter_size, seed=seed)
    return Problem.draw(built, laws.BY_NAME.build(law), seed=seed, noise=noise)


def _attack(
    text: str, problem: Problem, bound: float, probability: float, seed: int
) -> Attack | None:
    """Return the attack; a vector it needs is the worst direction, or a filter drawn by seed."""
    if text == "none":
        return None
    size = problem.network.filter_size
    covariance = (
        np.eye(problem.network.n_inputs) if problem.covariance is None else problem.covariance
    )
    left, _, _ = np.linalg.svd(problem.network.mean_gate @ covariance)
    return attacks.BY_NAME.build(
        text,
        bound=bound,
        probability=probability,
        direction=left[:, -1],
        weights=_seeds.generator(seed, "impersonation").standard_normal(size),
    )


def _with_progress(
    work: Callable[[Callable[[int, int], None] | None], Trajectories],
) -> Trajectories:
    columns = (TextColumn("training"), BarColumn(), TextColumn("{task.fields[speed]}"))
    with Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("training", speed="")

        def show(step: int, steps: int) -> None:
            speed = bar.tasks[task].speed or 0.0
            bar.update(task, completed=step, total=steps, speed=f"{speed:,.0f} steps/s")

        return work(show)


def _print(run: Trajectories, problem: Problem, attack: Attack | None, plot: Path | None) -> None:
    console = Console(highlight=False, markup=False, soft_wrap=True)
    network, made = problem.network, f"{run.steps[-1]:,} steps"
    console.print(f"network   {network.width} gates, {network.filter_size} weights")
    console.print(f"inputs    {network.n_inputs} from {problem.law!r}")
    console.print(f"labels    {'honest' if attack is None else f'under {attack!r}'}\n")
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("trainer", header_style="dim", overflow="fold")
    table.add_column("error ‖w − w*‖", header_style="dim", justify="right", min_width=14)
    table.add_column("its course", header_style="dim", no_wrap=True, overflow="crop")
    assert run.errors is not None
    for i, arm in enumerate(run.arms):
        stopped = run.stopped_at[i]
        ending = f"{run.errors[i, -1]:.3e}" if stopped is None else f"diverged at {stopped:,}"
        table.add_row(arm.name, ending, _sparkline(run.errors, i))
    console.print(table, soft_wrap=False)
    ended = "interrupted after" if "interrupted" in run.status else "after"
    console.print(f"\n{ended} {made}; the course is log error over log steps, one scale for all")
    if plot is not None:
        console.print(f"picture: {plot}")


def _sparkline(errors: Any, arm: int, width: int = 12) -> str:
    """Return the course of one arm in block characters, on the scale of all arms."""
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
    assert run.errors is not None
    assert problem.true_weights is not None
    return {
        "arms": [
            {
                "name": arm.name,
                "status": run.status[i],
                "stopped_at": run.stopped_at[i],
                "engine": run.engines[i].name,
                "error": _json_number(run.errors[i, -1]),
                "weights": run.weights[i].tolist(),
                "errors": [_json_number(value) for value in run.errors[i]],
            }
            for i, arm in enumerate(run.arms)
        ],
        "steps": run.steps.tolist(),
        "true_weights": problem.true_weights.tolist(),
        "settings": run.settings,
        "environment": run.environment,
    }


def _json_number(value: float) -> float | None:
    """JSON has no infinity: a diverged error is null."""
    return float(value) if np.isfinite(value) else None
