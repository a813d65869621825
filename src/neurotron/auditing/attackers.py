"""The attackers of an audit: they know the rows, the honest labels and the estimator.

Attacks of the library see a linear filter that least squares found in the standardised rows. They
are asked to change all labels; an attack that does not choose its rows then gets random ones, and
exactly as many as its budget allows. The other attackers use the effects of labels on predictions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from neurotron import _check, _seeds, attacks
from neurotron._registry import kebab_case
from neurotron._types import Array, Index
from neurotron.attacks import Attack
from neurotron.auditing.effects import Effects, of_least_squares
from neurotron.auditing.splits import Split
from neurotron.networks import linear
from neurotron.poisoning import poison
from neurotron.problem import Problem
from neurotron.theory.smoother import (
    RmsCeiling,
    Room,
    largest_rise,
    worst_change,
    worst_rms_change,
)

__all__ = [
    "ALL",
    "EXACT",
    "KNOWING",
    "Scene",
    "attacked",
    "is_random",
    "name_of",
    "parse_attacks",
    "strengths_of",
]

FROM_LIBRARY = (
    "constant", "random-sign", "sign-flip", "impersonation", "adaptive", "large-norm",
    "high-leverage", "picked-rows",
)  # fmt: skip
EXACT = ("worst-prediction", "worst-mean", "worst-error")
"""Attacks on estimators that are linear in the labels, the first two of which nobody can exceed."""
KNOWING = {
    "surrogate": "raises the error that least squares would have on the test rows",
    "influence": "moves the labels with the largest effect on the predictions",
    "worst-prediction": "moves one prediction as far as any attack can",
    "worst-mean": "moves the mean prediction as far as any attack can",
    "worst-error": "raises the error on the test rows, from several starts",
}
"""The attacks that know the estimator, each with what it does."""
ALL = (*FROM_LIBRARY, *KNOWING)
CHOOSING = ("large-norm", "high-leverage", "picked-rows", "impostor", *KNOWING)
"""Attacks that leave nothing to chance, so that one replicate is enough."""
WEAKER = ("high-leverage", "surrogate", "influence")
SIZES = (5.0, 2.5, 1.25)
"""Estimators that reject labels which are far off may suffer more from smaller changes. If an
estimator is not linear, the attacks `WEAKER` also try changes of so many errors that it has without
an attack, and the worst counts."""
OPPOSITE = ("impersonation", "picked-rows")
"""Attacks that give the labels of another model: that with the opposite coefficients."""


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
    effects: Effects
    seed: int

    @cached_property
    def problem(self) -> Problem:
        """The rows with the filter that least squares finds, as attacks of the library see them."""
        inputs, labels = self.split.inputs, self.split.y
        weights = np.linalg.lstsq(inputs, labels, rcond=None)[0]
        return Problem.from_rows(linear(inputs.shape[1]), inputs, labels, true_weights=weights)

    @cached_property
    def least_squares(self) -> Array:
        """The effects of labels on the predictions of least squares, (m, N)."""
        return of_least_squares(self.split)

    @cached_property
    def rms_ceiling(self) -> RmsCeiling:
        """Bounds on the root mean square of the changes of predictions."""
        return RmsCeiling(self.effects.matrix, self.room)

    @property
    def opposite(self) -> Array:
        """The filter with the opposite coefficients and the same intercept."""
        weights = self.problem.true_weights
        assert weights is not None
        return np.append(-weights[:-1], weights[-1])


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
    for each in chosen:
        if isinstance(each, Attack):
            continue
        if _check.text("attacks", each).partition(":")[0] not in known:
            raise _check.unknown("attack", each, known)
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


def strengths_of(attack: str | Attack, scene: Scene) -> tuple[float, ...]:
    """Return by which factors the changes of an attack are multiplied; the worst result counts."""
    if attack not in WEAKER or scene.effects.exact:
        return (1.0,)
    error = float(np.sqrt(np.mean(scene.residuals**2)))
    smaller = (size * error / scene.bound for size in SIZES)
    return (1.0, *(strength for strength in smaller if 0.0 < strength < 1.0))


def attacked(attack: str | Attack, scene: Scene, most: int, replicate: int) -> Array | None:
    """Return the labels after an attack on at most `most` of them; None if it does not apply."""
    if isinstance(attack, str) and attack in KNOWING:
        if (attack in EXACT) != scene.effects.exact:
            return None
        labels = scene.split.y + BY_EFFECTS[attack](scene, most)
        return np.clip(labels, *(scene.label_range or (-np.inf, np.inf)))  # against rounding
    labels = _from_library(attack, scene, most, replicate)
    assert int((labels != scene.split.y).sum()) <= most
    return labels


# ---- attacks that know the effects of labels -----------------------------------------------------


def _worst_error(scene: Scene, most: int) -> Array:
    return worst_rms_change(scene.effects.matrix, scene.room, most, scene.residuals)


def _surrogate(scene: Scene, most: int) -> Array:
    """Attack least squares: estimators that follow the same rows are hurt by the same labels."""
    return worst_rms_change(scene.least_squares, scene.room, most, scene.residuals)


def _worst_mean(scene: Scene, most: int) -> Array:
    return _worst_of(scene.effects.matrix.mean(axis=0, keepdims=True), scene, most)


def _worst_prediction(scene: Scene, most: int) -> Array:
    return _worst_of(scene.effects.matrix, scene, most)


def _worst_of(functionals: Array, scene: Scene, most: int) -> Array:
    """Return the change that moves one of some linear functionals farthest, up or down."""
    both = np.concatenate([functionals, -functionals])
    chosen = int(largest_rise(both, scene.room, most).argmax())
    return worst_change(both[chosen], scene.room, most)


BY_EFFECTS: dict[str, Callable[[Scene, int], Array]] = {
    "surrogate": _surrogate,
    "influence": _worst_error,
    "worst-prediction": _worst_prediction,
    "worst-mean": _worst_mean,
    "worst-error": _worst_error,
}


# ---- attacks of the library ----------------------------------------------------------------------


def _from_library(attack: str | Attack, scene: Scene, most: int, replicate: int) -> Array:
    """Return the labels after an attack of the library on exactly `most` rows, if so many differ.

    An attack of the scope "rows" chooses its rows; `large-norm` gets those with the largest norm,
    and every other one random rows.
    """
    seed = _seeds.key(scene.seed, "audit", name_of(attack), replicate)
    split, problem = scene.split, scene.problem
    share = most / len(split.y)
    built = _built(attack, scene, seed, share)
    labels, mask = poison(
        split.inputs, split.y, built, seed=seed, label_range=scene.label_range,
        model=(problem.network, problem.true_weights),
    )  # fmt: skip
    if built.scope == "rows":
        return labels
    chosen = _first(_preference(attack, scene, seed), mask)[:most]
    changed = split.y.copy()
    changed[chosen] = labels[chosen]
    return changed


def _built(attack: str | Attack, scene: Scene, seed: int, share: float) -> Attack:
    """Return an attack with the bound of the audit, on all rows unless it chooses them itself."""
    if isinstance(attack, Attack):
        part = share if attack.scope == "rows" else 1.0
        return dataclasses.replace(attack, bound=scene.bound, probability=part)
    name, given = attacks.BY_NAME.read(attack)
    kind = attacks.BUILT_IN[[*attacks.BY_NAME].index(name)]
    if name in OPPOSITE:
        given = {"weights": scene.opposite, **given}
    part = share if kind.scope == "rows" else 1.0
    return kind.spending(scene.problem, scene.bound, part, seed, **given)


def _preference(attack: str | Attack, scene: Scene, seed: int) -> Array:
    if isinstance(attack, str) and attack.partition(":")[0] == "large-norm":
        return -np.linalg.norm(scene.split.inputs, axis=1)
    return _seeds.generator(seed, "rows").random(len(scene.split.y))


def _first(preference: Array, mask: Any) -> Index:
    """Return the rows of a mask, those with the smallest preference first."""
    order = np.argsort(preference, kind="stable")
    return np.asarray(order[mask[order]])
