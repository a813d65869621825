"""How much every label of a split moves the predictions for its test rows.

For an estimator that is linear in the labels this is a matrix H, and the ceilings of
`theory.smoother` are exact. For trees it is the matrix that they have as long as their splits stay
the same. For any other estimator the effects of single labels are measured by fits with one label
moved, for some of the rows; for the rest, those of least squares are taken, in the same proportion.
Effects that are not exact guide attacks, and nothing is proved with them.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from neurotron import _check, _seeds
from neurotron._types import Array
from neurotron.auditing.estimators import Fit
from neurotron.auditing.linearity import NotLinear, smoother_matrix
from neurotron.auditing.splits import Split
from neurotron.theory.smoother import Room

__all__ = ["REFITS", "Effects", "effects_of", "of_least_squares"]

REFITS = 20
"""How many labels are moved one at a time, if the estimator is not linear in them."""

Predict = Callable[[Array], Array]
"""Predictions for the test rows after a fit to these labels."""


@dataclass(frozen=True, eq=False)
class Effects:
    """The effect of every label on every prediction."""

    matrix: Array
    """The change of each prediction per unit of each label, (m, N)."""
    reason: str = ""
    """Why the effects are not exact, or nothing if they are."""

    @property
    def exact(self) -> bool:
        """Whether predictions are linear in the labels, as far as tests can tell."""
        return not self.reason

    @property
    def sizes(self) -> Array:
        """The root mean square over the test rows of the effect of each label, (N,)."""
        return np.asarray(np.sqrt(np.mean(self.matrix**2, axis=0)))


def effects_of(
    estimator: Any, split: Split, predict: Predict, clean: Fit, room: Room, bound: float, seed: int
) -> Effects:
    """Return the effects of the labels of a split, exact if the estimator is linear in them."""
    finite = bound if np.isfinite(bound) else float(np.ptp(split.y))
    try:
        return Effects(
            smoother_matrix(
                estimator, split.X, split.y, split.test_X, bound=finite, seed=seed
            )
        )  # fmt: skip
    except NotLinear as error:
        reason = str(error)
    except Exception as error:  # whatever an estimator raises while it is examined
        words = _check.shorten(" ".join(f"{type(error).__name__}: {error}".split()))
        reason = f"it cannot be examined ({words})"
    guess = _by_leaves(clean.estimator, split)
    if guess is None:
        guess = _measured(split, predict, clean.predictions, room, seed)
    return Effects(guess, reason)


def _by_leaves(model: Any, split: Split) -> Array | None:
    """Return the effects in a tree or forest whose splits stay as they are, or None.

    A prediction is then the mean of the labels in its leaf, averaged over the trees.
    """
    try:
        *before, last = [step for _, step in getattr(model, "steps", [("", model)])]
        rows, tested = deepcopy(split.X), deepcopy(split.test_X)
        for step in before:
            rows, tested = step.transform(rows), step.transform(tested)
        leaves, of_tests = (
            np.asarray(last.apply(part)).reshape(count, -1)
            for part, count in ((rows, len(split.y)), (tested, len(split.test_y)))
        )
    except Exception:  # it is no tree, or not one that can be looked into
        return None
    effects = np.zeros((len(of_tests), len(leaves)))
    for tree in range(leaves.shape[1]):
        same = of_tests[:, tree, None] == leaves[None, :, tree]
        effects += same / np.maximum(same.sum(axis=1, keepdims=True), 1)
    return effects / leaves.shape[1]


def _measured(split: Split, predict: Predict, clean: Array, room: Room, seed: int) -> Array:
    """Return effects that were measured for some labels, and guessed for the others."""
    guess = of_least_squares(split)
    size = np.sqrt(np.mean(guess**2, axis=0))
    chosen = _candidates(size, seed)
    steps = np.where(room.up >= room.down, room.up, -room.down)
    steps = np.where(np.isfinite(steps), steps, np.ptp(split.y))
    measured = np.zeros((len(clean), len(chosen)))
    for place, row in enumerate(chosen):
        if steps[row] != 0.0:
            moved = split.y.copy()
            moved[row] += steps[row]
            measured[:, place] = (predict(moved) - clean) / steps[row]
    measured[~np.isfinite(measured)] = 0.0
    found = np.sqrt(np.mean(measured**2, axis=0))
    known = size[chosen] > 0.0
    factor = float(np.median(found[known] / size[chosen][known])) if known.any() else 1.0
    effects = factor * guess
    effects[:, chosen] = measured
    return np.asarray(effects)


def _candidates(size: Array, seed: int) -> Array:
    """Return rows to measure: those that matter most to least squares, and as many random ones."""
    order = np.argsort(-size, kind="stable")
    if len(order) <= REFITS:
        return np.asarray(order)
    first, others = order[: REFITS // 2], order[REFITS // 2 :]
    draw = _seeds.generator(seed, "audit", "candidates")
    return np.concatenate([first, draw.permutation(others)[: REFITS - len(first)]])


def of_least_squares(split: Split) -> Array:
    """Return the effects on the predictions of least squares for the test rows, (m, N)."""
    return np.asarray(split.test_inputs @ np.linalg.pinv(split.inputs))
