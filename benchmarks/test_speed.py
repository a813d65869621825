"""What is timed, by frozen names; `benchmarks.table` joins the timings into ratios.

Collected only by ``make bench``. Every function does its work in fixed rounds, after one that is
not counted, so that code is compiled and imported before it is timed. What is timed is CPU time of
this process, which other processes disturb least; with several threads it is wall time. Whole
commands are timed in `benchmarks.commands`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import neurotron as nt
from benchmarks.peer import Learner, ThriftyLearner, sampler
from benchmarks.workloads import (
    ATTACK,
    FOUR_LAWS,
    NEW_ATTACKS,
    PAPER,
    QUICK,
    STUDY,
    TRAINERS,
    Workload,
    fewer,
)

ROUNDS = 5
STEPS = fewer(4000)
WHOLE = fewer(PAPER["normal-1"].steps)
"""The steps of a run of the paper, so that setting it up has its true share."""
REPLICATES = 4

Measure = Callable[..., None]
pytestmark = pytest.mark.benchmark(timer=time.process_time)


@pytest.fixture
def measure(benchmark: Any) -> Measure:
    """Return how to time some work, and to keep how many steps it makes beside the timings."""

    def timed(
        work: Callable[..., object],
        *,
        steps: int = 1,
        rounds: int = ROUNDS,
        setup: Callable[[], object] | None = None,
    ) -> None:
        benchmark.extra_info["steps"] = steps
        rounds = min(rounds, 2) if QUICK else rounds
        benchmark.pedantic(work, setup=setup, rounds=rounds, warmup_rounds=1)

    return timed


def of_every(settings: tuple[Workload, ...]) -> pytest.MarkDecorator:
    """Time in every setting."""
    return pytest.mark.parametrize("setting", settings, ids=lambda setting: setting.key)


transcribed = pytest.mark.parametrize(
    ("setting", "algorithm"),
    [
        pytest.param(setting, algorithm, id=f"{setting.key}-{algorithm}")
        for setting in STUDY
        for algorithm in setting.trainers
    ],
)


def measure_learner(measure: Measure, learner: Learner) -> None:
    """Time steps of one learner of the transcription."""
    steps = fewer(150 if learner.setting.width < 100 else 20)
    measure(lambda: [learner.step() for _ in range(steps)], steps=steps)


@transcribed
def test_transcription(measure: Measure, setting: Workload, algorithm: str) -> None:
    """One learner of Algorithm 1 as the paper states it."""
    measure_learner(measure, Learner(setting, algorithm, *setting.levels[1]))


@of_every(STUDY)
def test_cohort(measure: Measure, setting: Workload) -> None:
    """All arms of a setting."""
    measure(lambda: setting.run(WHOLE), steps=WHOLE)


@transcribed
def test_thrifty_transcription(measure: Measure, setting: Workload, algorithm: str) -> None:
    """One learner with (wᵀA)x in place of wᵀ(Ax)."""
    measure_learner(measure, ThriftyLearner(setting, algorithm, *setting.levels[1]))


@of_every(FOUR_LAWS)
def test_single_arm(measure: Measure, setting: Workload) -> None:
    """One Neuro-Tron learner on its own stream."""
    measure(lambda: setting.run(WHOLE, setting.arms()[:1]), steps=WHOLE)


@of_every(FOUR_LAWS)
def test_numpy_draw(measure: Measure, setting: Workload) -> None:
    """Only the batches of a setting, drawn with NumPy."""
    draw = sampler(setting.law, np.random.default_rng(0))
    shape = (setting.batch_size, setting.n_inputs)
    measure(lambda: [draw(shape) for _ in range(STEPS)], steps=STEPS)


def measure_arms(measure: Measure, trainer: nt.Trainer, attack: str) -> None:
    """Time the steps of 32 arms of one trainer under one attack, without setting up the run.

    The table takes the least of three rounds.
    """
    setting = FOUR_LAWS[0]
    adversary = nt.attacks.build(attack, setting.problem(), bound=1.0, probability=0.3, seed=0)
    arms = [nt.Arm(trainer, adversary, name=str(number)) for number in range(32)]
    measure(
        lambda run: [*run], steps=STEPS, rounds=3 * ROUNDS,
        setup=lambda: ((setting.start(STEPS, arms),), {}),
    )  # fmt: skip


@pytest.mark.parametrize("name", TRAINERS)
def test_trainer(measure: Measure, name: str) -> None:
    """32 arms of a robust trainer, or of a plain one."""
    measure_arms(measure, TRAINERS[name](), ATTACK)


@pytest.mark.parametrize("attack", [ATTACK, *NEW_ATTACKS])
def test_attack(measure: Measure, attack: str) -> None:
    """32 arms under an attack."""
    measure_arms(measure, nt.NeuroTron(1e-4), attack)


@pytest.mark.benchmark(timer=time.perf_counter)
@pytest.mark.parametrize("workers", [1, 2])
def test_replicates(measure: Measure, workers: int) -> None:
    """Four replicates of a setting, on so many threads."""

    def replicate(number: int) -> nt.Trajectories:
        return FOUR_LAWS[0].run(8 * STEPS, replicate=number)

    with ThreadPoolExecutor(workers) as pool:
        measure(lambda: list(pool.map(replicate, range(REPLICATES))), rounds=7)


QUESTIONS: dict[str, tuple[nt.Budget, float | None, int | None]] = {
    "steps": (nt.Budget(1.0, 0.5), 1.0, None),
    "radius": (nt.Budget(1.0, 0.5), None, 3000),
    "probability": (nt.Budget(1.0, None), 1.0, 3000),
    "bound": (nt.Budget(None, 0.5), 1.0, 3000),
}
"""A budget, a radius and steps: what is None is asked for."""


@pytest.mark.parametrize("step_size", ["constant", "scheduled"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_plan(measure: Measure, question: str, step_size: str) -> None:
    """One plan at n = 100, of a problem that nothing is known of yet."""
    problem = FOUR_LAWS[0].problem()
    budget, radius, steps = QUESTIONS[question]

    def ask() -> None:
        fresh = nt.Problem.draw(problem.network, problem.law, true_weights=problem.true_weights)
        nt.plan(fresh, budget, radius=radius, steps=steps, batch_size=16, step_size=step_size)

    measure(ask)
