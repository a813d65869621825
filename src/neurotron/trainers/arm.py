"""An arm of a simulation: one trainer under one attack."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from neurotron import _check
from neurotron.attacks import Attack, Query
from neurotron.problem import Problem
from neurotron.trainers.base import Trainer
from neurotron.trainers.neuro_tron import NeuroTron
from neurotron.trainers.stages import Stages


@dataclass(frozen=True, eq=False, repr=False)
class Arm:
    """A trainer under an attack.

    Parameters
    ----------
    trainer
        The algorithm that updates the weights.
    attack
        The attack on the labels; None for honest labels.
    name
        The name in tables and figures. By default it is the short name of the trainer. If several
        arms of a run have the same default name, what differs between them is added.

    Examples
    --------
    >>> import neurotron as nt
    >>> nt.Arm(nt.NeuroTron()).name
    'Neuro-Tron'
    """

    trainer: Trainer
    attack: Attack | None = None
    name: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        _require_trainer("trainer", self.trainer)
        if self.attack is not None:
            _require_streamed(_check.instance("attack", self.attack, Attack))
        _check.instance("name", self.name, str)
        if not self.name:
            object.__setattr__(self, "name", self.trainer.short_name)

    @property
    def has_default_name(self) -> bool:
        """Whether the arm has the name of its trainer."""
        return self.name == self.trainer.short_name

    def resolved(self, problem: Problem, batch_size: int, steps: int) -> Arm:
        """Return the arm as it is run, with a trainer whose step size and matrix are numbers."""
        trainer = self.trainer.resolve(
            problem, batch_size=batch_size, steps=steps, attack=self.attack
        )
        return dataclasses.replace(self, trainer=trainer)

    def __repr__(self) -> str:
        parts = [repr(self.trainer)]
        parts += [] if self.attack is None else [repr(self.attack)]
        parts += [] if self.has_default_name else [f"name={self.name!r}"]
        return f"Arm({', '.join(parts)})"


def check_arms(
    arms: Arm | Trainer | Sequence[Arm | Trainer], attack: Attack | None, problem: Problem
) -> list[Arm]:
    """Return the arms of a run, if they fit the problem, under distinct names.

    A bare trainer becomes an arm under `attack`.
    """
    given: object = [arms] if isinstance(arms, (Arm, Trainer, type)) else arms
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise _check.InputError(
            f"`arms` must be a list of trainers or of Arm(trainer, attack), got "
            f"{_check.shown(arms)}"
        )
    if not given:
        raise _check.InputError("`arms` must hold at least one trainer or Arm")
    if attack is not None:
        _check.instance("attack", attack, Attack)
        if all(isinstance(each, Arm) for each in given):
            raise _check.InputError(
                f"`attack` is for bare trainers, and every element of `arms` is an Arm: leave out "
                f"attack={_check.shown(attack)}, or write Arm(trainer, attack)"
            )
    made = [_arm(f"arms[{i}]", each, attack) for i, each in enumerate(given)]
    for arm in made:
        _check_fit(arm, problem)
    return _with_distinct_names(made)


def _arm(name: str, given: object, attack: Attack | None) -> Arm:
    if isinstance(given, Arm):
        return given
    if isinstance(given, Attack):
        raise _check.InputError(
            f"{name} must be a trainer or an Arm, got the attack {_check.shown(given)}: write "
            "simulate(problem, trainers, attack=…)"
        )
    return Arm(_require_trainer(name, given), attack)


def _require_streamed(attack: Attack) -> None:
    if attack.scope == "rows":
        raise _check.InputError(
            f"attack {attack!r} needs all rows of a table at once, which a stream does not have: "
            "poison the rows first, with nt.poison(X, y, attack), and train on the labels it "
            "returns"
        )


def _require_trainer(name: str, given: object) -> Trainer:
    if isinstance(given, type) and issubclass(given, Trainer):
        raise _check.InputError(
            f"`{name}` must be a trainer, got the class {given.__name__}: write {given.__name__}(…)"
        )
    return _check.instance(name, given, Trainer)


def _with_distinct_names(arms: list[Arm]) -> list[Arm]:
    """Return the arms; names that would be the same are extended by what differs."""
    shared: dict[str, list[Arm]] = {}
    for arm in arms:
        if arm.has_default_name:
            shared.setdefault(arm.name, []).append(arm)
    named = [
        _told_apart(arm, shared[arm.name])
        if arm.has_default_name and len(shared[arm.name]) > 1
        else arm
        for arm in arms
    ]
    seen: set[str] = set()
    for arm in named:
        if arm.name in seen:
            raise _check.InputError(
                f"two arms are called {_check.shown(arm.name)}: tell them apart with "
                "Arm(trainer, attack, name=…)"
            )
        seen.add(arm.name)
    return named


def _told_apart(arm: Arm, others: list[Arm]) -> Arm:
    """Return the arm with the parameters and the attack in its name that differ among `others`."""
    trainers = [other.trainer for other in others]
    name = arm.name
    parameters = _differing(arm.trainer.parameter_texts, (t.parameter_texts for t in trainers))
    if parameters:
        name += f", {', '.join(parameters)}"
    elif isinstance(arm.trainer, Stages) and len({repr(trainer) for trainer in trainers}) > 1:
        name = repr(arm.trainer)
    if arm.attack is not None and len({repr(other.attack) for other in others}) > 1:
        name += f" under {_attack_name(arm.attack, [other.attack for other in others])}"
    return dataclasses.replace(arm, name=name)


def _attack_name(attack: Attack, others: Iterable[Attack | None]) -> str:
    """Return the class of an attack, and its numbers that differ among attacks of that class."""
    alike = (other.number_texts for other in others if type(other) is type(attack))
    numbers = _differing(attack.number_texts, alike)
    return type(attack).__name__ + (f"({', '.join(numbers)})" if numbers else "")


def _differing(own: dict[str, str], others: Iterable[dict[str, str]]) -> list[str]:
    """Return the texts in `own` that are not the same in all `others`."""
    all_texts = list(others)
    return [text for name, text in own.items() if {each.get(name) for each in all_texts} != {text}]


def _check_fit(arm: Arm, problem: Problem) -> None:
    """Refuse a trainer, attack and problem that do not fit together; the message names them."""
    size = problem.network.filter_size
    for trainer in arm.trainer.parts:
        if trainer.direction != "sensing" or isinstance(trainer, NeuroTron):
            continue
        raise _check.InputError(
            f"trainer {trainer!r} has direction 'sensing' but no sensing matrix: derive it "
            "from NeuroTron"
        )
    if arm.attack is None:
        return
    attack, vector = arm.attack, arm.attack.probe_vector
    if vector is not None and np.shape(vector) != (size,):
        raise _check.InputError(
            f"attack {attack!r} has a vector of shape {np.shape(vector)}, but the network has "
            f"{size} weights"
        )
    if (
        vector is None
        and attack.query_fields != Query._fields
        and {"probe", "probe_output"} & {*attack.query_fields}
    ):
        raise _check.InputError(
            f"attack {attack!r} uses a probe, but has no `probe_vector` to probe with"
        )
    if problem.true_weights is None and "push" in attack.query_fields:
        raise _check.InputError(
            f"attack {attack!r} uses `push`, which needs the problem's true_weights (if it does "
            "not look at it, its `query_fields` should say so)"
        )
