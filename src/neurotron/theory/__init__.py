"""What is promised: constants, the paper's theorem, the sharp certificate, the planner.

Imported on first use, because trainers are made with parts of it and other parts certify trainers.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neurotron.theory.assumptions import Assumption
    from neurotron.theory.certificate import Certificate
    from neurotron.theory.constants import floor_constant, lambda1, lambda2, lambda3
    from neurotron.theory.exposure import Budget
    from neurotron.theory.guarantee import certify
    from neurotron.theory.near_optimality import impersonated_mean
    from neurotron.theory.plan_search import NotAchievable
    from neurotron.theory.planner import Plan, plan
    from neurotron.theory.recursion import Recursion
    from neurotron.theory.sharp import SharpConstants, sharp_constants
    from neurotron.theory.theorem1 import (
        Theorem1,
        gaussian_risk_probability,
        gaussian_trade_off,
        outer_weight_accuracy,
    )

_HOME = {
    "assumptions": ["Assumption"],
    "certificate": ["Certificate"],
    "constants": ["floor_constant", "lambda1", "lambda2", "lambda3"],
    "exposure": ["Budget"],
    "guarantee": ["certify"],
    "near_optimality": ["impersonated_mean"],
    "plan_search": ["NotAchievable"],
    "planner": ["Plan", "plan"],
    "recursion": ["Recursion"],
    "sharp": ["SharpConstants", "sharp_constants"],
    "theorem1": [
        "Theorem1",
        "gaussian_risk_probability",
        "gaussian_trade_off",
        "outer_weight_accuracy",
    ],
}

__all__ = [
    "Assumption",
    "Budget",
    "Certificate",
    "NotAchievable",
    "Plan",
    "Recursion",
    "SharpConstants",
    "Theorem1",
    "certify",
    "floor_constant",
    "gaussian_risk_probability",
    "gaussian_trade_off",
    "impersonated_mean",
    "lambda1",
    "lambda2",
    "lambda3",
    "outer_weight_accuracy",
    "plan",
    "sharp_constants",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            return getattr(importlib.import_module(f"neurotron.theory.{module}"), name)
    raise AttributeError(f"module 'neurotron.theory' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
