"""What mistakes and attacks in labels cost on tables that nothing was chosen on.

A setting is one table with its attacks. A replicate is a random split of its rows: three quarters
are fitted, some of their labels attacked, and one quarter is tested with honest labels. Every
method is fitted to the same labels. Inputs are standardised.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score
from tables import estimator_of
from unseen_attacks import Labels, attacked
from unseen_tables import chosen_rows, recipe_of

from neurotron.auditing.splits import AuditedTable

Array = npt.NDArray[np.float64]
PACKAGES = ("scikit-learn", "statsmodels", "cleanlab")
"""Packages that results depend on, beside those that all results do."""
ROUNDING = 1e-9
"""A label has been changed if it differs by more than this part of the largest label."""


def damage(
    setting: dict[str, Any],
    replicate: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Fit the methods of a setting to one split under every attack; return a row per fit."""
    recipe = recipe_of(setting)
    table = AuditedTable.of(*chosen_rows(recipe, setting["most_rows"]))
    split = table.split(setting["split_seed"], replicate)
    # without their last column, which is one everywhere
    X, test_X = split.inputs[:, :-1], split.test_inputs[:, :-1]
    honest = Labels.of(X, split.y, is_logarithm=recipe.is_logarithm)
    rows: list[dict[str, Any]] = []
    with warnings.catch_warnings(action="ignore"):
        reference = _error(LinearRegression().fit(X, split.y), test_X, split.test_y)
        cells = cells_of(setting, replicate)
        for done, cell in enumerate(cells, 1):
            y = attacked(honest, cell.attack, cell.size, cell.share, cell.draw(seed))
            wrong = np.abs(y - split.y) > ROUNDING * max(1.0, np.abs(split.y).max())
            model = estimator_of(setting["methods"][cell.method], cell.share)
            began = time.process_time()
            try:
                model.fit(X, y)
                error = _error(model, test_X, split.test_y)
            except (ValueError, np.linalg.LinAlgError):  # RANSAC may find no rows that agree
                error = np.inf
            rows.append(
                {
                    "attack": cell.attack, "shift": cell.size, "probability": cell.share,
                    "method": cell.method, "rows": len(y), "tampered": int(wrong.sum()),
                    "reference": reference, "error": error if np.isfinite(error) else np.inf,
                    "seconds": time.process_time() - began,
                }
                | (found_by(model, X, y, wrong) if np.isfinite(error) else NOTHING)
            )  # fmt: skip
            if progress is not None:
                progress(done, len(cells))
    return rows


class Cell(NamedTuple):
    """An attack and a method."""

    attack: str
    size: float
    share: float
    method: str

    def draw(self, seed: int) -> np.random.Generator:
        """Return the generator of an attack, which is the same for all methods."""
        number = round(1e3 * self.size), round(1e3 * self.share)
        return np.random.default_rng([seed, *number, *map(ord, self.attack)])


def cells_of(setting: dict[str, Any], replicate: int) -> list[Cell]:
    """Return the attacks and methods of one split; slow methods are fitted to some splits only."""
    only = setting.get("only_splits", {})
    methods = [name for name in setting["methods"] if replicate in only.get(name, [replicate])]
    return [
        Cell(sweep["attack"], float(size), float(share), method)
        for sweep in setting["sweeps"]
        for size in _listed(sweep.get("size", 0.0))
        for share in _listed(sweep.get("probability", 0.0))
        for method in methods
    ]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _error(model: Any, X: Array, y: Array) -> float:
    """Return the root of the mean squared error on rows."""
    return float(np.sqrt(np.mean((y - model.predict(X)) ** 2)))


# ---- what a method says about labels -------------------------------------------------------------

NOTHING: dict[str, Any] = dict.fromkeys(
    ("auc", "suspects", "found", "low", "high", "distrusted", "mixture", "rejected", "converged")
)


def found_by(model: Any, X: Array, y: Array, wrong: npt.NDArray[np.bool_]) -> dict[str, Any]:
    """Return what a method says about labels, and how much of that is right.

    `auc` is the area under the curve of its ranking: by its suspicion, or else by the absolute
    residual. The other numbers are those of methods that name suspects, and of ours.
    """
    told = dict(NOTHING)
    ranking = getattr(model, "suspicion_", None)
    ranking = np.abs(y - model.predict(X)) if ranking is None else ranking
    if 0 < wrong.sum() < len(wrong):
        told["auc"] = float(roc_auc_score(wrong, ranking))
    suspects = getattr(model, "suspects_", None)
    if suspects is not None:
        told |= {"suspects": int(suspects.sum()), "found": int((suspects & wrong).sum())}
    if hasattr(model, "solution_"):
        low, high = map(float, model.attacked_fraction_interval_)
        told |= {
            "low": low, "high": high, "distrusted": bool(model.diagnose().reasons),
            "mixture": model.solution_.tampered is not None,
            "rejected": int(model.solution_.rejected.sum()), "converged": bool(model.converged_),
        }  # fmt: skip
    return told
