"""The attackers of an audit: they know the rows, the honest labels and the estimator.

Attacks of the library see a linear filter that least squares found in the standardised rows. They
are asked to change all labels; an attack that does not choose its rows then gets random ones, and
exactly as many as its budget allows. The other attackers use the effects of labels on predictions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np

from neurotron import _check, _seeds, attacks
from neurotron._references import is_reference
from neurotron._registry import kebab_case, parse
from neurotron._types import Array, Index
from neurotron.attacks import Attack
from neurotron.attacks.catalog import kind_of
from neurotron.auditing.effects import Effects
from neurotron.auditing.splits import Split
from neurotron.poisoning import poison
from neurotron.theory.smoother import (
    RmsCeiling,
    Room,
    largest_rise,
    worst_change,
    worst_rms_change,
)

FROM_LIBRARY = (
    "constant", "random-sign", "sign-flip", "impersonation", "adaptive", "large-norm",
    "high-leverage", "picked-rows",
)  # fmt: skip
LINEAR, LEAF, KERNEL = "linear-surrogate", "leaf-surrogate", "kernel-surrogate"
SURROGATES: dict[str, Callable[[Effects], Array]] = {
    LINEAR: attrgetter("linear"), LEAF: attrgetter("leaf"), KERNEL: attrgetter("kernel")
}  # fmt: skip
"""Attacks on estimators that are not linear in the labels, and the smoothers that they attack."""
ONE_SIDED = "one-sided"
EXACT = ("worst-prediction", "worst-mean", "worst-error")
"""Attacks on estimators that are linear in the labels, the first two of which nobody can exceed."""
KNOWING = {
    LINEAR: "raises the error that least squares would have on the test rows",
    LEAF: "raises the error of trees whose splits stay as they are: the model's, if it has any",
    KERNEL: "raises the error that ridge regression with Gaussian kernels would have",
    ONE_SIDED: "moves the rows at one end of a direction to the same side, for several directions",
    "worst-prediction": "moves one prediction as far as any attack can",
    "worst-mean": "moves the mean prediction as far as any attack can",
    "worst-error": "raises the error on the test rows, from several starts",
}
"""The attacks that know the estimator, each with what it does."""
ALL = (*FROM_LIBRARY, *KNOWING)
CHOOSING = ("large-norm", "high-leverage", "picked-rows", "impostor", *KNOWING)
"""Attacks that leave nothing to chance, so that one replicate is enough."""
SIZES = (4.0, 3.0, 2.0)
"""Estimators that clip or reject residuals suffer most from labels which they still believe. So
attacks through least squares also move labels to at most so many deviations of the errors from what
the estimator predicts for them, the others to the first only; the worst counts."""
DIRECTIONS = 8
"""Random directions of one-sided attacks, beside both ends of the widest one. Four do as much harm
to most models on three tables, but missed the worst for TRIM on another: 8 instead of 56 %."""
NORMAL = 1.4826
"""The standard deviation of normal errors is so many times the median of their sizes."""
OPPOSITE = ("impersonation", "picked-rows")
"""Attacks that give the labels of another model: that with the opposite coefficients."""

Plan = Callable[[int], Array]
"""One way to attack at most so many labels: it returns them all, or their changes, (N,)."""


@dataclass(frozen=True, eq=False)
class Scene:
    """What attackers know about a split."""

    split: Split
    room: Room
    bound: float
    """θ, finite: the largest change that the range of labels allows, if it was infinite."""
    label_range: tuple[float, float] | None
    residuals: Array
    """Predictions of the estimator on honest labels minus the labels of the test rows."""
    fitted: Array
    """Predictions of the estimator on honest labels for the rows that were fitted, (N,)."""
    effects: Effects
    seed: int

    @cached_property
    def rooms(self) -> tuple[Room, ...]:
        """The room of the budget, and what of it is within `SIZES` deviations of the fit."""
        spread = NORMAL * float(np.median(np.abs(self.residuals)))
        above = self.split.y - self.fitted
        narrower = (
            Room(*(np.clip(size * spread + sign * above, 0.0, end)
                   for sign, end in zip((1.0, -1.0), self.room, strict=True)))
            for size in SIZES if spread > 0.0
        )  # fmt: skip
        return (self.room, *narrower)

    @cached_property
    def rms_ceiling(self) -> RmsCeiling:
        """Bounds on the root mean square of the changes of predictions."""
        return RmsCeiling(self.exact, self.room)

    @property
    def exact(self) -> Array:
        """The effects on the predictions of an estimator that is linear in the labels."""
        assert self.effects.exact is not None
        return self.effects.exact


def parse_attacks(given: str | Attack | Sequence[str | Attack]) -> tuple[str | Attack, ...]:
    """Return the attacks of an audit: "all", one name or attack, or a list of them."""
    if isinstance(given, str) and given == "all":
        return ALL
    chosen = [given] if isinstance(given, (str, Attack)) else given
    if not isinstance(chosen, Sequence) or not chosen:
        raise _check.InputError(
            f'`attacks` must be "all", a name or a list of names, got {_check.shown(given)}'
        )
    known = (*KNOWING, *attacks.BY_NAME)
    for name in [parse(each)[0] for each in chosen if not isinstance(each, Attack)]:
        if is_reference(name):
            kind_of(name)
        elif name not in known:
            raise _check.unknown("attack", name, known)
    names = [name_of(each) for each in chosen]
    if len({*names}) < len(names):
        raise _check.InputError(f"`attacks` must be different, got {', '.join(names)}")
    return tuple(chosen)


def name_of(attack: str | Attack) -> str:
    """Return the name of an attack in tables."""
    return attack if isinstance(attack, str) else kebab_case(type(attack).__name__)


def is_random(attack: str | Attack) -> bool:
    """Return whether an attack differs from replicate to replicate."""
    if isinstance(attack, Attack):
        return attack.scope != "rows"
    return attack.partition(":")[0] not in CHOOSING


def plans_of(attack: str | Attack, scene: Scene, replicate: int) -> list[Plan]:
    """Return the ways in which an attack is tried, the worst of which counts; none if it cannot."""
    if not isinstance(attack, str) or attack not in KNOWING:
        return [lambda most: _from_library(attack, scene, most, replicate)]
    if attack == ONE_SIDED:
        changes = _one_sided(scene)
    elif (attack in EXACT) != (scene.effects.exact is not None):
        return []
    elif attack in SURROGATES:
        matrix = SURROGATES[attack](scene.effects)
        rooms = scene.rooms if attack == LINEAR else scene.rooms[:2]
        changes = [partial(_worst_error, scene, matrix, room) for room in rooms]
    else:
        changes = [partial(BY_EFFECTS[attack], scene)]
    return [partial(_within_range, scene, change) for change in changes]


def _within_range(scene: Scene, change: Plan, most: int) -> Array:
    """Return the labels after a change, which rounding does not bring out of their range."""
    return np.clip(scene.split.y + change(most), *(scene.label_range or (-np.inf, np.inf)))


# ---- attacks that know the effects of labels -----------------------------------------------------


def _worst_error(scene: Scene, matrix: Array, room: Room, most: int) -> Array:
    return worst_rms_change(matrix, room, most, scene.residuals)


def _worst_of(functionals: Array, scene: Scene, most: int) -> Array:
    """Return the change that moves one of some linear functionals farthest, up or down."""
    both = np.concatenate([functionals, -functionals])
    chosen = int(largest_rise(both, scene.room, most).argmax())
    return worst_change(both[chosen], scene.room, most)


BY_EFFECTS: dict[str, Callable[[Scene, int], Array]] = {
    "worst-prediction": lambda scene, most: _worst_of(scene.exact, scene, most),
    "worst-mean": lambda scene, most: _worst_of(scene.exact.mean(0, keepdims=True), scene, most),
    "worst-error": lambda scene, most: _worst_error(scene, scene.exact, scene.room, most),
}


def _one_sided(scene: Scene) -> list[Plan]:
    """Return changes of the rows at one end of a direction, all up or all down."""
    inputs = scene.split.inputs[:, :-1]
    if not inputs.size:
        return []
    widest = inputs @ np.linalg.svd(inputs, full_matrices=False)[2][0]
    draw = _seeds.generator(scene.seed, "audit", ONE_SIDED)
    drawn = (inputs @ draw.standard_normal((inputs.shape[1], DIRECTIONS))).T
    tried = [(each, room) for each in (widest, -widest) for room in scene.rooms[:2]]
    tried += [(each, scene.rooms[:2][-1]) for each in drawn]
    return [
        partial(worst_change, sign * (along - along.min()), room)
        for along, room in tried for sign in (1.0, -1.0)
    ]  # fmt: skip


# ---- attacks of the library ----------------------------------------------------------------------


def _from_library(attack: str | Attack, scene: Scene, most: int, replicate: int) -> Array:
    """Return the labels after an attack of the library.

    `large-norm` gets the rows with the largest norm, and every other one random rows.
    """
    seed = _seeds.key(scene.seed, "audit", name_of(attack), replicate)
    built = _built(attack, scene, seed, most / len(scene.split.y))
    preference = _preference(attack, scene, seed)
    return attack_rows(scene.split, built, most, preference, seed, scene.label_range)


def attack_rows(
    split: Split,
    attack: Attack,
    most: int,
    preference: Array,
    seed: int,
    label_range: tuple[float, float] | None = None,
) -> Array:
    """Return the labels of a split after an attack on exactly `most` rows, if so many differ.

    The rows are those with the smallest `preference`, unless the attack has the scope "rows" and
    chooses them itself. Every other attack must be asked to change all labels.
    """
    problem = split.problem
    labels, mask = poison(
        split.inputs, split.y, attack, seed=seed, label_range=label_range,
        model=(problem.network, problem.true_weights),
    )  # fmt: skip
    if attack.scope == "rows":
        return labels
    chosen = _first(preference, mask)[:most]
    changed = split.y.copy()
    changed[chosen] = labels[chosen]
    return changed


def _built(attack: str | Attack, scene: Scene, seed: int, share: float) -> Attack:
    """Return an attack with the bound of the audit, on all rows unless it chooses them itself."""
    if isinstance(attack, Attack):
        part = share if attack.scope == "rows" else 1.0
        return dataclasses.replace(attack, bound=scene.bound, probability=part)
    name, given = attacks.BY_NAME.read(attack)
    kind = kind_of(name)
    if name in OPPOSITE:
        given = {"weights": scene.split.opposite, **given}
    part = share if kind.scope == "rows" else 1.0
    return kind.spending(scene.split.problem, scene.bound, part, seed, **given)


def _preference(attack: str | Attack, scene: Scene, seed: int) -> Array:
    if isinstance(attack, str) and attack.partition(":")[0] == "large-norm":
        return -np.linalg.norm(scene.split.inputs, axis=1)
    return _seeds.generator(seed, "rows").random(len(scene.split.y))


def _first(preference: Array, mask: Any) -> Index:
    """Return the rows of a mask, those with the smallest preference first."""
    order = np.argsort(preference, kind="stable")
    return np.asarray(order[mask[order]])
