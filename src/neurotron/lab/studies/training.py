"""Turns a study into work that the runner can compute."""

from __future__ import annotations

from functools import partial

import polars as pl

from neurotron._announce import announced
from neurotron.engine.recording import recorded_steps
from neurotron.lab.results.rows import Row
from neurotron.lab.results.training import sound
from neurotron.lab.studies.building import arm_rows, build_one_of_each, build_problem, check
from neurotron.lab.studies.claim_names import check_claims
from neurotron.lab.studies.completion import complete
from neurotron.lab.studies.spec import Setting, Study
from neurotron.lab.studies.unit import train
from neurotron.lab.studies.work import Work
from neurotron.laws import Normal
from neurotron.networks import relu_gate
from neurotron.problem import Problem
from neurotron.trainers import Arm, NeuroTron

__all__ = ["work_of"]


def work_of(study: Study) -> Work:
    """Return the work of a study, after building all its problems and arms once as a check."""
    study = complete(study.model_dump_json(exclude_unset=True, warnings=False), Study)
    check_claims(study.claims)
    with announced(f"neurotron: checking the study {study.name} ..."):
        check(study)
        arms = {setting.name: arm_rows(study, setting) for setting in study.settings}
    costs = {one.name: _cost(study, one, len(arms[one.name])) for one in study.settings}
    return Work(
        spec=study.identity(),
        units=study.units(),
        function=train,
        costs=costs,
        arms=arms,
        prepare=partial(_compile, study),
        check=partial(_require_sound, study, arms),
    )


A_STEP, AN_ARM, A_ROW = 500.0, 2.5, 400.0
"""What a step, a sample of an arm and a verified row of an arm take, where one input takes 1.

Measured on the paper's settings: 3 ns for an input, and within a factor of two for each setting.
"""


def _cost(study: Study, setting: Setting, arms: int) -> float:
    """Return about how long a unit takes."""
    a_step = A_STEP + setting.batch_size * (setting.n_inputs + AN_ARM * arms)
    return 1.0 + study.steps_of(setting) * a_step + study.verified_rows_of(setting) * arms * A_ROW


def _require_sound(
    study: Study, arms: dict[str, list[Row]], setting: str, table: pl.DataFrame
) -> None:
    steps = recorded_steps(study.record, study.steps_of(study.setting(setting)))
    sound(table, [arm["arm"] for arm in arms[setting]], steps)


def _compile(study: Study) -> None:
    """Compile what units need, in the main thread, which receives Ctrl-C."""
    from neurotron.guarantees import certify  # loads the compiler, and so do the next
    from neurotron.guarantees.verify.next_rows import next_rows
    from neurotron.simulation import simulate

    for setting in study.settings:
        problem = build_problem(study, setting, replicate=0)
        arms = build_one_of_each(study, setting, problem)
        run = simulate(problem, arms, steps=0, batch_size=setting.batch_size)
        if "interrupted" in run.status:
            raise KeyboardInterrupt
        if study.verified_rows_of(setting) and not problem.law.corrupted:
            next_rows(run, 1)
    certify(Problem.draw(relu_gate(1), Normal()), Arm(NeuroTron(1.0)), steps=0, batch_size=1)
