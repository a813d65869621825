"""Computes one unit of a study: trains or solves every arm of a setting once."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from neurotron import _seeds
from neurotron._threads import one_blas_thread
from neurotron._types import Array
from neurotron.data import Corrupted
from neurotron.lab.training.building import arm_rows, build_arms, build_problem
from neurotron.lab.training.solving import Solver, solved
from neurotron.lab.training.spec import MISSES, Setting
from neurotron.problem import Problem
from neurotron.trainers import Arm, NeuroTron
from neurotron.trajectories import Trajectories

__all__ = ["guaranteed_radii", "prediction_errors", "runs_of", "train", "verified_radii"]

RADII = ("radius", "root_mean_square", "theorem1_radius")
CERTIFIED = ("certified_prediction_error", "theorem1_prediction_error")
FRESH = 2000
"""The number of fresh inputs on which predictions are compared."""


def train(
    setting: dict[str, Any],
    replicate: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Train every arm of a setting once, and return one row per arm.

    The setting says which seed it has, so that runs can be repeated outside a study.
    """
    spec = Setting.model_validate_json(json.dumps(setting))
    rows: dict[str, dict[str, Any]] = {}
    with one_blas_thread():
        problem = build_problem(spec, replicate)
        arms = build_arms(spec, problem, replicate)
        runs = [*runs_of(spec, problem, arms, replicate, progress)]
        verified = verified_radii(spec.verify, runs, progress)
        for run in runs:
            rows |= _rows(spec, replicate, run, verified)
    return [met | rows[arm.name] for met, arm in zip(arm_rows(spec), arms, strict=True)]


def runs_of(
    spec: Setting,
    problem: Problem,
    arms: list[Arm],
    replicate: int,
    progress: Callable[[int, int], None] | None,
) -> Iterator[Trajectories]:
    """Yield the run of the arms that are trained, and that of the arms that are solved."""
    from neurotron.simulation import simulate  # loads the compiler

    options: dict[str, Any] = {
        "steps": spec.steps, "batch_size": spec.batch_size, "seed": spec.stream_seed(),
        "replicate": replicate, "record": spec.record,
    }  # fmt: skip
    trained = [arm for arm in arms if not isinstance(arm.trainer, Solver)]
    if trained:
        run = simulate(problem, trained, **options, progress=progress)
        if "interrupted" in run.status:
            raise KeyboardInterrupt
        yield run
    if len(trained) < len(arms):
        others = [arm for arm in arms if isinstance(arm.trainer, Solver)]
        yield solved(problem, others, **options, progress=_at_the_end(progress))


def _rows(
    spec: Setting,
    replicate: int,
    run: Trajectories,
    verified: dict[str, float],
) -> dict[str, dict[str, Any]]:
    """Return the row of each arm of a run, by its name."""
    problem = run.problem
    guaranteed = [guaranteed_radii(spec, problem, arm) for arm in run.arms]
    predicted = prediction_errors(problem, run.weights, spec.stream_seed(), replicate)
    return {
        arm.name: {
            "status": run.status[i],
            "stopped_at": run.stopped_at[i],
            **{name: guaranteed[i][name] for name in RADII},
            "verified_radius": verified.get(arm.name),
            "prediction_error": None if predicted is None else predicted[i],
            **{name: guaranteed[i][name] for name in CERTIFIED},
            "weights": run.weights[i],
            "true_weights": problem.true_weights,
            "attack_vector": None if arm.attack is None else arm.attack.probe_vector,
            "steps": run.steps,
            "errors": run.errors[i],
            "losses": run.losses[i],
        }
        for i, arm in enumerate(run.arms)
    }


def _at_the_end(progress: Callable[[int, int], None] | None) -> Callable[[], None] | None:
    """Return a function that says that the last step is done, and that work goes on."""
    return None if progress is None else partial(progress, 1, 1)


def guaranteed_radii(spec: Setting, problem: Problem, arm: Arm) -> dict[str, float | None]:
    """Return what each theorem guarantees after the last step, None where it does not apply."""
    from neurotron.guarantees import certify

    found: dict[str, float | None] = dict.fromkeys((*RADII, *CERTIFIED))
    trainer = arm.trainer
    if type(trainer) is not NeuroTron or trainer.averaging:
        return found
    for method in ("sharp", "theorem1"):
        if method == "theorem1" and trainer.step_size == "scheduled":  # it has one step size
            continue
        certificate = certify(
            problem, arm, batch_size=spec.batch_size, steps=spec.steps,
            failure=spec.failure, method=method,
        )  # fmt: skip
        if not certificate.holds:
            continue
        if method == "sharp":
            found["radius"] = certificate.radius
            found["root_mean_square"] = certificate.root_mean_square
            found["certified_prediction_error"] = certificate.prediction_error
        else:
            found["theorem1_radius"] = certificate.radius
            found["theorem1_prediction_error"] = certificate.prediction_error
    return found


def prediction_errors(
    problem: Problem, weights: Array, seed: int, replicate: int
) -> list[float] | None:
    """Return √E(f_w(x) − f_{w*}(x))² of each row of `weights`, as a mean over fresh inputs.

    Its square is the prediction risk of the paper's section 3.4. Inputs are drawn before anything
    corrupts them. If they have no variance, no risk is finite, and the answer is None.
    """
    data, n, truth = problem.data, problem.network.n_inputs, problem.true_weights
    law = data.clean if isinstance(data, Corrupted) else data.law
    assert truth is not None
    if law.covariance(n) is None:
        return None
    draw = _seeds.generator(seed, "fresh inputs", replicate)
    u, v = draw.random((2, law.pairs(FRESH, n)))
    x = law.inputs(u, v, FRESH, n)
    projected = problem.network.project(x)
    with np.errstate(over="ignore", invalid="ignore"):
        wanted, *outputs = (
            problem.network.respond(projected @ one[:, None])[0] for one in (truth, *weights)
        )
        squares = [float(((one - wanted) ** 2).mean()) for one in outputs]
    return [math.sqrt(square) if square >= 0.0 else math.inf for square in squares]


def verified_radii(
    rows: int, runs: list[Trajectories], progress: Callable[[int, int], None] | None
) -> dict[str, float]:
    """Return the verified radius of each arm, infinite where none is; {} if nobody asked for it.

    An arm is verified against an attacker like its own, and by the noise that the problem has.
    """
    from neurotron.guarantees.verify.next_rows import verify_run

    run, *also = runs
    if not rows or isinstance(run.problem.data, Corrupted):
        return {}
    noise = "independent" if run.problem.noise else 0.0
    found = verify_run(
        run, rows, noise=noise, failure=MISSES, also=also, progress=_at_the_end(progress)
    )
    return {arm: one.radius for arm, one in found.items()}
