"""What poisoned labels cost regressions on public tables.

A setting is one table with its attacks. A replicate is a random split of its rows: three quarters
are fitted, some of their labels attacked, and one quarter is tested with honest labels. Every
method is fitted to the same labels. The first method of a setting is the one that the others are
compared with.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from public_tables import table_of
from sklearn.linear_model import LinearRegression

import neurotron as nt
from neurotron.auditing.attackers import attack_rows
from neurotron.auditing.splits import AuditedTable, Split
from neurotron.estimators.catalog import BY_NAME

Array = npt.NDArray[np.float64]
PACKAGES = ("scikit-learn",)
"""Packages that results depend on, beside those that all results do."""
SHARE = "{share}"
"""What stands in the text of a method for the share of attacked labels, if it is told that."""
SHIFTS = ("one-side", "random-sign")
"""The attacks that move labels by a number of standard deviations; others replace labels."""
ANY = 1e70
"""A bound that no change of a label reaches."""


def damage(
    setting: dict[str, Any],
    replicate: int,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Fit every method of a setting to one split under every attack; return a row per fit."""
    rows: list[dict[str, Any]] = []
    with warnings.catch_warnings(action="ignore"):
        split = AuditedTable.of(*table_of(setting.get("table", setting["name"]))).split(
            setting["split_seed"], replicate
        )
        fit, test = (split.X, split.y), (split.test_X, split.test_y)
        reference = _error(LinearRegression().fit(*fit), *test)
        repeated = float(np.unique(split.y, return_counts=True)[1].max() / len(split.y))
        cells = cells_of(setting)
        for done, (attack, shift, share, method) in enumerate(cells, 1):
            y = attacked(split, attack, shift, share, seed)
            model = estimator_of(setting["methods"][method], share)
            rows.append(
                {
                    "attack": attack, "shift": float(shift), "probability": float(share),
                    "method": method, "rows": len(y), "repeated": repeated,
                    "tampered": int((y != split.y).sum()), "reference": reference,
                    "error": _error_of_fit(model, split.X, y, test), "mixture": _mixture(model),
                }
            )  # fmt: skip
            if progress is not None:
                progress(done, len(cells))
    return rows


def cells_of(setting: dict[str, Any]) -> list[tuple[str, float, float, str]]:
    """Return the attacks and the methods of a setting, each pair once, in their order."""
    attacks = [
        (one["attack"], one.get("shift", 2.0) if one["attack"] in SHIFTS else 0.0, share)
        for one in setting["sweeps"]
        for share in (one["probability"] if one["attack"] != "none" else [0.0])
    ]
    return [(*attack, method) for attack in attacks for method in setting["methods"]]


def attacked(split: Split, attack: str, shift: float, share: float, seed: int) -> Array:
    """Return the labels after an attack; all attacks on random rows choose the same rows.

    Attacks to one side raise labels, those of random sign raise or lower them, and the others write
    the labels of the model with the opposite coefficients: into random rows, or into the rows whose
    predictions are farthest from their mean (large leverage).
    """
    if attack == "none":
        return split.y
    preference = np.random.default_rng([seed, 1]).permutation(len(split.y)).argsort().astype(float)
    if attack == "large-leverage":
        predictions = split.inputs @ split.opposite
        preference = -np.abs(predictions - split.y.mean())
    if attack in SHIFTS:
        moving = nt.attacks.Constant if attack == "one-side" else nt.attacks.RandomSign
        made: nt.Attack = moving(shift * split.y.std(), 1.0)
    else:
        made = nt.attacks.Impersonation(ANY, 1.0, weights=split.opposite)
    return attack_rows(split, made, round(share * len(split.y)), preference, seed)


def estimator_of(text: str, share: float) -> Any:
    """Return the estimator that a text describes; it may be told the share of attacked labels."""
    return BY_NAME.build(text.replace(SHARE, repr(float(share))))


def _error_of_fit(model: Any, X: Array, y: Array, test: tuple[Array, Array]) -> float:
    """Return the error of a method on the test rows; infinite if it cannot be fitted."""
    try:
        error = _error(model.fit(X, y), *test)
    except (ValueError, np.linalg.LinAlgError):  # RANSAC may find no rows that agree
        return np.inf
    return error if np.isfinite(error) else np.inf


def _error(model: Any, X: Array, y: Array) -> float:
    """Return the root of the mean squared error on rows."""
    return float(np.sqrt(np.mean((y - model.predict(X)) ** 2)))


def _mixture(model: Any) -> bool | None:
    """Return whether a fit assumes an attack that hides in the noise; None for other methods."""
    solution = getattr(model, "solution_", None)
    return None if solution is None else solution.tampered is not None
