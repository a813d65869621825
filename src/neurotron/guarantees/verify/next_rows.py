"""The rows that come next in the stream of a run: they are fresh for its final weights.

Any batch of a stream can be drawn, also one that nobody has trained on. Given everything that led
to the final weights, the next rows are independent draws, and each arm's attack tampers with them
as it does during training. This is what `verify` needs to know how far an arm is from w*.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from neurotron import _check
from neurotron._streams import Stream
from neurotron._types import Array
from neurotron.attacks import BUILT_IN, Attack
from neurotron.data import Batch, Rows
from neurotron.engine.numpy_cohort import NumpyCohort
from neurotron.engine.state import Setup
from neurotron.guarantees.verify.case import Case, Inputs
from neurotron.guarantees.verify.fresh_rows import verify_cases
from neurotron.guarantees.verify.verification import Verification
from neurotron.problem import Problem
from neurotron.trajectories import Trajectories

WATCHED = 500
"""About how many of the next rows are shown to built-in attacks at a time."""


class NextRows(NamedTuple):
    """The next rows of an arm with the labels it would receive, and what its attacker may do."""

    arm: str
    weights: Array
    """The final weights of the arm, which do not depend on these rows; shape (r,)."""
    X: Array
    """Inputs, shape (N, n); all arms have the same ones."""
    y: Array
    """Labels as the arm's attack leaves them, shape (N,)."""
    probability: float
    """The probability β of the arm's own attack, 0 for honest labels."""
    attacker: Literal["any", "coin"]
    """"coin" if the attack hits every label with the same probability, else "any".

    If it is "any", the `probability` is the share of these rows whose labels were changed.
    """


def verify_run(
    run: Trajectories,
    rows: int,
    *,
    probability: float | None = None,
    attacker: str = "any",
    confidence: float = 0.999,
    noise: str | float = "independent",
    bound: float | None = None,
    also: Sequence[Trajectories] = (),
    progress: Callable[[], None] | None = None,
) -> dict[str, Verification]:
    """Return a verification of every arm of a run on the next rows of its stream, by its name.

    An arm that has diverged is verified at its last weights, which are those in `run.weights`.

    Parameters
    ----------
    run, rows
        The run, and the number N of rows.
    probability, attacker
        What an attacker may do, the same for all arms. If the `probability` is left out, both are
        those of each arm's own attack.
    confidence, noise, bound
        As in `verify`.
    also
        Other runs that ended at the same step of the same stream, whose arms count, too.
    progress
        A function that is called after each arm.
    """
    arms = {}
    received = next_rows(run, rows, also)
    inputs = Inputs.of(run.problem, received[0].X)
    for one in received:
        share, by = probability, attacker
        if share is None:
            share, by = one.probability, one.attacker
        case = Case.of(
            inputs, one.weights, one.y, probability=share, attacker=by,
            confidence=confidence, noise=noise, bound=bound,
        )  # fmt: skip
        if (
            probability is None and by == "any"
        ):  # their share is read off the labels, and it chooses
            case = dataclasses.replace(case, delta=case.delta / 2.0)  # one of two theorems
        arms[case] = one.arm
    found = {}
    for case, verified in verify_cases(arms):
        found[arms[case]] = verified
        if progress is not None:
            progress()
    return {arm: found[arm] for arm in arms.values()}


def next_rows(run: Trajectories, rows: int, also: Sequence[Trajectories] = ()) -> list[NextRows]:
    """Return the next rows of the stream, as each arm of a run would receive them.

    Nobody trains on them: every attack sees the arm as it was at the end of the run. The batch on
    which the last loss was measured is left out, because somebody may have chosen the run, or its
    end, by this loss.

    Parameters
    ----------
    run
        What `simulate` returned. It may be interrupted.
    rows
        The number N of rows, at least 1.
    also
        Other runs that ended at the same step of the same stream.
    """
    problem = _check.instance("run", run, Trajectories).problem
    rows = _check.count("rows", rows, 1)
    _require_fresh(problem)
    network, batch_size = problem.network, run.options["batch_size"]
    count = -(-rows // batch_size)
    _check.entries("the next rows", count * batch_size, network.n_inputs)
    arms = [
        (arm, weights)
        for one in (run, *also)
        for arm, weights in zip(one.arms, one.weights, strict=True)
    ]
    _check.entries("the labels of the next rows", count * batch_size, len(arms))
    X = np.empty((count * batch_size, network.n_inputs))
    honest, received = np.empty(len(X)), np.empty((len(arms), len(X)))
    cohorts = [_cohort(one) for one in (run, *also)]
    own = any(arm.attack is not None and type(arm.attack) not in BUILT_IN for arm, _ in arms)
    together = 1 if own else max(WATCHED // batch_size, 1)
    for i in range(0, count, together):
        step, more = run.state.step + 1 + i, min(together, count - i)
        batch = _joined([cohorts[0].draw(step + j) for j in range(more)])
        labels = np.hstack([cohort.watch(step, batch) for cohort in cohorts])
        here = slice(i * batch_size, (i + more) * batch_size)
        X[here], honest[here], received[:, here] = batch.inputs, batch.labels, labels.T
    changed = (received != honest)[:, :rows].mean(axis=1)
    return [
        NextRows(arm.name, weights, X[:rows], y[:rows], *_attacker(arm.attack, float(share)))
        for (arm, weights), y, share in zip(arms, received, changed, strict=True)
    ]


def _cohort(run: Trajectories) -> NumpyCohort:
    """Return the arms as they are at the end of a run, on the NumPy engine."""
    options, step = run.options, run.state.step
    arms = [
        arm.resolved(run.problem, options["batch_size"], options.get("steps", step))
        for arm in run.arms
    ]
    stream = Stream.of(options["seed"], options["replicate"])
    setup = Setup(run.problem, arms, options["batch_size"], stream, run.state.resumed())
    return NumpyCohort(setup.with_current_trainers())


def _attacker(attack: Attack | None, changed: float) -> tuple[float, Literal["any", "coin"]]:
    """Return the probability of an attack, and which attackers it is one of.

    Where the probability depends on the sample or on the step, all that is sure is how large a
    share of the rows was `changed`.
    """
    if attack is None:
        return 0.0, "coin"
    if type(attack).chance is Attack.chance:
        return attack.probability, "coin"
    return changed, "any"


REMEDY = "verify on rows of your own, with verify(problem, weights, X, y, …)"


def _require_fresh(problem: Problem) -> None:
    """Refuse a stream whose next rows are not independent draws from the law of the problem."""
    problem.data.require_seen("verification")
    if isinstance(problem.data, Rows) and not problem.data.replacement:
        raise _check.InputError(
            "the next rows of this stream are not fresh, because its batches visit the same table "
            "again and again: draw rows with Problem.from_rows(…, replacement=True), or "
            f"{REMEDY}"
        )


def _joined(batches: list[Batch]) -> Batch:
    """Return batches as one; refuse rows that do not all count the same.

    Such rows are not drawn from the law as they are.
    """
    inputs, labels, counts = zip(*batches, strict=True)
    if any(given is not None for given in counts):
        raise _check.InputError(
            "the next rows of this stream do not have the law of the problem, in which rows count "
            f"with their `sample_weight`: {REMEDY}"
        )
    return Batch(np.concatenate(inputs), np.concatenate(labels))
