"""Computes one unit of a study: trains or solves every arm of a setting once."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron import _seeds
from neurotron._threads import one_blas_thread
from neurotron._types import Array
from neurotron.data import Corrupted
from neurotron.lab.training.building import arm_rows, build_arms, build_problem
from neurotron.lab.training.columns import CERTIFICATES, COURSES
from neurotron.lab.training.solving import Solver, solved
from neurotron.lab.training.spec import MISSES, Setting
from neurotron.problem import Problem
from neurotron.theory import Theorem1
from neurotron.theory.one_step import decrease
from neurotron.theory.sharp import is_disturbed, sharp_recursion
from neurotron.trainers import Arm, NeuroTron
from neurotron.trajectories import Trajectories

if TYPE_CHECKING:
    from neurotron.guarantees import Certificate

FRESH = 2000
"""The number of fresh inputs on which predictions are compared."""
MOST_CERTIFIED = 40
"""The number of steps whose certified errors are stored: enough for a smooth line."""
TENTH = 0.1
"""The part of the initial error whose certified steps are stored."""
GAMMA = 2.0
"""The γ of Theorem 1's step size that is stored; those of others differ by a constant factor."""


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
    guaranteed = [guarantees_of(spec, problem, arm) for arm in run.arms]
    predicted = prediction_errors(problem, run.weights, spec.stream_seed(), replicate)
    return {
        arm.name: {
            "status": run.status[i],
            "stopped_at": run.stopped_at[i],
            **guaranteed[i],
            "verified_radius": verified.get(arm.name),
            "prediction_error": None if predicted is None else predicted[i],
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


def guarantees_of(spec: Setting, problem: Problem, arm: Arm) -> dict[str, Any]:
    """Return the numbers of the certificates of an arm after the last step, None where it has none.

    They are all that claims and figures need, so that nobody certifies again.
    """
    from neurotron.guarantees import certify

    found: dict[str, Any] = dict.fromkeys((*CERTIFICATES, *COURSES))
    trainer = arm.trainer
    if type(trainer) is not NeuroTron or trainer.averaging:
        return found
    ask = partial(
        certify,
        problem,
        arm,
        batch_size=spec.batch_size,
        steps=spec.steps,
        confidence=spec.confidence,
    )
    if isinstance(problem.data, Corrupted):
        found["predicted_bias"] = _predicted_bias(problem, problem.data, trainer)
    sharp = ask(method="sharp")
    if sharp.holds:
        found |= {
            "radius": sharp.radius,
            "root_mean_square": sharp.root_mean_square,
            "certified_limit": sharp.limit,
            "certified_prediction_error": sharp.prediction_error,
        }
        if sharp.radius < sharp.initial_error:
            found |= _course(sharp)
    if trainer.step_size == "scheduled":  # Theorem 1 and the number of steps are for one size
        return found
    if sharp.holds and not is_disturbed(problem, arm.attack):
        found["certified_steps"] = _steps_to_a_tenth(spec, problem, trainer)
    found["theorem1_step_size"] = _step_size_of_theorem1(problem, spec.batch_size)
    theorem = ask(method="theorem1")
    if theorem.holds:
        found |= {
            "theorem1_radius": theorem.radius,
            "theorem1_prediction_error": theorem.prediction_error,
            **{name: theorem.constants.get(name) for name in ("theta_star", "risk_ratio")},
        }
    return found


def _predicted_bias(problem: Problem, data: Corrupted, trainer: NeuroTron) -> float | None:
    """Return how far from w* the mean of the weights is drawn, None if that is not known."""
    from neurotron.guarantees import biased_weights

    if trainer.weighting is not None or data.seen_moments(problem.network) is None:
        return None
    assert problem.true_weights is not None
    limit = biased_weights(problem, np.asarray(trainer.completed(problem).sensing))
    return float(np.linalg.norm(limit - problem.true_weights))


def _course(certificate: Certificate) -> dict[str, Any]:
    """Return what is certified at a few of the steps on the way."""
    every = certificate.at_steps
    some = np.unique(np.linspace(0, len(every) - 1, MOST_CERTIFIED).astype(int))
    columns = every, np.sqrt(certificate.mean_square_bounds), certificate.radii
    return {name: column[some] for name, column in zip(COURSES, columns, strict=True)}


def _steps_to_a_tenth(spec: Setting, problem: Problem, trainer: NeuroTron) -> float:
    """Return how many steps on honest labels are certified to be enough, infinite if none are."""
    ours = trainer.resolve(problem, batch_size=spec.batch_size, steps=0, attack=None)
    recursion = sharp_recursion(
        problem, np.asarray(ours.sensing), ours.weighting, None, spec.batch_size
    )
    falls, _, _ = decrease(float(ours.step_size), *recursion.numbers)
    if not 0.0 < falls < 1.0:
        return 1.0 if falls == 1.0 else math.inf
    return float(math.ceil(2.0 * math.log(TENTH) / math.log1p(-falls)))


def _step_size_of_theorem1(problem: Problem, batch_size: int) -> float | None:
    """Return the step size of Theorem 1 on honest labels, None if inputs have no fourth moment."""
    if not math.isfinite(problem.norm_moment(4)) or problem.law.weighted:
        return None
    theorem = Theorem1.of(problem, problem.network.mean_gate, None, batch_size)
    return theorem.step_size(GAMMA)


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
        run, rows, noise=noise, confidence=1.0 - MISSES, also=also, progress=_at_the_end(progress)
    )
    return {arm: one.radius for arm, one in found.items()}
