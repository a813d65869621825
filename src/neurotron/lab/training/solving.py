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
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem
from neurotron.trainers import Arm, Trainer
from neurotron.trajectories import Trajectories

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
        problem.data.require_seen(SOLVE)


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

    An arm stays at the initial weights, where attacks see it, until it has received its rows, over
    which its losses are. It may not need all `steps` batches, but the run ends after them, so that
    the rows that follow are the same as for trained arms. If `solve` cannot find a filter, the arm
    counts as diverged.
    """
    from neurotron.guarantees.verify.next_rows import next_rows
    from neurotron.simulation import simulate

    begun = simulate(problem, arms, steps=0, batch_size=batch_size, seed=seed, replicate=replicate)
    schedule = recorded_steps(record, steps)
    weights, errors, losses, stopped = [], [], [], []
    received = next_rows(begun, max(map(_rows_of, arms)))
    for arm, seen in zip(arms, received, strict=True):
        rows = _rows_of(arm)
        X, y = seen.X[:rows], seen.y[:rows]
        found = _filter_in(problem.network, X, y)
        waits = schedule * batch_size < rows
        before, after = (
            (_distance(problem, w), _loss(problem.network, w, X, y)) for w in (seen.weights, found)
        )
        errors.append(np.where(waits, before[0], after[0]))
        losses.append(np.where(waits, before[1], after[1]))
        weights.append(seen.weights if found is None else found)
        stopped.append(None if found is not None else -(-rows // batch_size))
        if progress is not None:
            progress()
    columns = _check.freeze(np.array(weights).T.copy())
    state = dataclasses.replace(begun.state, step=steps, weights=columns, average=columns)
    return dataclasses.replace(
        begun, steps=schedule, _errors=np.array(errors), losses=np.array(losses),
        weights=np.array(weights), state=state, stopped_at=tuple(stopped),
        status=tuple("finished" if step is None else "diverged" for step in stopped),
    )  # fmt: skip


def _filter_in(network: FilterNetwork, X: Array, y: Array) -> Array | None:
    """Return the filter that `solve` finds, None if it finds none in such rows."""
    from neurotron.solvers.solver import solve

    try:
        with no_warnings():  # few rows may say too little, as is measured
            return solve(network, X, y, prove=False).weights
    except (_check.InputError, np.linalg.LinAlgError):
        return None


def _rows_of(arm: Arm) -> int:
    assert isinstance(arm.trainer, Solver)
    return arm.trainer.rows


def _distance(problem: Problem, weights: Array | None) -> float:
    assert problem.true_weights is not None
    return np.inf if weights is None else float(np.linalg.norm(weights - problem.true_weights))


def _loss(network: FilterNetwork, weights: Array | None, X: Array, y: Array) -> float:
    """Return the mean squared residual, infinite if it is too large for a number."""
    if weights is None:
        return np.inf
    with np.errstate(over="ignore", invalid="ignore"):
        loss = float(np.mean((network(weights, X) - y) ** 2))
    return loss if loss >= 0.0 else np.inf
