"""The next rows of a run, which are fresh for its final weights."""

from __future__ import annotations

from typing import Any

from neurotron.guarantees.verify.verification import Verification
from neurotron.trajectories import Trajectories

__all__ = ["verify_run"]


def verify_run(run: Trajectories, rows: int, **options: Any) -> dict[str, Verification]:
    """Return a verification of every arm of a run, by its name."""
    raise NotImplementedError
