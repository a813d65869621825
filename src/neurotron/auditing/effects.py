"""How much every label of a split moves the predictions for its test rows.

For an estimator that is linear in the labels this is a matrix H, and the ceilings of
`theory.smoother` are exact. Any other estimator is attacked through linear smoothers that follow
the same rows: least squares, the leaves of trees, and smooth kernels. The worst labels for such a
surrogate often harm the estimator as well, but nothing is proved with them.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.tree import ExtraTreeRegressor

from neurotron import _check
from neurotron._types import Array
from neurotron.auditing.splits import Split
from neurotron.estimators.linearity import NotLinear, smoother_matrix

TREES, LEAF = 60, 5
"""The random trees that stand in for an estimator without leaves, and the fewest rows in a leaf. On
three tables, 5 to 15 rows harmed boosting alike, and 40 less."""
WIDTH = 0.3
"""The kernel is exp(−WIDTH·distance²/columns), with columns of variance 1, and a penalty of 1."""
LANDMARKS = 500
"""With more rows than this, the kernel is spanned by about so many of them (Nyström)."""
ROUNDING = 1e-9
"""What is added to a matrix of kernels, as a part of its largest entry, before it is inverted."""


@dataclass(frozen=True, eq=False)
class Effects:
    """The effect of every label on every prediction, each (m, N): change per unit of the label."""

    split: Split
    model: Any
    """The estimator, fitted to the labels as they are."""
    exact: Array | None = None
    """The effects on the predictions of the estimator, if they are linear in the labels."""
    reason: str = ""
    """Why the effects are not exact, or nothing if they are."""

    @cached_property
    def linear(self) -> Array:
        """The effects on the predictions of least squares."""
        return np.asarray(self.split.test_inputs @ np.linalg.pinv(self.split.inputs))

    @cached_property
    def leaf(self) -> Array:
        """The effects in trees whose splits stay as they are: those of the model, if it has any.

        A prediction is then the mean of the labels in its leaf, averaged over the trees.
        """
        try:
            rows, tests = self._own_leaves()
        except Exception:  # it has no leaves, or none that can be looked into
            rows, tests = self._other_leaves()
        effects = np.zeros((len(tests), len(rows)))
        for of_rows, of_tests in zip(rows.T, tests.T, strict=True):
            same = of_tests[:, None] == of_rows
            effects += same / np.maximum(same.sum(axis=1, keepdims=True), 1)
        return effects / rows.shape[1]

    def _own_leaves(self) -> tuple[Any, Any]:
        *before, last = [step for _, step in getattr(self.model, "steps", [("", self.model)])]
        rows, tests = deepcopy(self.split.X), deepcopy(self.split.test_X)
        for step in before:
            rows, tests = step.transform(rows), step.transform(tests)
        counts = len(self.split.y), len(self.split.test_y)
        return (
            np.asarray(last.apply(rows)).reshape(counts[0], -1),
            np.asarray(last.apply(tests)).reshape(counts[1], -1),
        )

    def _other_leaves(self) -> tuple[Any, Any]:
        inputs, labels = self.split.inputs, self.split.y
        trees = [
            ExtraTreeRegressor(min_samples_leaf=LEAF, random_state=number).fit(inputs, labels)
            for number in range(TREES)
        ]
        rows, tests = (
            np.column_stack([tree.apply(each) for tree in trees])
            for each in (inputs, self.split.test_inputs)
        )
        return rows, tests

    @cached_property
    def kernel(self) -> Array:
        """The effects on the predictions of ridge regression with Gaussian kernels."""
        inputs, tests = self.split.inputs, self.split.test_inputs
        landmarks = inputs[:: -(-len(inputs) // LANDMARKS)]
        rows, new = _gaussian(inputs, landmarks), _gaussian(tests, landmarks)
        normal = rows.T @ rows + _gaussian(landmarks, landmarks)
        normal += ROUNDING * normal.max() * np.eye(len(normal))
        return np.asarray(new @ np.linalg.solve(normal, rows.T))


def effects_of(estimator: Any, split: Split, model: Any, bound: float, seed: int) -> Effects:
    """Return the effects of the labels of a split, exact if the estimator is linear in them."""
    finite = bound if np.isfinite(bound) else float(np.ptp(split.y))
    try:
        exact = smoother_matrix(
            estimator, split.X, split.y, split.test_X, bound=finite, seed=seed
        )  # fmt: skip
        return Effects(split, model, exact)
    except NotLinear as error:
        reason = str(error)
    except Exception as error:  # whatever an estimator raises while it is examined
        words = _check.shorten(" ".join(f"{type(error).__name__}: {error}".split()))
        reason = f"it cannot be examined ({words})"
    return Effects(split, model, reason=reason)


def _gaussian(rows: Array, others: Array) -> Array:
    """Return the kernel between rows; their last column, of ones, makes no difference."""
    squares = (rows**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2.0 * rows @ others.T
    return np.asarray(np.exp(-WIDTH * np.maximum(squares, 0.0) / max(rows.shape[1] - 1, 1)))
