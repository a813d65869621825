"""What the commands share: the options that describe a setting, and how they become objects."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from neurotron import laws, networks
from neurotron.problem import Problem
from neurotron.trainers import Arm

if TYPE_CHECKING:
    from neurotron.trajectories import Trajectories

__all__ = [
    "AsJson", "AttackName", "BatchSize", "Engine", "FilterSize", "InputCount", "LawName",
    "NetworkName", "Noise", "Picture", "Seed", "build_problem", "console",
    "describe", "json_number", "train",
]  # fmt: skip

LawName = Annotated[str, typer.Option("--law", help="Law of the inputs.")]
NetworkName = Annotated[str, typer.Option("--network", help="The network that is learned.")]
AttackName = Annotated[
    str, typer.Option("--attack", help="Who tampers with the labels; none for honest labels.")
]
InputCount = Annotated[int, typer.Option("--n-inputs", help="Dimension of the input.")]
FilterSize = Annotated[int, typer.Option("--filter-size", help="Number of weights.")]
BatchSize = Annotated[int, typer.Option("--batch-size", help="Samples per update.")]
Noise = Annotated[float, typer.Option("--noise", help="Deviation of honest label noise.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of network, true weights and stream.")]
Engine = Annotated[str, typer.Option("--engine", help="auto, compiled or numpy.")]
Picture = Annotated[Path | None, typer.Option("--plot", help="Save a picture (PNG, PDF, SVG).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def build_problem(
    network: str, law: str, n_inputs: int, filter_size: int, noise: float, seed: int
) -> Problem:
    """Return the problem the options describe."""
    built = networks.BY_NAME.build(network, n_inputs=n_inputs, filter_size=filter_size, seed=seed)
    return Problem.draw(built, laws.BY_NAME.build(law, n_inputs=n_inputs), seed=seed, noise=noise)


def train(problem: Problem, arms: list[Arm], *, quiet: bool, **options: Any) -> Trajectories:
    """Run a simulation, with a progress bar unless `quiet`."""
    from neurotron.simulation import simulate  # loads the compiler

    if quiet:
        return simulate(problem, arms, **options)
    columns = (TextColumn("training"), BarColumn(), TextColumn("{task.fields[speed]}"))
    with Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("training", speed="")

        def show(step: int, steps: int) -> None:
            speed = bar.tasks[task].speed or 0.0
            bar.update(task, completed=step, total=steps, speed=f"{speed:,.0f} steps/s")

        progress: Callable[[int, int], None] = show
        return simulate(problem, arms, progress=progress, **options)


def console(stderr: bool = False) -> Console:
    """Return where results are printed: no markup in them, long lines left whole."""
    return Console(stderr=stderr, highlight=False, markup=False, soft_wrap=True)


def describe(out: Console, problem: Problem) -> None:
    """Print what is learned from what."""
    network = problem.network
    gates = "1 gate" if network.width == 1 else f"{network.width} gates"
    out.print(f"network   {gates}, {network.filter_size} weights")
    out.print(f"inputs    {network.n_inputs} from {problem.law!r}")


def json_number(value: float) -> float | None:
    """JSON has no infinity: what is infinite is null."""
    return float(value) if np.isfinite(value) else None
