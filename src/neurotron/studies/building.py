"""From a cohort of a study to the problem and the arms of one replicate."""

from __future__ import annotations

from typing import Any, NamedTuple

from neurotron import _check, _seeds, attacks, laws, networks, trainers
from neurotron._registry import parse
from neurotron.problem import Problem
from neurotron.studies.spec import MOST_ARMS, Cohort, Study
from neurotron.trainers import Arm

__all__ = ["arm_rows", "build_arms", "build_problem", "check"]


class Encounter(NamedTuple):
    """A trainer, by its label, that meets an attack."""

    trainer: str
    attack: str
    bound: float
    probability: float

    @property
    def name(self) -> str:
        """What the arm is called."""
        if self.attack == "none":
            return f"{self.trainer}, honest labels"
        return f"{self.trainer}, {self.attack} θ={self.bound:.12g} β={self.probability:.12g}"


def encounters(study: Study, cohort: Cohort) -> list[Encounter]:
    """Return who meets whom in a cohort; what two sweeps have in common is there once."""
    met: dict[Encounter, None] = {}
    for sweep in cohort.sweeps:
        labels = sweep.trainers or cohort.trainers or tuple(study.trainers)
        if len(labels) * len(sweep.bound) * len(sweep.probability) > MOST_ARMS:
            raise _too_many(cohort)
        for setting in {"bound", "probability"} & {*parse(sweep.attack)[1]}:
            raise _check.InputError(
                f"cohort {cohort.name!r}: give `{setting}` as a key of the sweep, not in "
                f"{sweep.attack!r}"
            )
        for label in labels:
            met |= dict.fromkeys(Encounter(label, sweep.attack, *level) for level in sweep.levels)
    if len(met) > MOST_ARMS:
        raise _too_many(cohort)
    return list(met)


def _too_many(cohort: Cohort) -> _check.InputError:
    return _check.InputError(
        f"cohort {cohort.name!r} has more than {MOST_ARMS} learners: make its sweeps smaller"
    )


def arm_rows(study: Study, cohort: Cohort) -> list[dict[str, Any]]:
    """Return what tables say of every arm of a cohort, one row each, in the order of the arms."""
    network, rows = parse(cohort.network)[1], []
    for encounter in encounters(study, cohort):
        algorithm, settings = parse(study.trainers[encounter.trainer])
        rows.append(
            {
                "arm": encounter.name,
                "trainer": encounter.trainer,
                "algorithm": algorithm,
                "step_size": str(settings.get("step_size", cohort.step_size)),
                "attack": parse(encounter.attack)[0],
                "bound": encounter.bound,
                "probability": encounter.probability,
                "law": cohort.law,
                "outer_weights": float(network.get("outer_weights", 1.0)),
            }
        )
    return rows


def build_problem(study: Study, cohort: Cohort, replicate: int) -> Problem:
    """Return the problem of a replicate.

    Cohorts of the same sizes have the same gates and true weights in a replicate, and streams made
    of the same uniform numbers, so that cohorts too can be compared in pairs.
    """
    seed = _seed(study, replicate)
    network = networks.BY_NAME.build(
        cohort.network, n_inputs=cohort.n_inputs, filter_size=cohort.filter_size, seed=seed
    )
    law = laws.BY_NAME.build(cohort.law)
    return Problem.draw(network, law, seed=seed, noise=cohort.noise)


def build_arms(study: Study, cohort: Cohort, problem: Problem, replicate: int) -> list[Arm]:
    """Return the arms of a cohort, in the order of `arm_rows`."""
    seed, arms = _seed(study, replicate), []
    for encounter in encounters(study, cohort):
        attack = attacks.build(
            encounter.attack,
            problem,
            bound=encounter.bound,
            probability=encounter.probability,
            seed=seed,
        )
        text = study.trainers[encounter.trainer]
        trainer = trainers.BY_NAME.build(text, step_size=cohort.step_size)
        arms.append(Arm(trainer, attack, name=encounter.name))
    return arms


def check(study: Study) -> None:
    """Build everything once, so that what cannot work is known before anything is computed."""
    for cohort in study.cohorts:
        try:
            if cohort.n_inputs * cohort.filter_size > MOST_ENTRIES:
                raise _check.InputError(
                    f"n_inputs × filter_size must be at most {MOST_ENTRIES:,}, got "
                    f"{cohort.n_inputs * cohort.filter_size:,}"
                )
            problem = build_problem(study, cohort, 0)
            for arm in build_arms(study, cohort, problem, 0):
                arm.trainer.resolve(
                    problem, batch_size=cohort.batch_size, steps=study.steps, attack=arm.attack
                )
        except _check.InputError as error:
            raise _check.InputError(f"cohort {cohort.name!r}: {error}") from None


MOST_ENTRIES = 10**7
"""Of a gate matrix: 80 MB."""


def _seed(study: Study, replicate: int) -> int:
    """Return the seed of the network, the true weights and the vectors of attacks."""
    return _seeds.key(study.seed, "problem", replicate)
