"""What happened: the result of a simulation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neurotron import _check
from neurotron._digits import cell, counted
from neurotron._extras import require
from neurotron._pickling import Pickled
from neurotron._text import card, table
from neurotron._types import Array, Index
from neurotron.problem import Problem
from neurotron.trainers import Arm

if TYPE_CHECKING:
    import polars

    from neurotron.engine.cohort import Engine
    from neurotron.engine.state import KeptState

MOST_SHOWN = 12
"""Arms that a run prints; the others are counted."""

NO_ERRORS = (
    "there are no errors ‖w − w*‖, because the labels come from data whose true weights w* are "
    "unknown: look at `losses`, or give `true_weights` with the data"
)

RECOVERED = 0.5
"""A run has recovered w* if its error is below this multiple of ‖w*‖, halfway to the origin."""
MIRROR = 0.5
"""A run ended at the mirror −w* if the cosine of its weights with −w* is above this."""


class _Errors:
    """Errors that exist only if w* is known."""

    _errors: Array | None

    @property
    def has_errors(self) -> bool:
        """Whether w* is known, so that there are errors."""
        return self._errors is not None

    @property
    def errors(self) -> Array:
        """‖w − w*‖ at every record; +inf after divergence, never NaN."""
        if self._errors is None:
            raise _check.InputError(NO_ERRORS)
        return self._errors


@dataclass(frozen=True, eq=False, repr=False)
class ArmTrajectory(_Errors, Pickled):
    """What one arm of a simulation recorded: ``run["Neuro-Tron"]``."""

    arm: Arm
    steps: Index
    """The recorded numbers of updates, 0 included; shape (records,)."""
    _errors: Array | None
    losses: Array
    """Mean squared residual on the batch faced next, labels as received; shape (records,)."""
    weights: Array
    """Final weights, shape (r,)."""
    status: str
    """"finished", "diverged" or "interrupted"."""
    stopped_at: int | None
    """The step at which the arm diverged, if it did."""
    engine: Engine
    """Which engine ran it, and why."""

    @property
    def name(self) -> str:
        """The name of the arm."""
        return self.arm.name

    @property
    def ending(self) -> str:
        """How the arm ended, in a few words."""
        if self.stopped_at is not None:
            return f"diverged at step {self.stopped_at:,}"
        name, values = "loss on the given labels", self.losses
        if self.has_errors:
            name, values = "error", self.errors
        interrupted = " (interrupted)" if self.status == "interrupted" else ""
        return f"{name} {values[-1]:.3g}{interrupted}"

    def __repr__(self) -> str:
        return f"ArmTrajectory({self.name}: {self.steps[-1]:,} steps, {self.ending})"


class Summary(list[dict[str, Any]]):
    """One dictionary per arm, printed as a table; data frames can be made from it.

    The keys are arm, final_error, error_ratio (the final error divided by the initial one), status,
    attack and trainer. Without true weights there are final_loss and loss_ratio instead.
    """

    def __repr__(self) -> str:
        return table([self._head, *self._cells]) if self else "no arms"

    def _repr_html_(self) -> str:
        return card("Summary", columns=self._head, rows=self._cells)

    @property
    def _head(self) -> list[str]:
        return [name.replace("_", " ") for row in self[:1] for name in row]

    @property
    def _cells(self) -> list[list[str]]:
        return [[*map(cell, row.values())] for row in self]


@dataclass(frozen=True, eq=False, repr=False)
class Trajectories(_Errors, Pickled):
    """What every arm of a simulation recorded; nothing in it can be changed.

    Its elements are the arms: ``run["Neuro-Tron"]`` or ``run[0]`` is what one of them recorded, and
    a loop visits all of them.

    Attributes
    ----------
    arms
        The arms that were trained, in the order given.
    steps
        The recorded numbers of updates, 0 included; shape (records,).
    errors
        ‖w − w*‖, shape (arms, records); +inf after divergence, never NaN. They exist only if w* is
        known; `has_errors` says whether it is.
    losses
        Mean squared residual on the next batch, with labels as received; shape (arms, records).
    weights
        Final weights (before the update that diverged, if one did), shape (arms, r).
    status
        One word per arm: "finished", "diverged" or "interrupted".
    stopped_at
        The step at which an arm diverged, None for the others.
    engines
        Which engine ran each arm, and why: pairs (name, reason).
    options
        The other options of the run: batch_size, seed, replicate, record.
    environment
        The versions of packages, and the machine.
    problem, state
        The problem, and the state of the arms at the end, from which `resume` continues.

    Examples
    --------
    >>> import neurotron as nt
    >>> problem = nt.Problem.draw(nt.networks.relu_gate(3), nt.Normal(), seed=1)
    >>> run = nt.simulate(problem, [nt.NeuroTron(), nt.SGD(0.1)], steps=1000, batch_size=16)
    >>> run["SGD"].errors.shape == run.steps.shape
    True
    >>> [row["status"] for row in run.summary()]
    ['finished', 'finished']
    """

    arms: tuple[Arm, ...]
    steps: Index
    _errors: Array | None
    losses: Array
    weights: Array
    status: tuple[str, ...]
    stopped_at: tuple[int | None, ...]
    engines: tuple[Engine, ...]
    options: Mapping[str, Any]
    environment: Mapping[str, str]
    problem: Problem
    state: KeptState

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Where each arm ended: "recovered" (near w*), "mirror" (towards −w*), "other", "diverged".

        Near w* is an error below ‖w*‖/2; towards −w* is a cosine with −w* above ½.
        """
        true = self.problem.true_weights
        if true is None:
            raise _check.InputError(NO_ERRORS)
        return tuple(map(partial(_outcome, true), self.weights, self.final_errors, self.status))

    @property
    def final_errors(self) -> Array:
        """‖w − w*‖ at the end, shape (arms,); +inf for arms that diverged."""
        return self.errors[:, -1]

    def __len__(self) -> int:
        return len(self.arms)

    def __iter__(self) -> Iterator[ArmTrajectory]:
        return (self[i] for i in range(len(self)))

    def __contains__(self, name: object) -> bool:
        return name in [arm.name for arm in self.arms]

    def __getitem__(self, arm: str | int) -> ArmTrajectory:
        """Return what one arm recorded, by its name or its place in the list."""
        i = self._place(arm)
        return ArmTrajectory(
            arm=self.arms[i],
            steps=self.steps,
            _errors=None if self._errors is None else self._errors[i],
            losses=self.losses[i],
            weights=self.weights[i],
            status=self.status[i],
            stopped_at=self.stopped_at[i],
            engine=self.engines[i],
        )

    def _place(self, arm: str | int) -> int:
        names = [each.name for each in self.arms]
        if isinstance(arm, str):
            if arm not in names:
                raise _check.unknown("arm", arm, names)
            return names.index(arm)
        return _check.integer("arm", arm, -len(names), len(names) - 1)

    def __repr__(self) -> str:
        shown = [[f"  {arm.name}", arm.ending + _engine_note(arm.engine)] for arm in self]
        left = len(shown) - MOST_SHOWN
        more = f"\n  … and {left} more" if left > 0 else ""
        return f"Trajectories: {self._head}\n{table(shown[:MOST_SHOWN])}{more}"

    def _repr_html_(self) -> str:
        rows = [[arm.name, arm.ending + _engine_note(arm.engine)] for arm in self]
        left = len(rows) - MOST_SHOWN
        return card(
            "Trajectories",
            {"run": self._head, "problem": repr(self.problem)},
            columns=("arm", "ended with"),
            rows=rows[:MOST_SHOWN],
            note=f"… and {left} more arms" if left > 0 else "",
        )

    @property
    def _head(self) -> str:
        return f"{counted(len(self), 'arm')}, {self.steps[-1]:,} steps, {len(self.steps)} recorded"

    def summary(self) -> Summary:
        """Return one row per arm: where it ended, and how much of the initial error is left."""
        name, values = ("error", self.errors) if self.has_errors else ("loss", self.losses)
        rows = Summary()
        for arm, recorded in zip(self, values, strict=True):
            first, last = float(recorded[0]), float(recorded[-1])
            attack = arm.arm.attack
            rows.append(
                {
                    "arm": arm.name,
                    f"final_{name}": last,
                    f"{name}_ratio": last / first if first > 0.0 else math.nan,
                    "status": arm.status,
                    "attack": "none" if attack is None else repr(attack),
                    "trainer": repr(arm.arm.trainer),
                }
            )
        return rows

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
        from neurotron.lab.figures import plot

        return plot(self, path)


def _engine_note(engine: Engine) -> str:
    return f" (on the slow NumPy engine: {engine.reason})" if engine.name == "numpy" else ""


def _outcome(true: Array, weights: Array, error: float, status: str) -> str:
    """Return where a run ended; zero weights have no direction."""
    length = float(np.linalg.norm(true))
    along = -float(weights @ true)
    if status == "diverged":
        return "diverged"
    if error < RECOVERED * length:
        return "recovered"
    return "mirror" if along > MIRROR * length * float(np.linalg.norm(weights)) else "other"
