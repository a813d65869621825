"""A step of training as a `Program`: one batch for all arms, eight arms at a time.

One step: draw the batch → project it onto all matrices at once → respond (outputs, gradient
coefficients) → attack the labels → weight the residuals → update. "Flat" arrays hold one number for
each sample and lane, with eight lanes per sample, so that a formula is one loop over them.

The functions of this module run once, before training. They yield the calls that every step makes,
so a condition here costs nothing in a step, and what does not apply is not compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neurotron._streams import Purpose
from neurotron._types import Array
from neurotron.attacks import Query
from neurotron.engine.compiled import loops
from neurotron.engine.compiled.arrays import (
    ArmBlocks,
    Batches,
    ExternalBatches,
    Projections,
    Scratch,
)
from neurotron.engine.compiled.formulas import attack_loop, law_loop
from neurotron.engine.compiled.lanes import LANES
from neurotron.engine.compiled.products import add_transposed_product, product
from neurotron.engine.compiled.program import Call, Program
from neurotron.engine.compiled.respond import respond
from neurotron.engine.compiled.rules import adapt_loop, weigh_loop
from neurotron.laws import Normal
from neurotron.networks import FilterNetwork

LABEL, OUTPUT, UNIFORM, PUSH, PROBE, PROBE_OUTPUT, NORM, STEP, PARAMETER = map(
    Query._fields.index,
    ("label", "output", "uniform", "push", "probe", "probe_output", "norm", "step", "parameter"),
)
INPUTS, ATTACK, NOISE = (
    np.uint64(purpose) for purpose in (Purpose.INPUTS, Purpose.ATTACK, Purpose.NOISE)
)


@dataclass(frozen=True)
class Step:
    """Writes the program of a step that works on these arrays."""

    network: FilterNetwork
    batches: Batches
    external: ExternalBatches
    projections: Projections
    arm_blocks: ArmBlocks
    scratch: Scratch

    def program(self) -> Program:
        """Return the calls that a step makes."""
        return Program(
            [*self._draw(), *self._project(), *self._label(), *self._toss()],
            [
                ([*self._residuals(block)], [*self._record(block)], [*self._update(block)])
                for block in range(len(self.arm_blocks.kinds))
            ],
            self.scratch.clock,
            self.scratch.shown,
        )

    # ---- the batch -------------------------------------------------------------------------------

    def _draw(self) -> Iterator[Call]:
        """Draw the inputs."""
        batches, scratch, clock = self.batches, self.scratch, self.scratch.clock
        if batches.law is None:
            yield loops.take_row, self.external.inputs, self.external.first, clock, scratch.drawn
        else:
            u, v = scratch.u, scratch.v
            yield loops.fill_uniforms, batches.key, INPUTS, clock, u, v
            yield law_loop(batches.law), u, v, batches.scale, batches.shape, scratch.drawn

    def _project(self) -> Iterator[Call]:
        """Multiply the inputs by all matrices."""
        batches, projections, scratch = self.batches, self.projections, self.scratch
        for block, matrix in enumerate(batches.correlation):
            out, width = scratch.flat_inputs, scratch.inputs.shape[1]
            yield product, scratch.latent, batches.latent, matrix, out, width, block * LANES
        for block, matrix in enumerate(projections.matrix):
            out, width = scratch.flat_seen, scratch.seen.shape[1]
            yield product, scratch.inputs, projections.inputs, matrix, out, width, block * LANES

    def _label(self) -> Iterator[Call]:
        """Set the labels before the attack, and how much each sample counts."""
        external, scratch, clock = self.external, self.scratch, self.scratch.clock
        for filters, output in zip(
            self.arm_blocks.references, scratch.reference_output, strict=True
        ):
            yield from self._respond(filters, False, output)
        label = scratch.queries[LABEL]
        if self.batches.labelled:
            yield loops.spread, scratch.reference_output[0], LANES, label
        else:
            yield loops.take_row, external.labels, external.first, clock, scratch.coin
            yield loops.spread, scratch.coin, 1, label
            yield loops.take_row, external.counts, external.first, clock, scratch.coin
            yield loops.spread, scratch.coin, 1, scratch.counts[0]
        if self.batches.noise > 0.0:
            pairs = scratch.noise.size // 2
            u, v = scratch.u[:pairs], scratch.v[:pairs]
            yield loops.fill_uniforms, self.batches.key, NOISE, clock, u, v
            yield law_loop(Normal.formula), u, v, self.batches.noise, 0.0, scratch.noise
            yield loops.add_each, scratch.noise, label
        if len(scratch.counts) > 1:
            size, (counts, weighted) = self.projections.inputs.size, scratch.counts
            yield loops.times_inverse_square, scratch.inputs, size, counts, weighted

    def _toss(self) -> Iterator[Call]:
        """Draw the coins that decide which labels are attacked."""
        scratch, clock = self.scratch, self.scratch.clock
        yield loops.fill_uniforms, self.batches.key, ATTACK, clock, scratch.coin, scratch.chosen
        yield loops.spread, scratch.coin, 1, scratch.flat_coin
        if self._any_attack_uses("uniform"):
            yield loops.spread, scratch.chosen, 1, scratch.queries[UNIFORM]
        if self._any_attack_uses("step"):
            yield loops.fill_with_step, clock, scratch.queries[STEP]
        if self._any_attack_uses("norm"):
            size = self.projections.inputs.size
            yield loops.norms, scratch.inputs, size, scratch.queries[NORM]

    def _any_attack_uses(self, field: str) -> bool:
        return any(field in kind.attack.query_fields for kind in self.arm_blocks.kinds)

    def _respond(self, weights: Array, slopes: bool, output: Array) -> Iterator[Call]:
        """Set the outputs of eight filters, and with `slopes` their gradient coefficients.

        It uses `residual` and `weight` as working memory; they are set later in the step.
        """
        scratch = self.scratch
        for columns, responses in zip(self.projections.basis, scratch.responses, strict=True):
            yield product, scratch.basis_seen, columns, weights, responses, LANES, 0
        yield from respond(
            self.network, scratch.responses, output, slopes, scratch.coefficients,
            scratch.residual, scratch.weight,
        )  # fmt: skip

    # ---- what an attacker sees, and does ---------------------------------------------------------

    def _residuals(self, block: int) -> Iterator[Call]:
        """Set the differences of the received labels and the outputs of eight arms."""
        arms, scratch, kind = self.arm_blocks, self.scratch, self.arm_blocks.kinds[block]
        queries = scratch.queries
        yield from self._respond(arms.weights[block], kind.direction != "sensing", queries[OUTPUT])
        if "push" in kind.attack.query_fields:
            yield from self._push(block, queries[PUSH])
        if "probe" in kind.attack.query_fields:
            columns, vectors = self.projections.sensing[kind.sensing], arms.vectors[block]
            yield product, scratch.seen, columns, vectors, queries[PROBE], LANES, 0
        if "probe_output" in kind.attack.query_fields:
            which, output = arms.impersonated[block], queries[PROBE_OUTPUT]
            yield loops.gather_lanes, scratch.reference_output, which, output
        if "parameter" in kind.attack.query_fields:
            yield loops.copy, arms.parameter[block], queries[PARAMETER]
        bound, probability = arms.bound[block], arms.probability[block]
        coin, residual = scratch.flat_coin, scratch.residual
        yield attack_loop(kind.attack), queries, coin, bound, probability, residual

    def _push(self, block: int, push: Array) -> Iterator[Call]:
        """Set (w − w*)ᵀ(direction of each sample).

        It uses `weight` and `move` as working memory; they are set later in the step.
        """
        projections, scratch = self.projections, self.scratch
        away, along, kind = scratch.move, scratch.weight, self.arm_blocks.kinds[block]
        yield loops.subtract_each, self.arm_blocks.weights[block], projections.true_weights, away
        if kind.direction == "sensing":
            columns = projections.sensing[kind.sensing]
            yield product, scratch.seen, columns, away, push, LANES, 0
            return
        yield loops.fill, push, 0.0
        for columns, coefficients in zip(projections.basis, scratch.coefficients, strict=True):
            yield product, scratch.basis_seen, columns, away, along, LANES, 0
            yield loops.add_products, coefficients, along, push
        if kind.direction == "first_gradient":
            yield loops.repeat_first, push

    # ---- the update ------------------------------------------------------------------------------

    def _update(self, block: int) -> Iterator[Call]:
        """Update the weights of eight arms."""
        arms, scratch, kind = self.arm_blocks, self.scratch, self.arm_blocks.kinds[block]
        weights, memory, stopped_at = (
            arms.weights[block],
            arms.memory[block],
            arms.stopped_at[block],
        )
        counts, residual, weight = scratch.counts[kind.weighting], scratch.residual, scratch.weight
        yield weigh_loop(kind.rule), memory, residual, counts, arms.rate[block], weight
        if kind.rule.observes:
            yield from self._measure(block)
        if kind.rule.size:
            learn, length = adapt_loop(kind.rule), scratch.length
            yield learn, scratch.clock, memory, stopped_at, residual, length, counts
        if kind.direction == "first_gradient":
            yield loops.sum_into_first, weight
        yield loops.fill, scratch.move, 0.0
        if kind.direction == "sensing":
            columns = self.projections.sensing[kind.sensing]
            yield add_transposed_product, scratch.seen, columns, weight, scratch.move
        else:
            for columns, factors in zip(self.projections.basis, scratch.coefficients, strict=True):
                yield loops.multiply, weight, factors
                yield add_transposed_product, scratch.basis_seen, columns, factors, scratch.move
        yield loops.take_move, weights, scratch.move, stopped_at, scratch.clock, arms.limit
        if kind.averaging:
            average, since = arms.average[block], arms.since[block]
            yield loops.add_to_average, weights, average, since, stopped_at, scratch.clock

    def _measure(self, block: int) -> Iterator[Call]:
        """Set the squared length of each sample's direction.

        It uses `move` as working memory, and the coefficients of a block that needs no gradients.
        """
        projections, scratch, kind = self.projections, self.scratch, self.arm_blocks.kinds[block]
        coefficients, work, length = scratch.coefficients, scratch.move, scratch.length
        if kind.direction == "sensing":
            yield loops.fill, coefficients[0], 1.0
            columns = projections.sensing[kind.sensing : kind.sensing + 1]
            yield loops.squared_lengths, scratch.seen, columns, coefficients, work, length
        else:
            columns = projections.basis
            yield loops.squared_lengths, scratch.basis_seen, columns, coefficients, work, length
        if kind.direction == "first_gradient":
            yield loops.repeat_first, length

    # ---- the record ------------------------------------------------------------------------------

    def _record(self, block: int) -> Iterator[Call]:
        """Set error ‖w − w*‖ and mean squared residual of each lane; infinite if it diverged."""
        arms, scratch, shown = self.arm_blocks, self.scratch, self.scratch.shown[block]
        filters = arms.average if arms.kinds[block].averaging else arms.weights
        yield loops.distances, filters[block], self.projections.true_weights, shown[:LANES]
        yield loops.mean_squares, scratch.residual, scratch.counts[0], shown[LANES:]
        yield loops.show_divergence, arms.stopped_at[block], shown
