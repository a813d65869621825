"""Turns a study into work that the runner can compute."""

from __future__ import annotations

from functools import partial

import polars as pl

from neurotron._announce import announced
from neurotron._types import Index
from neurotron.engine.recording import recorded_steps
from neurotron.laws import Normal
from neurotron.networks import relu_gate
from neurotron.problem import Problem
from neurotron.results.rows import Row
from neurotron.results.training import sound
from neurotron.studies.building import arm_rows, build_one_of_each, build_problem, check
from neurotron.studies.claim_names import check_claims
from neurotron.studies.completion import complete
from neurotron.studies.spec import Study
from neurotron.studies.unit import train
from neurotron.studies.work import Work
from neurotron.trainers import Arm, NeuroTron

__all__ = ["work_of"]


def work_of(study: Study) -> Work:
    """Return the work of a study, after building all its problems and arms once as a check."""
    study = complete(study.model_dump_json(exclude_unset=True, warnings=False), Study)
    check_claims(study.claims)
    with announced(f"neurotron: checking the study {study.name} ..."):
        check(study)
        arms = {setting.name: arm_rows(study, setting) for setting in study.settings}
    return Work(
        spec=study.identity(),
        units=study.units(),
        function=train,
        steps=study.steps,
        arms=arms,
        prepare=partial(_compile, study),
        check=partial(_require_sound, arms, recorded_steps(study.record, study.steps)),
    )


def _require_sound(
    arms: dict[str, list[Row]], steps: Index, setting: str, table: pl.DataFrame
) -> None:
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
        if study.verify is not None and not problem.law.corrupted:
            next_rows(run, 1)
    certify(Problem.draw(relu_gate(1), Normal()), Arm(NeuroTron(1.0)), steps=0, batch_size=1)
