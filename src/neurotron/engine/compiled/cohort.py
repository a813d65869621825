"""A cohort on the compiled engine, which does the same as `NumpyCohort`, but much faster."""

from __future__ import annotations

import numpy as np

from neurotron._types import Array, Index
from neurotron.data.base import draw_batch, draw_inputs
from neurotron.engine.compiled import formulas, layout
from neurotron.engine.compiled.lanes import LANES
from neurotron.engine.compiled.step import Step
from neurotron.engine.recording import Records
from neurotron.engine.state import Setup
from neurotron.laws import Correlated
from neurotron.networks import FilterNetwork
from neurotron.networks.activations import BUILT_IN
from neurotron.problem import Problem
from neurotron.trainers import Arm


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
    activation = problem.network.activation
    if activation is not None and activation not in BUILT_IN.values():
        return f"the activation {activation.name} is not built in"
    return ""


class CompiledCohort:
    """Arms that learn from one stream of batches."""

    def __init__(self, setup: Setup) -> None:
        self.problem, arms, _, self.stream, self.state = setup
        self.batches = layout.batches_of(setup)
        projections, sensing = layout.projections_of(setup)
        self.arm_blocks, lanes = layout.arm_blocks_of(setup, sensing)
        self.scratch = layout.scratch_of(setup, self.batches, projections, self.arm_blocks)
        self.external = layout.external_of(self.batches, self.scratch)
        self.program = Step(
            network=setup.problem.network,
            batches=self.batches,
            external=self.external,
            projections=projections,
            arm_blocks=self.arm_blocks,
            scratch=self.scratch,
        ).program()
        self.places = np.empty(len(arms), dtype=np.intp)
        self.places[lanes] = np.arange(lanes.size).reshape(lanes.shape)

    def compile(self) -> None:
        """Compile now, or load from disk, so that the first step does not wait for it."""
        self._advance(self.state.step, self.state.step, np.arange(0))

    def advance(self, stop: int, due: Index) -> Records:
        """Train up to step `stop`; record the steps `due`, which may include `stop`."""
        records = []
        drawn_outside = self.batches.law is None
        while True:
            start = self.state.step
            end = min(stop, start + len(self.external.inputs) - 1) if drawn_outside else stop
            here = due[(due >= start) & ((due < end) | (due == stop) & (end == stop))]
            records.append(self._advance(start, end, here))
            if end == stop:
                return Records.joined(records)

    def _advance(self, start: int, stop: int, due: Index) -> Records:
        arm_blocks = self.arm_blocks
        records = np.empty((len(due), *self.scratch.shown.shape))
        self._draw_external(start, stop + (stop in due))
        self.program.run(start, stop, due, arm_blocks.stopped_at, records)
        self.state.step = stop
        self.state.weights[:] = self._filters(arm_blocks.weights)
        averaging = np.array([kind.averaging for kind in arm_blocks.kinds])
        shown = np.where(averaging[:, None], arm_blocks.average, arm_blocks.weights)
        self.state.average[:] = self._filters(shown)
        self.state.stopped_at[:] = arm_blocks.stopped_at.ravel()[self.places]
        rows = arm_blocks.memory[self.places // LANES, self.places % LANES]
        for arm, numbers in enumerate(self.state.memory):
            self.state.memory[arm] = tuple(rows[arm, : len(numbers)].tolist())
        known = self.problem.true_weights is not None
        errors, losses = self._by_arm(records[..., :LANES]), self._by_arm(records[..., LANES:])
        return Records(due, errors if known else None, losses)

    def _filters(self, blocks: Array) -> Array:
        """Return the filters of blocks (blocks, 8 r) by arm, (r, arms)."""
        lanes = blocks.reshape(len(blocks), -1, LANES).transpose(1, 0, 2)
        return lanes.reshape(len(self.state.weights), -1)[:, self.places]

    def _by_arm(self, records: Array) -> Array:
        return records.reshape(len(records), self.arm_blocks.stopped_at.size)[:, self.places]

    def _draw_external(self, start: int, stop: int) -> None:
        """Draw the parts of batches `start` … `stop` − 1 that the loop cannot draw itself."""
        if self.batches.law is not None:
            return
        self.external.first[0] = start
        for i, step in enumerate(range(start, stop)):
            if self.batches.labelled:
                self.external.inputs[i] = self._inputs(step)
            else:
                self._draw_batch(i, step)

    def _inputs(self, step: int) -> Array:
        law, (b, width) = self.problem.law, self.scratch.latent.shape
        base = law.base if type(law) is Correlated else law
        return draw_inputs(base, self.stream, step, b, width).ravel()

    def _draw_batch(self, i: int, step: int) -> None:
        b = len(self.scratch.latent)
        batch = draw_batch(self.problem.data, self.problem.network, self.stream, step, b)
        self.external.inputs[i], self.external.labels[i] = batch.inputs.ravel(), batch.labels
        self.external.counts[i] = 1.0 if batch.counts is None else batch.counts
