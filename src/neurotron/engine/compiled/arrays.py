"""What the compiled loop works on, as arrays in named tuples; `layout` makes them."""

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
"""The code of a law whose inputs come from outside."""


class Batches(NamedTuple):
    """How batches are drawn."""

    key: np.uint64
    law: int
    """Code of the law's formula, EXTERNAL if inputs come from outside."""
    scale: float
    shape: float
    correlation: Array
    """Bᵀ of a correlated law in blocks of eight columns, (blocks, 8 m), or no blocks."""
    latent: Index
    """0 … m − 1."""
    noise: float


class ExternalBatches(NamedTuple):
    """Batches from outside, from step `first` on; parts that are drawn here have no rows."""

    first: int
    inputs: Array
    """(steps, b n)."""
    labels: Array
    """(steps, b)."""
    counts: Array
    """(steps, b)."""


class Projections(NamedTuple):
    """What a batch is projected onto: all dense matrices as one, and the columns of each."""

    matrix: Array
    """In blocks of eight columns, (blocks, 8 n)."""
    inputs: Index
    """0 … n − 1."""
    basis: Index
    """Columns of basis matrix l, (L, r): of the input itself if its windows are gathered."""
    sensing: Index
    """Columns of each sensing matrix, (matrices, r)."""
    gates: Gates
    true_weights: Array
    """(r,); empty if nobody knows them."""


class ArmBlocks(NamedTuple):
    """Arms in blocks of eight that share all that is one number for a block: see `layout`."""

    weights: Array
    """(blocks, 8 r): number 8 j + a is weight j of lane a."""
    average: Array
    """The average of the weights so far, for blocks that average, (blocks, 8 r)."""
    since: Index
    """The step from which a lane averages, (blocks, 8)."""
    averaging: Index
    """Whether a block averages."""
    stopped_at: Index
    """Step of divergence, −1 before, (blocks, 8)."""
    memory: Array
    """State of each lane's trainer, (blocks, 8, most numbers): it has the first ones of a row."""
    direction: Index
    sensing: Index
    """Which sensing matrix a block moves along, or is probed through."""
    attack: Index
    rule: Index
    """Code of the trainer's formulas."""
    observes: Index
    """Whether they look at the batch before the next step."""
    weighting: Index
    """Which row of `Scratch.counts` a block learns by."""
    query_fields: Index
    """Whether a block's attack looks at a field of the query, (blocks, 10)."""
    bound: Array
    """θ, flat: (blocks, 8 b); so are the next three."""
    probability: Array
    parameter: Array
    """The attack's own number."""
    rate: Array
    """η/b."""
    vectors: Array
    """The attack's fixed vector of each lane, (blocks, 8 r)."""
    references: Array
    """Filters that never move, (blocks, 8 r): w* first, then those attacks impersonate."""
    impersonated: Index
    """Lane of the references that a lane's attack impersonates, (blocks, 8)."""
    limit: float
    """Largest weight that is not called divergence."""


class Scratch(NamedTuple):
    """Room to work in, allocated once. Flat unless a shape is given."""

    u: Array
    v: Array
    drawn: Array
    """Numbers of the law as they come, (at least b m,)."""
    latent: Array
    """The same as (b, m), before a correlated law mixes them."""
    inputs: Array
    """(b, n), or more columns; `flat_inputs` is the same memory."""
    flat_inputs: Array
    seen: Array
    """Inputs through the matrix, (b, columns); `flat_seen` is the same memory."""
    flat_seen: Array
    basis_seen: Array
    """Where `Projections.basis` looks: `inputs` for gathered windows, else `seen`."""
    coin: Array
    """(b,), and the uniform that comes with it."""
    chosen: Array
    noise: Array
    """(b + 1,)."""
    flat_coin: Array
    counts: Array
    """How much each sample counts, (1, 8 b); with a second row, the same times ω(x)."""
    reference_output: Array
    """(reference blocks, 8 b)."""
    queries: Array
    """The fields of `Query`, (10, 8 b)."""
    responses: Array
    """(L, 8 b), and so the coefficients."""
    coefficients: Array
    residual: Array
    length: Array
    """‖direction‖², where a trainer observes it."""
    weight: Array
    move: Array
    """(8 r,)."""
