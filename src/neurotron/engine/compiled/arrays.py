"""The arrays of the compiled loop, as named tuples that `layout` creates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neurotron._types import Array, Index
from neurotron.engine.compiled.respond import Gates

__all__ = [
    "DIRECTIONS",
    "EXTERNAL",
    "FIRST_GRADIENT",
    "SENSING",
    "ArmBlocks",
    "Batches",
    "ExternalBatches",
    "Projections",
    "Scratch",
]  # fmt: skip

DIRECTIONS = ("sensing", "gradient", "first_gradient")
SENSING, FIRST_GRADIENT = DIRECTIONS.index("sensing"), DIRECTIONS.index("first_gradient")
EXTERNAL = -1
"""The code of a law whose inputs are drawn outside the loop."""


class Batches(NamedTuple):
    """The parameters from which batches are drawn."""

    key: np.uint64
    law: int
    """Code of the law's formula, EXTERNAL if inputs are drawn outside the loop."""
    scale: float
    shape: float
    correlation: Array
    """Bᵀ of a correlated law in blocks of eight columns, (blocks, 8 m), or no blocks."""
    latent: Index
    """0 … m − 1."""
    noise: float


class ExternalBatches(NamedTuple):
    """Batches drawn outside the loop, from step `first` on; parts drawn inside have no rows."""

    first: int
    inputs: Array
    """(steps, b n)."""
    labels: Array
    """(steps, b)."""
    counts: Array
    """(steps, b)."""


class Projections(NamedTuple):
    """The matrices onto which a batch is projected: all dense ones as one, and their columns."""

    matrix: Array
    """In blocks of eight columns, (blocks, 8 n)."""
    inputs: Index
    """0 … n − 1."""
    basis: Index
    """Columns of basis matrix l, (L, r); columns of the input itself if the basis is windows."""
    sensing: Index
    """Columns of each sensing matrix, (matrices, r)."""
    gates: Gates
    true_weights: Array
    """(r,); empty if they are not known."""


class ArmBlocks(NamedTuple):
    """Arms in blocks of eight; values with one number per block are common to its arms."""

    weights: Array
    """(blocks, 8 r): number 8 j + a is weight j of lane a."""
    average: Array
    """The average of the weights so far, for blocks that average, (blocks, 8 r)."""
    since: Index
    """The step from which a lane averages, (blocks, 8)."""
    averaging: Index
    """Whether a block averages."""
    stopped_at: Index
    """Step at which a lane diverged, −1 while it runs, (blocks, 8)."""
    memory: Array
    """State of each lane's trainer, (blocks, 8, numbers); a shorter state is padded with zeros."""
    direction: Index
    sensing: Index
    """Which sensing matrix gives a block's direction, or its probes."""
    attack: Index
    rule: Index
    """Code of the trainer's formulas."""
    observes: Index
    """Whether these formulas observe the batch."""
    weighting: Index
    """Which row of `Scratch.counts` a block uses."""
    query_fields: Index
    """Whether a block's attack uses a field of the query, (blocks, 10)."""
    bound: Array
    """θ, flat: (blocks, 8 b); the next three have the same shape."""
    probability: Array
    parameter: Array
    """The attack's own number."""
    rate: Array
    """η/b."""
    vectors: Array
    """The attack's fixed vector of each lane, (blocks, 8 r)."""
    references: Array
    """Fixed filters, (blocks, 8 r): first w*, then those that attacks impersonate."""
    impersonated: Index
    """Lane of `references` that a lane's attack impersonates, (blocks, 8)."""
    limit: float
    """Largest weight that does not count as divergence."""


class Scratch(NamedTuple):
    """Working memory, allocated once. Arrays are flat unless a shape is given."""

    u: Array
    v: Array
    drawn: Array
    """Numbers drawn from the law, in order, (at least b m,)."""
    latent: Array
    """The same as (b, m), before a correlated law multiplies them by its matrix."""
    inputs: Array
    """(b, n), or more columns; `flat_inputs` is the same memory."""
    flat_inputs: Array
    seen: Array
    """Inputs times the matrix, (b, columns); `flat_seen` is the same memory."""
    flat_seen: Array
    basis_seen: Array
    """The array that `Projections.basis` refers to: `inputs` for windows, else `seen`."""
    coin: Array
    """Uniform numbers that decide which labels are attacked, (b,); `chosen` is drawn with them."""
    chosen: Array
    noise: Array
    """(b + 1,)."""
    flat_coin: Array
    counts: Array
    """How much each sample counts, (1, 8 b); a second row, if any, is this times ω(x)."""
    reference_output: Array
    """(reference blocks, 8 b)."""
    queries: Array
    """The fields of `Query`, (10, 8 b)."""
    responses: Array
    """(L, 8 b); the coefficients have the same shape."""
    coefficients: Array
    residual: Array
    length: Array
    """‖direction‖², set only if a trainer observes it."""
    weight: Array
    move: Array
    """(8 r,)."""
