"""The arrays of the compiled loop, as named tuples that `layout` creates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from neurotron._types import Array, Index
from neurotron.attacks import Attack
from neurotron.engine.compiled.rules import Rule


class Batches(NamedTuple):
    """The parameters from which batches are drawn."""

    key: np.uint64
    law: Callable[..., Any] | None
    """The law's formula; None if inputs are drawn outside the loop."""
    scale: float
    shape: float
    correlation: Array
    """Bᵀ of a correlated law in blocks of eight columns, (blocks, 8 m), or no blocks."""
    latent: Index
    """0 … m − 1."""
    noise: float
    labelled: bool
    """Whether the loop computes the labels itself, from the inputs."""


class ExternalBatches(NamedTuple):
    """Batches drawn outside the loop; parts that are drawn inside have no rows."""

    first: Index
    """The step of the first row, (1,)."""
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
    true_weights: Array
    """(r,); empty if they are not known."""


class Kind(NamedTuple):
    """What all arms of a block have in common."""

    direction: str
    """As in `Trainer.direction`."""
    sensing: int
    """Which sensing matrix gives the direction, or the attack's probes."""
    attack: type[Attack]
    rule: Rule
    """The trainer's formulas."""
    weighting: int
    """Which row of `Scratch.counts` is used."""
    averaging: bool


class ArmBlocks(NamedTuple):
    """Arms in blocks of eight."""

    kinds: list[Kind]
    weights: Array
    """(blocks, 8 r): number 8 j + a is weight j of lane a."""
    average: Array
    """The average of the weights so far, for blocks that average, (blocks, 8 r)."""
    since: Index
    """The step from which a lane averages, (blocks, 8)."""
    stopped_at: Index
    """Step at which a lane diverged, −1 while it runs, (blocks, 8)."""
    memory: Array
    """State of each lane's trainer, (blocks, 8, numbers); a shorter state is padded with zeros."""
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

    clock: Index
    """The present step, (1,)."""
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
    shown: Array
    """Error and loss of each lane when they were last recorded: first all errors, (blocks, 16)."""
