"""A cohort on the compiled engine, which does the same as `NumpyCohort`, but much faster."""

from __future__ import annotations

import numpy as np

from neurotron._types import Array, Index
from neurotron.data.base import draw_batch, draw_inputs
from neurotron.engine.compiled import formulas, layout
from neurotron.engine.compiled.arrays import EXTERNAL, ExternalBatches
from neurotron.engine.compiled.lanes import LANES
from neurotron.engine.compiled.step import advance
from neurotron.engine.recording import Records
from neurotron.engine.setup import Setup
from neurotron.laws import Correlated
from neurotron.networks import FilterNetwork
from neurotron.problem import Problem
from neurotron.trainers import Arm

__all__ = ["CompiledCohort", "obstacle"]

EXTERNAL_NUMBERS = 2**20
"""About how many input numbers are passed to the loop at once."""


def obstacle(problem: Problem, arm: Arm) -> str:
    """Return why an arm cannot run compiled, "" if it can: all its parts must be built in."""
    parts: dict[str, tuple[object, tuple[type, ...]]] = {
        "network": (problem.network, (FilterNetwork,)),
        "attack": (arm.attack, (*formulas.ATTACKS, type(None))),
    }
    candidates = [*parts.items()]
    candidates += [("trainer", (part, (*formulas.TRAINERS,))) for part in arm.trainer.parts]
    for name, (part, known) in candidates:
        if type(part) not in known:
            return f"the {name} {type(part).__name__} is not built in"
    return ""


class CompiledCohort:
    """Arms that learn from one stream of batches."""

    def __init__(self, setup: Setup) -> None:
        self.problem, arms, _, self.stream, self.state = setup
        self.batches = layout.batches_of(setup)
        self.projections, sensing = layout.projections_of(setup)
        self.arm_blocks, lanes = layout.arm_blocks_of(setup, sensing)
        self.scratch = layout.scratch_of(setup, self.batches, self.projections, self.arm_blocks)
        self.places = np.empty(len(arms), dtype=np.intp)
        self.places[lanes] = np.arange(lanes.size).reshape(lanes.shape)
        self.external_steps = max(1, EXTERNAL_NUMBERS // self.scratch.latent.size)

    def compile(self) -> None:
        """Compile now, or load from disk, so that the first step does not wait for it."""
        self._advance(self.state.step, self.state.step, np.arange(0))

    def advance(self, stop: int, due: Index) -> Records:
        """Train up to step `stop`; record the steps `due`, which may include `stop`."""
        records = []
        while True:
            start = self.state.step
            end = stop if self.batches.law != EXTERNAL else min(stop, start + self.external_steps)
            here = due[(due >= start) & ((due < end) | (due == stop) & (end == stop))]
            records.append(self._advance(start, end, here))
            if end == stop:
                return Records.joined(records)

    def _advance(self, start: int, stop: int, due: Index) -> Records:
        shape = (len(due), *self.arm_blocks.stopped_at.shape)
        errors, losses = np.empty(shape), np.empty(shape)
        external = self._external_batches(start, stop + (stop in due))
        advance(
            start, stop, due, self.batches, external, self.projections, self.arm_blocks,
            self.scratch, errors, losses,
        )  # fmt: skip
        self.state.step = stop
        arm_blocks = self.arm_blocks
        self.state.weights[:] = self._filters(arm_blocks.weights)
        shown = np.where(arm_blocks.averaging[:, None] > 0, arm_blocks.average, arm_blocks.weights)
        self.state.average[:] = self._filters(shown)
        self.state.stopped_at[:] = self.arm_blocks.stopped_at.ravel()[self.places]
        rows = self.arm_blocks.memory[self.places // LANES, self.places % LANES]
        for arm, numbers in enumerate(self.state.memory):
            self.state.memory[arm] = tuple(rows[arm, : len(numbers)].tolist())
        known = self.problem.true_weights is not None
        return Records(due, self._by_arm(errors) if known else None, self._by_arm(losses))

    def _filters(self, blocks: Array) -> Array:
        """Return the filters of blocks (blocks, 8 r) by arm, (r, arms)."""
        lanes = blocks.reshape(len(blocks), -1, LANES).transpose(1, 0, 2)
        return lanes.reshape(len(self.state.weights), -1)[:, self.places]

    def _by_arm(self, records: Array) -> Array:
        return records.reshape(len(records), self.arm_blocks.stopped_at.size)[:, self.places]

    def _external_batches(self, start: int, stop: int) -> ExternalBatches:
        """Return the parts of batches `start` … `stop` − 1 that the loop cannot draw itself."""
        b, width = self.scratch.latent.shape
        wanted = range(start, stop) if self.batches.law == EXTERNAL else range(0)
        inputs = np.empty((len(wanted), b * width))
        if layout.draws_itself(self.problem.data):
            law = self.problem.law
            base = law.base if type(law) is Correlated else law
            for i, step in enumerate(wanted):
                inputs[i] = draw_inputs(base, self.stream, step, b, width).ravel()
            return ExternalBatches(start, inputs, np.empty((0, b)), np.empty((0, b)))
        labels, counts = np.empty((len(wanted), b)), np.ones((len(wanted), b))
        for i, step in enumerate(wanted):
            batch = draw_batch(self.problem.data, self.problem.network, self.stream, step, b)
            inputs[i], labels[i] = batch.inputs.ravel(), batch.labels
            if batch.counts is not None:
                counts[i] = batch.counts
        return ExternalBatches(start, inputs, labels, counts)
