"""One unit of a study, computed by a worker that gets text and returns plain values."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import NamedTuple

from neurotron import _check
from neurotron._environment import environment
from neurotron._threads import one_blas_thread
from neurotron.problem import Problem
from neurotron.results.shard import Row
from neurotron.studies.building import build_arms, build_problem, seed_of
from neurotron.studies.reading import complete
from neurotron.studies.spec import Study, Unit
from neurotron.trainers import Arm, NeuroTron

__all__ = ["Computed", "fingerprint", "run_unit"]


class Computed(NamedTuple):
    """What a worker returns."""

    unit: Unit
    rows: list[Row]
    """What goes into the shard: one row per arm."""
    environment: dict[str, str]
    machine: str
    seconds: float


def fingerprint() -> dict[str, str]:
    """Return what decides the bits of a result: versions, processor, and the formulas' code."""
    from neurotron._jit import source_hash  # loads the compiler

    return environment() | {"formulas": source_hash()[:16]}


def run_unit(
    spec_json: str,
    setting: str,
    replicate: int,
    progress: Callable[[int, int], None] | None = None,
) -> Computed:
    """Train every arm of a setting once; a pure function of the text, but for times and machine."""
    from neurotron.simulation import simulate  # loads the compiler

    began = time.perf_counter()
    _check.text("setting", setting)
    study = complete(spec_json)
    spec = study.setting(setting)
    _check.integer("replicate", replicate, 0)
    with one_blas_thread():
        problem = build_problem(study, spec, replicate)
        arms = build_arms(study, spec, problem, replicate)
        run = simulate(
            problem, arms, steps=study.steps, batch_size=spec.batch_size,
            seed=seed_of(study, spec), replicate=replicate, record=study.record,
            progress=progress,
        )  # fmt: skip
        if "interrupted" in run.status:
            raise KeyboardInterrupt
        radii = [_radii(study, spec.batch_size, problem, arm) for arm in arms]
    assert problem.true_weights is not None
    rows: list[Row] = [
        {
            "arm": arm.name,
            "status": run.status[i],
            "stopped_at": run.stopped_at[i],
            "radius": radii[i]["sharp"],
            "theorem1_radius": radii[i]["theorem1"],
            "weights": run.weights[i],
            "true_weights": problem.true_weights,
            "attack_vector": None if arm.attack is None else arm.attack.probe_vector,
            "steps": run.steps,
            "errors": run.errors[i],
            "losses": run.losses[i],
        }
        for i, arm in enumerate(arms)
    ]
    return Computed(
        Unit(setting, replicate), rows, fingerprint(), platform.node(), time.perf_counter() - began
    )


def _radii(study: Study, batch_size: int, problem: Problem, arm: Arm) -> dict[str, float | None]:
    """Return what each theorem guarantees of the error after the last step, None for nothing."""
    from neurotron.guarantees import certify

    found: dict[str, float | None] = {"sharp": None, "theorem1": None}
    if problem.law.corrupted:
        return found
    covered = type(arm.trainer) is NeuroTron and not arm.trainer.averaging
    for method in found if covered else ():
        if method == "sharp" or arm.trainer.step_size != "scheduled":  # Theorem 1 has one step size
            certificate = certify(
                problem, arm, batch_size=batch_size, steps=study.steps, failure=study.failure,
                method=method,
            )  # fmt: skip
            found[method] = certificate.radius if certificate.holds else None
    return found
