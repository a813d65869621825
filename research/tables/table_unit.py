"""Computes one unit of a study of public tables: every method on one split, under every attack."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from neurotron import _check
from neurotron._threads import one_blas_thread
from neurotron._types import Array
from neurotron.lab.results.damages import cells_of
from neurotron.lab.studies.completion import complete
from neurotron.lab.studies.public_tables import Table
from neurotron.lab.studies.table_splits import Attack, attacked, split_of
from neurotron.lab.studies.tables_spec import TablesStudy

__all__ = ["damage", "estimator_of"]

PACKAGES = ("scikit-learn",)
"""Packages that results depend on, beside those that all results do."""
SHARE = "{share}"
"""What stands in the text of a method for the share of attacked labels, if it is told that."""


def damage(
    text: str,
    setting: str,
    replicate: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Fit every method of a setting to one split under every attack; return a row per fit.

    `text` is the study as JSON. This is a pure function: what it returns depends on its first three
    arguments alone, and on the files of the packages that bring the tables.
    """
    _check.text("setting", setting)
    study = complete(text, TablesStudy)
    spec = study.setting(setting)
    _check.integer("replicate", replicate, 0)
    methods = study.methods_of(spec)
    rows: list[dict[str, Any]] = []
    with one_blas_thread(), warnings.catch_warnings(action="ignore"):
        fit, test = split_of(spec.table_name, replicate, study.seed)
        reference = _error(_least_squares(fit), test)
        repeated = float(np.unique(fit.y, return_counts=True)[1].max() / len(fit.y))
        cells = cells_of(study.identity(), setting)
        for done, (name, shift, share, method) in enumerate(cells, 1):
            chosen = Attack(name, shift, share)
            y = attacked(fit, chosen, replicate, study.seed)
            model = estimator_of(methods[method], chosen.probability)
            rows.append(
                {
                    "attack": chosen.name,
                    "shift": chosen.shift,
                    "probability": chosen.probability,
                    "method": method,
                    "rows": len(y),
                    "repeated": repeated,
                    "tampered": int((y != fit.y).sum()),
                    "reference": reference,
                    "error": _error_of_fit(model, fit.X, y, test),
                    "mixture": _mixture(model),
                }
            )
            if progress is not None:
                progress(done, len(cells))
    return rows


def estimator_of(text: str, share: float) -> Any:
    """Return the estimator that a text describes; it may be told the share of attacked labels."""
    from neurotron.estimators.catalog import BY_NAME  # needs scikit-learn, which takes long to load

    return BY_NAME.build(text.replace(SHARE, repr(float(share))))


def _least_squares(rows: Table) -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(rows.X, rows.y)


def _error_of_fit(model: Any, X: Array, y: Array, test: Table) -> float:
    """Return the error of a method on the test rows; infinite if it cannot be fitted."""
    try:
        error = _error(model.fit(X, y), test)
    except (ValueError, np.linalg.LinAlgError):  # RANSAC may find no rows that agree
        return np.inf
    return error if np.isfinite(error) else np.inf


def _error(model: Any, rows: Table) -> float:
    """Return the root of the mean squared error on rows."""
    return float(np.sqrt(np.mean((rows.y - model.predict(rows.X)) ** 2)))


def _mixture(model: Any) -> bool | None:
    """Return whether a fit assumes an attack that hides in the noise; None for other methods."""
    solution = getattr(model, "solution_", None)
    return None if solution is None else solution.tampered is not None
