"""Builds the problem and the arms of a replicate from a setting, and checks them before a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from neurotron import _check, attacks, data, networks, trainers
from neurotron._references import is_reference
from neurotron._registry import parse
from neurotron._waiting import announced
from neurotron.engine.recording import recorded_steps
from neurotron.lab.training.solving import SOLVE, Solver, solver_of
from neurotron.lab.training.spec import MOST_ARMS, MOST_ARMS_IN_ALL, Setting
from neurotron.laws import Law, Normal
from neurotron.laws.rows_file import hash_of_file
from neurotron.problem import Problem
from neurotron.trainers import Arm, NeuroTron
from neurotron.trainers.catalog import step_size_of

KEPT_LAWS = 8
"""Laws that are kept for the units that come next; they may have tables of rows."""


class Encounter(NamedTuple):
    """A trainer, given by its label, under an attack."""

    trainer: str
    attack: str
    bound: float
    probability: float

    @property
    def name(self) -> str:
        """The name of the arm."""
        if self.attack == "none":
            return f"{self.trainer}, honest labels"
        return f"{self.trainer}, {self.attack} θ={self.bound:.12g} β={self.probability:.12g}"


def encounters(setting: Setting) -> list[Encounter]:
    """Return which trainers meet which attacks in a setting, each pair once."""
    if setting.most_arms > MOST_ARMS:
        raise _check.InputError(
            f"the sweeps give more than {MOST_ARMS:,} arms: make the sweeps smaller"
        )
    met = (
        Encounter(label, sweep.attack, *level)
        for sweep in setting.sweeps
        for label in sweep.trainers or setting.trainers
        for level in sweep.levels
    )
    return list(dict.fromkeys(met))


def arm_rows(setting: Setting) -> list[dict[str, Any]]:
    """Return the columns of tables that describe the arms of a setting, one row per arm."""
    (law, of_law), (network, of_network) = parse(setting.law), parse(setting.network)
    weights = float(of_network.pop("outer_weights", 1.0))
    activation = str(of_network.pop("activation", "relu"))
    leak = _number(of_network.pop("leak", network == "linear"))
    corruption = _number(of_law.get({"moved": "size", "corrupted": "scale"}.get(law, "")))
    if corruption is not None and law == "corrupted":
        corruption *= math.sqrt(setting.n_inputs)
    shared = {
        "law": setting.law,
        "law_name": law,
        "law_scale": _number(of_law.get("scale", 1.0)),
        "dof": _number(of_law.get("dof")),
        "corruption": corruption,
        "corrupted_share": None if corruption is None else float(of_law.get("probability", 1.0)),
        "architecture": ",".join([network, *(f"{k}={of_network[k]}" for k in sorted(of_network))]),
        "activation": activation,
        "leak": leak,
        "outer_weights": weights,
    }
    rows = []
    for encounter in encounters(setting):
        text = setting.trainers[encounter.trainer]
        algorithm, given = parse(text)
        said = given.get("step_size")
        rows.append(
            {
                "arm": encounter.name,
                "trainer": encounter.trainer,
                "trainer_text": text,
                "algorithm": algorithm,
                "step_size": step_size_of(text, setting.step_size),
                "step_rule": said if isinstance(said, str) else None,
                "attack": parse(encounter.attack)[0],
                "attack_text": encounter.attack,
                "bound": encounter.bound,
                "probability": encounter.probability,
                **shared,
            }
        )
    return rows


def _number(value: Any) -> float | None:
    """Return a parameter of a law as a number, None if it is none."""
    return None if value is None or isinstance(value, str) else float(value)


def build_problem(setting: Setting, replicate: int) -> Problem:
    """Return the problem of a replicate: its own network and true weights."""
    seed = setting.problem_seed(replicate)
    network = networks.BY_NAME.build(
        setting.network, n_inputs=setting.n_inputs, filter_size=setting.filter_size, seed=seed
    )
    build = data.BY_NAME.build if "sha256=" in setting.law else _law  # a file may have changed
    law = build(setting.law, n_inputs=setting.n_inputs)
    return Problem.draw(network, law, seed=seed, noise=setting.noise)


@lru_cache(maxsize=KEPT_LAWS)
def _law(text: str, *, n_inputs: int) -> Law | data.Corrupted:
    """Return the law of a text, with all that was computed from it: replicates share them."""
    return data.BY_NAME.build(text, n_inputs=n_inputs)


def build_arms(setting: Setting, problem: Problem, replicate: int) -> list[Arm]:
    """Return the arms of a setting, in the order of `arm_rows`."""
    return [_arm(setting, problem, replicate, encounter) for encounter in encounters(setting)]


def _arm(setting: Setting, problem: Problem, replicate: int, encounter: Encounter) -> Arm:
    attack = attacks.build(
        encounter.attack,
        problem,
        bound=encounter.bound,
        probability=encounter.probability,
        seed=setting.problem_seed(replicate),
    )
    text = setting.trainers[encounter.trainer]
    trainer = solver_of(text) or trainers.build(_known(text), step_size=setting.step_size)
    return Arm(trainer, attack, name=encounter.name)


def _known(text: str) -> str:
    """Return the text of a trainer, whose name must be known."""
    if (name := parse(text)[0]) not in trainers.BY_NAME and not is_reference(name):
        raise _check.unknown("trainer", name, (*trainers.BY_NAME, SOLVE))
    return text


def check(settings: Sequence[Setting]) -> None:
    """Build everything once, so that errors are found before anything is computed."""
    if sum(min(one.most_arms, MOST_ARMS) for one in settings) > MOST_ARMS_IN_ALL:
        raise _check.InputError(
            f"the study has more than {MOST_ARMS_IN_ALL:,} arms in all settings: make the sweeps "
            "smaller"
        )
    for setting in settings:
        try:
            check_setting(setting)
        except _check.InputError as error:
            raise _check.InputError(f"setting {setting.name!r}: {error}") from None


def check_setting(setting: Setting) -> None:
    """Build the problem and the arms of a setting once, and refuse those that cannot be run."""
    for sweep in setting.sweeps:
        _require_keys("sweep", sweep.attack, "bound", "probability")
    _require_keys("setting", setting.network, "n_inputs", "filter_size")
    _require_keys("setting", setting.law, "n_inputs")
    _require_hash(setting.law)
    _require_few("batch_size × n_inputs", setting.batch_size * setting.n_inputs)
    problem, rows = build_problem(setting, 0), setting.verify
    arms = build_arms(setting, problem, 0)
    _require_few("arms × records", len(arms) * len(recorded_steps(setting.record, setting.steps)))
    _require_few("verify × n_inputs", rows * setting.n_inputs)
    _require_few("verify × arms", rows * len(arms))
    if len({arm.name for arm in arms}) < len(arms):
        raise _check.InputError(
            "two bounds or two probabilities agree in their first 12 digits: remove one of them"
        )
    kinds = {
        (met.trainer, met.attack): arm for met, arm in zip(encounters(setting), arms, strict=True)
    }
    for arm in kinds.values():
        arm.resolved(problem, setting.batch_size, setting.steps)
        if isinstance(arm.trainer, Solver):
            _require_few("rows × n_inputs", arm.trainer.rows * setting.n_inputs)
            _require_few("rows × arms", arm.trainer.rows * len(arms))
            arm.trainer.require_rows(problem, setting.batch_size, setting.steps)


def _require_keys(table: str, text: str, *names: str) -> None:
    """Refuse parameters in `text` that are keys of its table."""
    for name in names:
        if name in parse(text)[1]:
            raise _check.InputError(f"give `{name}` as a key of the {table}, not inside {text!r}")


def _require_hash(law: str) -> None:
    """Refuse rows of a file without the hash by which the study says which file it means."""
    name, given = parse(law)
    if name == "empirical" and "rows" in given and not given.get("sha256"):
        raise _check.InputError(
            f"a study must say which file it means, so that its results can be computed again: "
            f"write {law},sha256={hash_of_file(str(given['rows']))}"
        )
    if isinstance(given.get("law"), str):
        _require_hash(given["law"].replace(";", ","))


def _require_few(what: str, entries: int) -> None:
    if entries > MOST_ENTRIES:
        raise _check.InputError(f"{what} must be at most {MOST_ENTRIES:,}, got {entries:,}")


MOST_ENTRIES = 10**7
"""Largest number of entries of an array, 80 MB."""


A_STEP, AN_ARM, A_ROW = 500.0, 2.5, 400.0
"""What a step, a sample of an arm and a verified row of an arm take, where one input takes 1.

Measured on the paper's settings: 3 ns for an input, and within a factor of two for each setting.
"""


class Preparation:
    """Checks and compiles the settings of a study of training runs before its first unit."""

    def __init__(self, name: str, settings: Sequence[Setting]) -> None:
        self.name, self.settings = name, {one.name: one for one in settings}

    def validate(self) -> None:
        """Build all problems and arms once, as a check."""
        with announced(f"neurotron: checking the study {self.name} ..."):
            check([*self.settings.values()])

    def costs(self) -> dict[str, float]:
        """Return about how long a unit of each setting takes."""
        return {name: _cost(setting) for name, setting in self.settings.items()}

    def compile(self) -> None:
        """Compile what units need, in the main thread, which receives Ctrl-C."""
        from neurotron.guarantees import certify  # loads the compiler, and so do the next
        from neurotron.guarantees.verify.next_rows import next_rows
        from neurotron.simulation import simulate

        for setting in self.settings.values():
            problem = build_problem(setting, replicate=0)
            met = {(one.trainer, parse(one.attack)[0]): one for one in encounters(setting)}
            arms = [_arm(setting, problem, 0, encounter) for encounter in met.values()]
            run = simulate(problem, arms, steps=0, batch_size=setting.batch_size)
            if "interrupted" in run.status:
                raise KeyboardInterrupt
            if setting.verify and not isinstance(problem.data, data.Corrupted):
                next_rows(run, 1)
        certify(
            Problem.draw(networks.relu_gate(1), Normal()),
            Arm(NeuroTron(1.0)),
            steps=0,
            batch_size=1,
        )


def _cost(setting: Setting) -> float:
    """Return about how long a unit takes."""
    arms = setting.most_arms
    a_step = A_STEP + setting.batch_size * (setting.n_inputs + AN_ARM * arms)
    return 1.0 + setting.steps * a_step + setting.verify * arms * A_ROW
