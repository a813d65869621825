"""From a cohort of a study to the problem and the arms of one replicate."""

from __future__ import annotations

from typing import Any, NamedTuple

from neurotron import _check, _seeds, attacks, laws, networks, trainers
from neurotron._registry import parse
from neurotron.engine.recording import recorded_steps
from neurotron.problem import Problem
from neurotron.studies.spec import MOST_ARMS, MOST_ARMS_IN_ALL, Cohort, Study
from neurotron.trainers import Arm
from neurotron.trainers.catalog import step_size_of

__all__ = ["arm_rows", "build_arms", "build_problem", "check", "seed_of"]


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
            raise _too_many()
        for label in labels:
            met |= dict.fromkeys(Encounter(label, sweep.attack, *level) for level in sweep.levels)
    if len(met) > MOST_ARMS:
        raise _too_many()
    return list(met)


def _most_arms(study: Study, cohort: Cohort) -> int:
    """Return how many arms a cohort that is not refused has at most."""
    pairs = sum(
        len(sweep.trainers or cohort.trainers or study.trainers)
        * (1 if sweep.attack == "none" else len(sweep.bound) * len(sweep.probability))
        for sweep in cohort.sweeps
    )
    return min(pairs, MOST_ARMS)


def _too_many() -> _check.InputError:
    return _check.InputError(f"more than {MOST_ARMS:,} learners: make the sweeps smaller")


def arm_rows(study: Study, cohort: Cohort) -> list[dict[str, Any]]:
    """Return what tables say of every arm of a cohort, one row each, in the order of the arms."""
    network, rows = parse(cohort.network)[1], []
    for encounter in encounters(study, cohort):
        algorithm, _ = parse(study.trainers[encounter.trainer])
        rows.append(
            {
                "arm": encounter.name,
                "trainer": encounter.trainer,
                "algorithm": algorithm,
                "step_size": step_size_of(study.trainers[encounter.trainer], cohort.step_size),
                "attack": parse(encounter.attack)[0],
                "bound": encounter.bound,
                "probability": encounter.probability,
                "law": cohort.law,
                "outer_weights": float(network.get("outer_weights", 1.0)),
            }
        )
    return rows


def build_problem(study: Study, cohort: Cohort, replicate: int) -> Problem:
    """Return the problem of a replicate: its own network and true weights."""
    seed = _problem_seed(study, cohort, replicate)
    network = networks.BY_NAME.build(
        cohort.network, n_inputs=cohort.n_inputs, filter_size=cohort.filter_size, seed=seed
    )
    law = laws.BY_NAME.build(cohort.law)
    return Problem.draw(network, law, seed=seed, noise=cohort.noise)


def build_arms(study: Study, cohort: Cohort, problem: Problem, replicate: int) -> list[Arm]:
    """Return the arms of a cohort, in the order of `arm_rows`."""
    seed, arms = _problem_seed(study, cohort, replicate), []
    for encounter in encounters(study, cohort):
        attack = attacks.build(
            encounter.attack,
            problem,
            bound=encounter.bound,
            probability=encounter.probability,
            seed=seed,
        )
        text = study.trainers[encounter.trainer]
        trainer = trainers.build(text, step_size=cohort.step_size)
        arms.append(Arm(trainer, attack, name=encounter.name))
    return arms


def check(study: Study) -> None:
    """Build everything once, so that what cannot work is known before anything is computed."""
    units = len(study.cohorts) * study.replicates
    if units > MOST_UNITS:
        raise _check.InputError(
            f"cohorts × replicates must be at most {MOST_UNITS:,}, got {units:,}"
        )
    if sum(_most_arms(study, cohort) for cohort in study.cohorts) > MOST_ARMS_IN_ALL:
        raise _check.InputError(
            f"more than {MOST_ARMS_IN_ALL:,} learners in all cohorts: make the sweeps smaller"
        )
    for cohort in study.cohorts:
        try:
            _check_cohort(study, cohort)
        except _check.InputError as error:
            raise _check.InputError(f"cohort {cohort.name!r}: {error}") from None


def _check_cohort(study: Study, cohort: Cohort) -> None:
    for sweep in cohort.sweeps:
        _require_keys("sweep", sweep.attack, "bound", "probability")
    _require_keys("cohort", cohort.network, "n_inputs", "filter_size")
    _require_few("batch_size × n_inputs", cohort.batch_size * cohort.n_inputs)
    problem = build_problem(study, cohort, 0)
    arms = build_arms(study, cohort, problem, 0)
    _require_few("learners × records", len(arms) * len(recorded_steps(study.record, study.steps)))
    if len({arm.name for arm in arms}) < len(arms):
        raise _check.InputError("two bounds or two probabilities agree in their first 12 digits")
    kinds = {
        (met.trainer, met.attack): arm
        for met, arm in zip(encounters(study, cohort), arms, strict=True)
    }
    for arm in kinds.values():
        arm.trainer.resolve(
            problem, batch_size=cohort.batch_size, steps=study.steps, attack=arm.attack
        )


def _require_keys(table: str, text: str, *names: str) -> None:
    """Refuse in `text` what is a key of its table."""
    for name in names:
        if name in parse(text)[1]:
            raise _check.InputError(f"give `{name}` as a key of the {table}, not in {text!r}")


def _require_few(what: str, entries: int) -> None:
    if entries > MOST_ENTRIES:
        raise _check.InputError(f"{what} must be at most {MOST_ENTRIES:,}, got {entries:,}")


MOST_ENTRIES = 10**7
"""Of an array: 80 MB."""

MOST_UNITS = 10**6


def seed_of(study: Study, cohort: Cohort) -> int:
    """Return the seed of everything a cohort draws: its own, unless it is paired with another.

    Of a pair, both draw the same uniform numbers, so in a replicate they have the same true weights
    if their filters have the same size, and the same gates and data if all sizes agree.
    """
    return _seeds.key(study.seed, "cohort", cohort.paired_with or cohort.name)


def _problem_seed(study: Study, cohort: Cohort, replicate: int) -> int:
    """Return the seed of the network, the true weights and the vectors of attacks."""
    return _seeds.key(seed_of(study, cohort), "problem", replicate)
