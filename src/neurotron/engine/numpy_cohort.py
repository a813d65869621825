"""The cohort loop in NumPy: one stream, many arms, formulas called on (batch, arms) arrays.

One step: draw the batch → project it once → respond (outputs, gradient coefficients) → attack the
labels → weight the residuals → update. This engine runs users' own attacks and trainers, and it is
the reference for tests of the compiled engine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neurotron import _check
from neurotron._streams import Purpose
from neurotron._types import Array, Index
from neurotron.attacks import Attack, Query
from neurotron.attacks.query import QueryBuilder, position_signs, visible
from neurotron.data.base import Batch, draw_batch
from neurotron.engine.grouping import columns_where, groups, sensing_groups
from neurotron.engine.recording import Records
from neurotron.engine.state import (
    CohortState,
    Setup,
    divergence_limit,
    inverse_square,
    newest_share,
)
from neurotron.trainers import Trainer


class Seen(NamedTuple):
    """One or more batches in a row, as the arms see them before labels are attacked."""

    step: int
    """The number of the first batch."""
    batch: Batch
    sensed: list[Array]
    """The inputs times each sensing matrix, each (b, r)."""
    projected: Array
    """The inputs projected onto the network's basis, (b, L, r)."""
    output: Array
    """f_w(x), (b, arms)."""
    coefficients: Array
    """The c with ∇f_w(x) = Σ_l c_l B_l x, (b, L, arms)."""


class NumpyCohort:
    """Arms that learn from one stream of batches."""

    def __init__(self, setup: Setup) -> None:
        self.problem, self.arms, self.batch_size, self.stream, self.state = setup
        self.limit = divergence_limit(self.problem)
        trainers = [arm.trainer for arm in self.arms]
        attacks = [arm.attack for arm in self.arms]
        self.step_size = np.array([float(trainer.step_size) for trainer in trainers])
        self.bound = np.array([0.0 if attack is None else attack.bound for attack in attacks])
        self.probability = np.array([0.0 if a is None else a.probability for a in attacks])
        self.queries = QueryBuilder(attacks, self.problem.network)
        self.by_attack = groups(attacks)
        self.by_trainer = groups(trainers)
        self.by_sensing = sensing_groups(trainers)
        self.by_gradient = columns_where(trainers, lambda t: t.direction != "sensing")
        self.by_first = columns_where(trainers, lambda t: t.direction == "first_gradient")
        self.averaging = np.array([trainer.averaging for trainer in trainers])
        self.since = np.array([stage.since for stage in self.state.stages])
        self.by_weighting = columns_where(trainers, lambda t: t.weighting is not None)

    def compile(self) -> None:
        """Compile now, so that the first step does not wait for it; only streams are compiled."""
        self.stream.pairs(Purpose.ATTACK, self.state.step, 0)

    def advance(self, stop: int, due: Index) -> Records:
        """Train up to step `stop`; record the steps `due`, which may include `stop`."""
        recorded, true_weights = set(due.tolist()), self.problem.true_weights
        errors, losses = [], []
        with np.errstate(all="ignore"):  # an arm that overflows is found by `_keep_finite`
            while self.state.step < stop or self.state.step in recorded:
                seen = self._project(self.state.step, self.draw(self.state.step))
                residual = self._received(seen) - seen.output
                if self.state.step in recorded:
                    loss = self._average(residual**2, seen.batch)
                    losses.append(self.state.or_infinite(loss))
                    if true_weights is not None:
                        errors.append(self.state.errors(true_weights))
                if self.state.step == stop:
                    break
                self._update(seen, residual)
                self.state.step += 1
        shape = (len(due), len(self.arms))
        kept = None if true_weights is None else np.reshape(errors, shape)
        return Records(due, kept, np.reshape(losses, shape))

    def draw(self, step: int) -> Batch:
        """Return batch number `step`."""
        problem = self.problem
        with np.errstate(all="ignore"):  # inputs of heavy tails may overflow
            return draw_batch(problem.data, problem.network, self.stream, step, self.batch_size)

    def watch(self, step: int, batch: Batch) -> Array:
        """Return the labels that each arm receives in batch number `step`, (b, arms).

        Nobody learns from it: attacks see the arms as they are now. Built-in attacks look at one
        sample at a time, and may be shown several batches that follow each other as one.
        """
        with np.errstate(all="ignore"):
            return self._received(self._project(step, batch))

    def _project(self, step: int, batch: Batch) -> Seen:
        network = self.problem.network
        projected = network.project(batch.inputs)
        responses = projected @ self.state.weights
        output, coefficients = network.respond(responses)
        sensed = [batch.inputs @ matrix.T for matrix, _ in self.by_sensing]
        return Seen(step, batch, sensed, projected, output, coefficients)

    # ---- received labels -----------------------------------------------------------------------

    def _received(self, seen: Seen) -> Array:
        """Return the labels that each arm receives, (b, arms)."""
        labels = np.repeat(seen.batch.labels[:, None], len(self.arms), axis=1)
        numbers = range(seen.step, seen.step + len(labels) // self.batch_size)
        pairs = [self.stream.pairs(Purpose.ATTACK, step, self.batch_size) for step in numbers]
        coin, uniform = np.concatenate(pairs, axis=1)
        if not self.by_attack:
            return labels
        query = self._query(seen, uniform)
        tame = np.abs(seen.batch.inputs).max(axis=1, keepdims=True) < 1e100
        for attack, columns in self.by_attack:
            part = visible(query, attack, columns)
            hit = coin[:, None] <= self._chance(attack, columns, part, seen)
            distortion = self._distortion(attack, columns, part, seen, tame)
            labels[:, columns] += np.where(hit, distortion, 0.0)
        return labels

    def _chance(self, attack: Attack, columns: Index, query: Query, seen: Seen) -> Array:
        """Return β, (b, columns), after checking that it is in [0, probability]."""
        shape = (len(seen.output), len(columns))
        probability = self.probability[None, columns]
        chance = answer(attack, "chance", attack.chance(probability, query), shape)
        if not ((chance >= 0.0) & (chance <= probability * (1.0 + 1e-12))).all():
            raise _check.InputError(
                f"`chance` of {attack!r} must return probabilities in [0, probability], which it "
                f"did not at step {seen.step}"
            )
        return chance

    def _distortion(
        self, attack: Attack, columns: Index, query: Query, seen: Seen, tame: npt.NDArray[np.bool_]
    ) -> Array:
        """Return ξ, (b, columns), after checking that |ξ| ≤ θ.

        It is not checked for inputs that are not `tame`, which are so large that numbers overflow.
        """
        bound = self.bound[None, columns]
        shape = (len(seen.output), len(columns))
        distortion = answer(attack, "distort", attack.distort(bound, query), shape)
        excess = tame & ~(np.abs(distortion) <= bound * (1.0 + 1e-12))
        if excess.any():
            worst = float(distortion[excess][0])
            raise _check.InputError(
                f"`distort` of {attack!r} must return changes within its bound, but returned "
                f"{worst:g} at step {seen.step}"
            )
        return distortion

    def _query(self, seen: Seen, uniform: Array) -> Query:
        """Return what the attacks see; probes use the projections that were already computed."""
        size, count = self.batch_size, len(uniform) // self.batch_size
        steps = np.arange(seen.step, seen.step + count, dtype=np.float64)
        return self.queries.build(
            seen.batch.inputs,
            label=seen.batch.labels[:, None],
            output=seen.output,
            uniform=uniform[:, None],
            push=lambda: self._push(seen),
            probe=lambda: self._probe(seen),
            probe_output=lambda: self._probe_output(seen),
            sign=lambda: np.tile(position_signs(size), count)[:, None],
            step=(steps if count == 1 else np.repeat(steps, size))[:, None],
        )

    def _push(self, seen: Seen) -> Array:
        """Return (w − w*)ᵀ(update direction of each sample), (b, arms)."""
        assert self.problem.true_weights is not None
        push = np.empty_like(seen.output)
        away = self.state.weights - self.problem.true_weights[:, None]
        for (_, columns), sensed in zip(self.by_sensing, seen.sensed, strict=True):
            push[:, columns] = sensed @ away[:, columns]
        columns = self.by_gradient
        along = seen.projected @ away[:, columns]
        push[:, columns] = (seen.coefficients[:, :, columns] * along).sum(axis=1)
        first = np.arange(len(push)) // self.batch_size * self.batch_size
        push[:, self.by_first] = push[first][:, self.by_first]
        return push

    def _probe(self, seen: Seen) -> Array:
        """Return uᵀMx for each attack's vector u and trainer's matrix M, (b, arms)."""
        probe, vectors = np.empty_like(seen.output), self.queries.vectors
        for (_, columns), sensed in zip(self.by_sensing, seen.sensed, strict=True):
            probe[:, columns] = sensed @ vectors[:, columns]
        columns = self.by_gradient
        mean_gate = self.problem.network.basis_share @ seen.projected
        probe[:, columns] = mean_gate @ vectors[:, columns]
        return probe

    def _probe_output(self, seen: Seen) -> Array:
        """Return f_u(x) for each attack's vector u, (b, arms)."""
        output, _ = self.problem.network.respond(seen.projected @ self.queries.vectors)
        return output

    # ---- weights ---------------------------------------------------------------------------------

    def _update(self, seen: Seen, residual: Array) -> None:
        weight = np.empty_like(residual)
        for trainer, columns in self.by_trainer:
            memory = _memory(self.state, columns)
            part = residual[:, columns]
            influence = trainer.influence(part, memory)
            weight[:, columns] = answer(trainer, "influence", influence, part.shape)
            if trainer.adapts:
                self._adapt(trainer, columns, seen, part)
        if seen.batch.counts is not None:
            weight *= seen.batch.counts[:, None]
        if self.by_weighting.size:
            weight[:, self.by_weighting] *= _omega(seen.batch)
        weight *= self.step_size / self.batch_size
        self._keep_finite(self.state.weights + self._move(seen, weight))

    def _adapt(self, trainer: Trainer, columns: Index, seen: Seen, residual: Array) -> None:
        """Update the state of a trainer from what it observes in the batch."""
        memory = _memory(self.state, columns)
        mean: tuple[Array, ...] = ()
        if trainer.observe is not Trainer.observe:
            mean = self._observed(trainer, columns, seen, residual, memory)
        after = trainer.adapt(memory, mean, seen.step)
        if len(after) != len(memory):
            raise _check.InputError(
                f"adapt of {trainer!r} must return {len(memory)} numbers like initial_state, got "
                f"{len(after)}"
            )
        row = (len(columns),)
        new = (answer(trainer, "adapt", value, row) for value in after)
        for column, *values_of_arm in zip(columns, *new, strict=True):
            if self.state.stopped_at[column] < 0:
                self.state.memory[column] = tuple(map(float, values_of_arm))

    def _observed(
        self,
        trainer: Trainer,
        columns: Index,
        seen: Seen,
        residual: Array,
        memory: tuple[Array, ...],
    ) -> tuple[Array, ...]:
        """Return what a trainer observes, averaged over the batch; each number is (columns,)."""
        observed = trainer.observe(residual, self._squared_length(seen, columns), memory)
        values = (answer(trainer, "observe", value, residual.shape) for value in observed)
        if not np.isin(columns, self.by_weighting).any():
            return tuple(self._average(value, seen.batch) for value in values)
        omega = np.where(np.isin(columns, self.by_weighting), _omega(seen.batch), 1.0)
        return tuple(self._average(value * omega, seen.batch) for value in values)

    def _move(self, seen: Seen, weight: Array) -> Array:
        """Return Σ_i weight_i · direction_i, (r, arms)."""
        move = np.empty((self.problem.network.filter_size, len(self.arms)))
        for (_, columns), sensed in zip(self.by_sensing, seen.sensed, strict=True):
            move[:, columns] = sensed.T @ weight[:, columns]
        if self.by_first.size:
            total = weight[:, self.by_first].sum(axis=0)
            weight[:, self.by_first] = 0.0
            weight[0, self.by_first] = total
        columns = self.by_gradient
        weighted = seen.coefficients[:, :, columns] * weight[:, None, columns]
        directions = seen.projected.reshape(-1, len(move))
        move[:, columns] = directions.T @ weighted.reshape(len(directions), len(columns))
        return move

    def _squared_length(self, seen: Seen, columns: Index) -> Array:
        """Return ‖direction‖² of each sample, (b, columns)."""
        length = np.empty_like(seen.output)
        for (_, sensing), sensed in zip(self.by_sensing, seen.sensed, strict=True):
            length[:, sensing] = (sensed**2).sum(axis=1)[:, None]
        gradient = np.intersect1d(self.by_gradient, columns)
        vectors = np.einsum("bla,blr->bar", seen.coefficients[:, :, gradient], seen.projected)
        length[:, gradient] = (vectors**2).sum(axis=2)
        length[:, self.by_first] = length[:1, self.by_first]
        return length[:, columns]

    def _keep_finite(self, moved: Array) -> None:
        """Set the new weights of every running arm, and stop the arms that diverge."""
        state = self.state
        fine = np.abs(moved).max(axis=0) <= self.limit
        running = state.running
        state.weights = np.where(running & fine, moved, state.weights)
        state.stopped_at[running & ~fine] = state.step + 1
        share = newest_share(state.step + 1.0 - self.since)
        averaged = state.average + share * (state.weights - state.average)
        shown = np.where(self.averaging, averaged, state.weights)
        state.average = np.where(state.running, shown, state.average)

    def _average(self, values: Array, batch: Batch) -> Array:
        if batch.counts is not None:
            values = values * batch.counts[:, None]
        return np.asarray(values.mean(axis=0))


def answer(owner: Attack | Trainer, formula: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Return the value of a formula, a number or an array with all axes, as an array of `shape`."""
    try:
        numbers = np.asarray(value, np.float64)
        if value is not None and numbers.ndim in (0, len(shape)):
            return np.broadcast_to(numbers, shape)
    except (TypeError, ValueError):
        pass
    raise _check.InputError(
        f"{formula} of {owner!r} must return a number or numbers of shape {shape}, got "
        f"{type(value).__name__} of shape {np.shape(value)}"
    )


def _omega(batch: Batch) -> Array:
    """Return ω(x) of each sample, (b, 1)."""
    return np.asarray(inverse_square((batch.inputs**2).sum(axis=1, keepdims=True)))


def _memory(state: CohortState, columns: Index) -> tuple[Array, ...]:
    """Return the states of the trainers of some arms, each number as an array (columns,)."""
    states = [state.memory[column] for column in columns]
    return tuple(np.array(values) for values in zip(*states, strict=True))
