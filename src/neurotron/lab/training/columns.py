"""The columns of training runs, one row per arm, and a check of rows that are stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from neurotron._types import Index
from neurotron.work.columns import Row

__all__ = ["ARM", "CERTIFICATES", "COLUMNS", "COURSES", "SIZES", "require_sound"]

OPTIONAL = "attack_vector"
VECTORS = ("weights", "true_weights", OPTIONAL)
LISTS = (*VECTORS, "steps", "errors", "losses")
CERTIFICATES = (
    "radius", "root_mean_square", "certified_limit", "certified_steps",
    "certified_prediction_error", "theorem1_radius", "theorem1_step_size",
    "theorem1_prediction_error", "theta_star", "risk_ratio",
)  # fmt: skip
"""Numbers of the certificates of an arm, None where there is none."""
COURSES = ("certified_at", "certified_errors", "certified_radii")
"""What is certified in the course of a run: some steps, and a number for each of them."""
SIZES = (*CERTIFICATES, "prediction_error", "verified_radius")
STATUSES = ("finished", "diverged")

ARM: dict[str, Any] = {
    "arm": str, "trainer": str, "trainer_text": str, "algorithm": str, "step_size": float,
    "step_rule": str, "attack": str, "attack_text": str, "bound": float, "probability": float,
    "law": str, "law_name": str, "law_scale": float, "dof": float, "architecture": str,
    "outer_weights": float,
}  # fmt: skip
"""The columns that describe an arm."""
COLUMNS: dict[str, Any] = {
    **ARM,
    "status": str,
    "stopped_at": int,
    **dict.fromkeys(SIZES, float),
    "weights": list[float],
    "true_weights": list[float],
    "attack_vector": list[float],
    "steps": list[int],
    "errors": list[float],
    "losses": list[float],
    **dict.fromkeys(COURSES, list[float]),
}


def require_sound(rows: list[Row], arms: list[Row], steps: Index) -> None:
    """Raise a ValueError unless these can be the rows of the arms, recorded at these steps."""
    if [{name: row[name] for name in ARM} for row in rows] != arms:
        raise ValueError("its arms are not those of the study")
    for row in rows:
        _require_whole(row)
        _require_possible(row)
        if not np.array_equal(row["steps"], steps):
            raise ValueError("its steps are not those that the study records")


def _require_whole(row: Row) -> None:
    """Raise a ValueError if a value of a row is missing, or if lists differ in length."""
    if row["status"] not in STATUSES:
        raise ValueError("it has an unknown status")
    if any(row[name] is None for name in LISTS if name != OPTIONAL):
        raise ValueError("it lacks a list")
    records = {len(row[name]) for name in ("steps", "errors", "losses")}
    vectors = {len(row[name]) for name in VECTORS if row[name] is not None}
    courses = {0 if row[name] is None else len(row[name]) for name in COURSES}
    if len(courses) > 1 or len(records) > 1 or len(vectors) > 1 or 0 in records | vectors:
        raise ValueError("its lists differ in length")


def _require_possible(row: Row) -> None:
    """Raise a ValueError if a run cannot have these values; a diverged run has infinite errors."""
    for name in (*SIZES, *COURSES, "errors", "losses"):
        if row[name] is not None and not (np.asarray(row[name]) >= 0.0).all():
            raise ValueError(f"its `{name}` has a number that is negative or NaN")
    for name in ("true_weights", OPTIONAL):
        if row[name] is not None and not np.isfinite(row[name]).all():
            raise ValueError(f"its `{name}` has a number that is not finite")
