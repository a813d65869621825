"""What the rows of a fit say about it."""

from __future__ import annotations

from typing import Any


class Diagnosis:
    """Stub for the first commit."""


def diagnosis_of(model: Any, X: Any, y: Any, c: Any) -> Diagnosis:
    """Return it."""
    return Diagnosis()
