"""Arms of a study that are solved instead of trained: `solve` on rows of the stream."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from neurotron import _check
from neurotron._registry import construct, parse
from neurotron._threads import no_warnings
from neurotron._types import Array
from neurotron.engine.recording import Record, recorded_steps
from neurotron.problem import Problem
from neurotron.trainers import Arm, Trainer
from neurotron.trajectories import Trajectories

__all__ = ["SOLVE", "Solver", "solved", "solver_of"]

SOLVE = "solve"
"""What a study calls it, where other arms name a trainer."""


@dataclass(frozen=True, eq=False, repr=False)
class Solver(Trainer):
    """`solve` in place of a trainer: it waits for N rows, and then finds the filter in them.

    Parameters
    ----------
    rows
        The number N of rows.
    """

    step_size: float | str = field(default=1.0, init=False)  # it takes no steps
    averaging: bool = field(default=False, init=False)
    rows: int = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _check.integer("rows", self.rows, 1)

    @property
    def shown_parameters(self) -> dict[str, object]:
        """The number of rows."""
        return {"rows": self.rows}

    def require_rows(self, problem: Problem, batch_size: int, steps: int) -> None:
        """Refuse too few rows, more rows than the other arms are trained on, and corrupted rows."""
        size, most = problem.network.filter_size, steps * batch_size
        if not size < self.rows <= most:
            raise _check.InputError(
                f"{SOLVE}:rows={self.rows:,} must have more rows than the filter has weights, "
                f"{size:,}, and at most as many as {steps:,} steps with batches of {batch_size:,} "
                f"have, {most:,}"
            )
        if problem.law.corrupted:
            raise _check.InputError(
                f"{SOLVE} needs inputs as their labels saw them, and {problem.law!r} corrupts "
                "them: take it out of the trainers of this setting"
            )


def solver_of(text: str) -> Solver | None:
    """Return the solver that `text` describes, None if it describes a trainer.

    >>> solver_of("solve:rows=500"), solver_of("sgd")
    (Solver(rows=500), None)
    """
    name, given = parse(text)
    return construct("solver", name, Solver, given) if name == SOLVE else None


def solved(
    problem: Problem,
    arms: list[Arm],
    *,
    steps: int,
    batch_size: int,
    seed: int,
    replicate: int,
    record: Record,
    progress: Callable[[], None] | None = None,
) -> Trajectories:
    """Solve every arm on its own rows of the stream, and return what happened like `simulate`.

    An arm stays at the initial weights until it has received its rows. Attacks see it there. Its
    losses are over these rows.
    """
    from neurotron.guarantees.verify.next_rows import next_rows
    from neurotron.simulation import simulate
    from neurotron.solvers.solver import solve

    begun = simulate(problem, arms, steps=0, batch_size=batch_size, seed=seed, replicate=replicate)
    schedule = recorded_steps(record, steps)
    waits = [-(-_rows_of(arm) // batch_size) for arm in arms]
    weights, errors, losses = [], [], []
    for arm, wait, seen in zip(
        arms, waits, next_rows(begun, max(map(_rows_of, arms))), strict=True
    ):
        X, y = seen.X[: _rows_of(arm)], seen.y[: _rows_of(arm)]
        with no_warnings():  # few rows may say too little, as is measured
            found = solve(problem.network, X, y).weights
        both = (seen.weights, found)
        errors.append(np.where(schedule < wait, *(_distance(problem, w) for w in both)))
        losses.append(
            np.where(schedule < wait, *(np.mean((problem.network(w, X) - y) ** 2) for w in both))
        )
        weights.append(found)
        if progress is not None:
            progress()
    columns = _check.freeze(np.array(weights).T.copy())
    state = dataclasses.replace(
        begun.state, step=max(waits), weights=columns, average=columns
    )  # whose next rows nobody has seen
    return dataclasses.replace(
        begun, steps=schedule, _errors=np.array(errors), losses=np.array(losses),
        weights=np.array(weights), state=state,
    )  # fmt: skip


def _rows_of(arm: Arm) -> int:
    assert isinstance(arm.trainer, Solver)
    return arm.trainer.rows


def _distance(problem: Problem, weights: Array) -> float:
    assert problem.true_weights is not None
    return float(np.linalg.norm(weights - problem.true_weights))
