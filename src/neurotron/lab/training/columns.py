"""The columns of training runs, one row per arm."""

from __future__ import annotations

from typing import Any

CERTIFICATES = (
    "radius", "root_mean_square", "certified_limit", "certified_steps",
    "certified_prediction_error", "theorem1_radius", "theorem1_step_size",
    "theorem1_prediction_error", "theta_star", "risk_ratio", "predicted_bias",
)  # fmt: skip
"""Numbers of the certificates of an arm, None where there is none."""
COURSES = ("certified_at", "certified_errors", "certified_radii")
"""What is certified in the course of a run: some steps, and a number for each of them."""
SIZES = (*CERTIFICATES, "prediction_error", "verified_radius")

ARM: dict[str, Any] = {
    "arm": str, "trainer": str, "trainer_text": str, "algorithm": str, "step_size": float,
    "step_rule": str, "attack": str, "attack_text": str, "bound": float, "probability": float,
    "law": str, "law_name": str, "law_scale": float, "dof": float, "corruption": float,
    "corrupted_share": float, "architecture": str, "activation": str, "leak": float,
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
