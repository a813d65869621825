"""The laboratory: studies, their results, claims, figures and pages (extra `lab`)."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["claims", "figures", "report", "results", "studies"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'neurotron.lab' has no attribute {name!r}")
    return importlib.import_module(f"neurotron.lab.{name}")
