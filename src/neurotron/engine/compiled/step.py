"""The cohort loop: one batch for all arms, eight arms at a time.

One step: draw the batch → project it onto all matrices at once → respond (outputs, gradient
coefficients) → attack the labels → weight the residuals → update. "Flat" arrays hold one number for
each sample and lane, with eight lanes per sample, so that a formula is one loop over them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neurotron._jit import entry, inline
from neurotron._philox import fill_pairs
from neurotron._streams import Purpose
from neurotron._types import Array, Index
from neurotron.attacks import Query
from neurotron.engine.compiled import loops
from neurotron.engine.compiled.arrays import (
    EXTERNAL,
    FIRST_GRADIENT,
    SENSING,
    ArmBlocks,
    Batches,
    ExternalBatches,
    Projections,
    Scratch,
)
from neurotron.engine.compiled.formulas import attack, draw, draw_normal
from neurotron.engine.compiled.lanes import LANES
from neurotron.engine.compiled.products import add_transposed_product, product
from neurotron.engine.compiled.respond import respond
from neurotron.engine.compiled.rules import Samples, adapt, weigh

__all__ = ["advance"]

LABEL, OUTPUT, UNIFORM, PUSH, PROBE, PROBE_OUTPUT, NORM, STEP, PARAMETER = map(
    Query._fields.index,
    ("label", "output", "uniform", "push", "probe", "probe_output", "norm", "step", "parameter"),
)
INPUTS, ATTACK, NOISE = (
    np.uint64(purpose) for purpose in (Purpose.INPUTS, Purpose.ATTACK, Purpose.NOISE)
)


# ---- the batch -----------------------------------------------------------------------------------


@inline
def _draw_and_project(
    step: int,
    batches: Batches,
    external: ExternalBatches,
    projections: Projections,
    scratch: Scratch,
) -> None:
    """Draw the inputs of batch `step`, and multiply them by all matrices."""
    if batches.law == EXTERNAL:
        loops.copy(external.inputs[step - external.first], scratch.drawn)
    else:
        fill_pairs(batches.key, INPUTS, np.uint64(step), scratch.u, scratch.v)
        draw(batches.law, scratch.u, scratch.v, batches.scale, batches.shape, scratch.drawn)
    for block in range(len(batches.correlation)):
        matrix, width = batches.correlation[block], scratch.inputs.shape[1]
        product(scratch.latent, batches.latent, matrix, scratch.flat_inputs, width, block * LANES)
    for block in range(len(projections.matrix)):
        matrix, width = projections.matrix[block], scratch.seen.shape[1]
        product(scratch.inputs, projections.inputs, matrix, scratch.flat_seen, width, block * LANES)


@inline
def _respond(
    weights: Array, slopes: bool, projections: Projections, scratch: Scratch, output: Array
) -> None:
    """Set the outputs of eight filters, and with `slopes` their gradient coefficients.

    It uses `residual` and `weight` as working memory; they are set later in the step.
    """
    for matrix in range(len(projections.basis)):
        columns, responses = projections.basis[matrix], scratch.responses[matrix]
        product(scratch.basis_seen, columns, weights, responses, LANES, 0)
    respond(
        projections.gates, scratch.responses, output, slopes, scratch.coefficients,
        scratch.residual, scratch.weight,
    )  # fmt: skip


@inline
def _label(
    step: int,
    batches: Batches,
    external: ExternalBatches,
    arm_blocks: ArmBlocks,
    projections: Projections,
    scratch: Scratch,
) -> None:
    """Set the honest labels, the sample weights, and the coins of the attack."""
    for block in range(len(arm_blocks.references)):
        _respond(
            arm_blocks.references[block],
            False,
            projections,
            scratch,
            scratch.reference_output[block],
        )
    label = scratch.queries[LABEL]
    if len(external.labels):
        loops.spread(external.labels[step - external.first], 1, label)
    else:
        loops.spread(scratch.reference_output[0], LANES, label)
    if batches.noise > 0.0:
        pairs = scratch.noise.size // 2
        u, v = scratch.u[:pairs], scratch.v[:pairs]
        fill_pairs(batches.key, NOISE, np.uint64(step), u, v)
        draw_normal(u, v, batches.noise, 0.0, scratch.noise)
        loops.add_each(scratch.noise, label)
    if len(external.counts):
        loops.spread(external.counts[step - external.first], 1, scratch.counts[0])
    if len(scratch.counts) > 1:
        inputs, counts = scratch.inputs, scratch.counts
        loops.times_inverse_square(inputs, projections.inputs.size, counts[0], counts[1])
    fill_pairs(batches.key, ATTACK, np.uint64(step), scratch.coin, scratch.chosen)
    loops.spread(scratch.coin, 1, scratch.flat_coin)
    loops.spread(scratch.chosen, 1, scratch.queries[UNIFORM])
    loops.fill(scratch.queries[STEP], float(step))


# ---- what an attacker sees -----------------------------------------------------------------------


@inline
def _fill_query(
    block: int, arm_blocks: ArmBlocks, projections: Projections, scratch: Scratch
) -> None:
    """Set the fields that the attack of a block uses, except labels and outputs."""
    if arm_blocks.query_fields[block, PUSH]:
        _push(block, arm_blocks, projections, scratch, scratch.queries[PUSH])
    if arm_blocks.query_fields[block, PROBE]:
        columns, vectors = projections.sensing[arm_blocks.sensing[block]], arm_blocks.vectors[block]
        product(scratch.seen, columns, vectors, scratch.queries[PROBE], LANES, 0)
    if arm_blocks.query_fields[block, PROBE_OUTPUT]:
        which = arm_blocks.impersonated[block]
        loops.gather_lanes(scratch.reference_output, which, scratch.queries[PROBE_OUTPUT])
    if arm_blocks.query_fields[block, NORM]:
        loops.norms(scratch.inputs, projections.inputs.size, scratch.queries[NORM])
    if arm_blocks.query_fields[block, PARAMETER]:
        loops.copy(arm_blocks.parameter[block], scratch.queries[PARAMETER])


@inline
def _push(
    block: int, arm_blocks: ArmBlocks, projections: Projections, scratch: Scratch, push: Array
) -> None:
    """Set (w − w*)ᵀ(direction of each sample).

    It uses `weight` and `move` as working memory; they are set later in the step.
    """
    away, along, direction = scratch.move, scratch.weight, arm_blocks.direction[block]
    loops.subtract_each(arm_blocks.weights[block], projections.true_weights, away)
    if direction == SENSING:
        columns = projections.sensing[arm_blocks.sensing[block]]
        product(scratch.seen, columns, away, push, LANES, 0)
    else:
        loops.fill(push, 0.0)
        for matrix in range(len(projections.basis)):
            product(scratch.basis_seen, projections.basis[matrix], away, along, LANES, 0)
            loops.add_products(scratch.coefficients[matrix], along, push)
    if direction == FIRST_GRADIENT:
        loops.repeat_first(push)


# ---- the update ----------------------------------------------------------------------------------


@inline
def _update(
    step: int, block: int, arm_blocks: ArmBlocks, projections: Projections, scratch: Scratch
) -> None:
    """Update the weights of the eight arms of a block."""
    weight, move, direction = scratch.weight, scratch.move, arm_blocks.direction[block]
    weights, rate = arm_blocks.weights[block], arm_blocks.rate[block]
    rule, memory, residual = arm_blocks.rule[block], arm_blocks.memory[block], scratch.residual
    counts = scratch.counts[arm_blocks.weighting[block]]
    weigh(rule, memory, residual, counts, rate, weight)
    if arm_blocks.observes[block]:
        _measure(block, arm_blocks, projections, scratch)
    samples = Samples(residual, scratch.length)
    adapt(rule, step, memory, arm_blocks.stopped_at[block], samples, counts)
    if direction == FIRST_GRADIENT:
        loops.sum_into_first(weight)
    loops.fill(move, 0.0)
    if direction == SENSING:
        columns = projections.sensing[arm_blocks.sensing[block]]
        add_transposed_product(scratch.seen, columns, weight, move)
    else:
        for matrix in range(len(projections.basis)):
            coefficients = scratch.coefficients[matrix]
            loops.multiply(weight, coefficients)
            add_transposed_product(
                scratch.basis_seen, projections.basis[matrix], coefficients, move
            )
    stopped_at, average = arm_blocks.stopped_at[block], arm_blocks.average[block]
    loops.take_move(weights, move, stopped_at, step, arm_blocks.limit)
    if arm_blocks.averaging[block]:
        loops.add_to_average(weights, average, arm_blocks.since[block], stopped_at, step)


@inline
def _measure(block: int, arm_blocks: ArmBlocks, projections: Projections, scratch: Scratch) -> None:
    """Set the squared length of each sample's direction.

    It uses `move` as working memory, and the coefficients of a block that needs no gradients.
    """
    direction, row = arm_blocks.direction[block], arm_blocks.sensing[block]
    length, work = scratch.length, scratch.move
    if direction == SENSING:
        loops.fill(scratch.coefficients[0], 1.0)
        columns = projections.sensing[row : row + 1]
        loops.squared_lengths(scratch.seen, columns, scratch.coefficients, work, length)
    else:
        loops.squared_lengths(
            scratch.basis_seen, projections.basis, scratch.coefficients, work, length
        )
    if direction == FIRST_GRADIENT:
        loops.repeat_first(length)


# ---- the record ----------------------------------------------------------------------------------


@inline
def _record(
    block: int,
    arm_blocks: ArmBlocks,
    projections: Projections,
    scratch: Scratch,
    errors: Array,
    losses: Array,
) -> None:
    """Set error ‖w − w*‖ and mean squared residual of each lane; infinite if it has diverged."""
    averaging = arm_blocks.averaging[block]
    shown = arm_blocks.average[block] if averaging else arm_blocks.weights[block]
    loops.distances(shown, projections.true_weights, errors)
    loops.mean_squares(scratch.residual, scratch.counts[0], losses)
    for lane in range(LANES):
        stopped = arm_blocks.stopped_at[block, lane] >= 0
        errors[lane] = np.inf if stopped else errors[lane]
        losses[lane] = np.inf if stopped or np.isnan(losses[lane]) else losses[lane]


@entry
def advance(source_hash: str) -> Callable[..., None]:
    """Return the loop over steps, whose compiled code is kept on disk."""

    def advance(
        start: int,
        stop: int,
        due: Index,
        batches: Batches,
        external: ExternalBatches,
        projections: Projections,
        arm_blocks: ArmBlocks,
        scratch: Scratch,
        errors: Array,
        losses: Array,
    ) -> None:
        """Make updates `start` … `stop` − 1; record the steps `due`, which may include `stop`.

        Records have shape (due, blocks, 8).
        """
        _ = source_hash
        recorded = 0
        for step in range(start, stop + 1):
            recording = recorded < due.size and due[recorded] == step
            if step == stop and not recording:
                break
            _draw_and_project(step, batches, external, projections, scratch)
            _label(step, batches, external, arm_blocks, projections, scratch)
            for block in range(len(arm_blocks.weights)):
                if loops.smallest(arm_blocks.stopped_at[block]) >= 0:  # all lanes have diverged
                    if recording:
                        loops.fill(errors[recorded, block], np.inf)
                        loops.fill(losses[recorded, block], np.inf)
                    continue
                slopes = arm_blocks.direction[block] != SENSING
                output = scratch.queries[OUTPUT]
                _respond(arm_blocks.weights[block], slopes, projections, scratch, output)
                _fill_query(block, arm_blocks, projections, scratch)
                attack(
                    arm_blocks.attack[block],
                    scratch.queries,
                    scratch.flat_coin,
                    arm_blocks.bound[block],
                    arm_blocks.probability[block],
                    scratch.residual,
                )
                if recording:
                    _record(
                        block, arm_blocks, projections, scratch, errors[recorded, block],
                        losses[recorded, block],
                    )  # fmt: skip
                if step < stop:
                    _update(step, block, arm_blocks, projections, scratch)
            recorded += recording

    return advance
