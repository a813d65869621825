"""What happened: the result of a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neurotron import _check
from neurotron._extras import require
from neurotron._pickling import Pickled
from neurotron._types import Array, Index
from neurotron.problem import Problem
from neurotron.trainers import Arm

if TYPE_CHECKING:
    import polars

    from neurotron.engine.cohort import Engine
    from neurotron.engine.state import KeptState

__all__ = ["Trajectories"]


@dataclass(frozen=True, eq=False)
class Trajectories(Pickled):
    """What every arm of a simulation recorded; nothing in it can be changed.

    Attributes
    ----------
    arms
        Who learned, in the order given.
    steps
        The recorded numbers of updates, 0 included; shape (records,).
    errors
        ‖w − w*‖, shape (arms, records); +inf after divergence, never NaN. Only where w* is known:
        `has_errors` tells.
    losses
        Mean squared residual on the batch faced next, labels as received; shape (arms, records).
    weights
        Final weights (before the update that diverged, if one did), shape (arms, r).
    status
        One word per arm: "finished", "diverged" or "interrupted".
    stopped_at
        The step at which an arm diverged, None for the others.
    engines
        Which engine ran each arm, and why: pairs (name, reason).
    settings
        What else decided the numbers: batch_size, seed, replicate, record.
    environment
        Versions and machine.
    problem, state
        What was learned, and where the arms stand: what `resume` needs.
    """

    arms: tuple[Arm, ...]
    steps: Index
    _errors: Array | None
    losses: Array
    weights: Array
    status: tuple[str, ...]
    stopped_at: tuple[int | None, ...]
    engines: tuple[Engine, ...]
    settings: Mapping[str, Any]
    environment: Mapping[str, str]
    problem: Problem
    state: KeptState

    @property
    def has_errors(self) -> bool:
        """Whether w* is known, so that there are errors."""
        return self._errors is not None

    @property
    def errors(self) -> Array:
        """‖w − w*‖, shape (arms, records); +inf after divergence, never NaN."""
        if self._errors is None:
            raise _check.InputError(
                "there are no errors ‖w − w*‖, because the labels come from data whose true "
                "weights w* are unknown: look at `losses`, or give `true_weights` with the data"
            )
        return self._errors

    def __repr__(self) -> str:
        arms = f"{len(self.arms)} arm{'s' if len(self.arms) > 1 else ''}"
        head = f"{arms}, {self.steps[-1]} steps, {len(self.steps)} recorded"
        width = max(len(arm.name) for arm in self.arms)
        lines = [f"  {arm.name:<{width}}  {self._ending(i)}" for i, arm in enumerate(self.arms)]
        return "\n".join([f"Trajectories: {head}", *lines])

    def _ending(self, arm: int) -> str:
        if self.stopped_at[arm] is not None:
            return f"diverged at step {self.stopped_at[arm]}"
        if self.has_errors:
            value = f"error {self.errors[arm, -1]:.3g}"
        else:
            value = f"loss {self.losses[arm, -1]:.3g}"
        if self.status[arm] == "interrupted":
            value += " (interrupted)"
        engine = self.engines[arm]
        if engine.name == "numpy":
            value += f" (on the slow NumPy engine: {engine.reason})"
        return value

    def to_frame(self) -> polars.DataFrame:
        """Return one row per arm and record: arm, step, error, loss, status (needs polars)."""
        polars = require("polars")
        count = len(self.steps)
        columns: dict[str, Any] = {
            "arm": [arm.name for arm in self.arms for _ in range(count)],
            "step": list(map(int, self.steps)) * len(self.arms),
            "loss": self.losses.ravel(),
            "status": [word for word in self.status for _ in range(count)],
        }
        if self.has_errors:
            columns["error"] = self.errors.ravel()
        order = [name for name in ("arm", "step", "error", "loss", "status") if name in columns]
        return polars.DataFrame(columns).select(order)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw error (or loss) over steps; return the figure, saved to `path` if one is given."""
        from neurotron.figures import plot

        return plot(self, path)
